"""Libraries that were asked for: one that cannot be opened is wrong input, never passed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import FIXTURES, TREE, Run


@pytest.mark.parametrize("option", ["--transformers", "--flashinfer"])
@pytest.mark.parametrize("kind", ["missing", "no release", "another package", "a text", "empty"])
def test_what_cannot_be_opened(run: Run, tmp_path: Path, option: str, kind: str) -> None:
    text = tmp_path / "README.md"
    text.write_text("words")
    given = {
        "missing": "/nope/nothing",
        "no release": f"{option[2:].replace('flashinfer', 'flashinfer-python')}==99",
        "another package": TREE,
        "a text": str(text),
        "empty": "",
    }[kind]
    done = run("audit", TREE, "--arch", "sm120", "--offline", option, given)
    assert done.code == 2
    assert done.err.startswith(f"sgl-audit: {option}: ")
    assert done.err.count("\n") == 1


def test_the_pinned_release_may_be_missing(run: Run) -> None:
    tree = FIXTURES / "dataclass_2026"
    done = run("families", tree, "--arch", "sm120", "--offline")
    assert done.code == 0


def test_none_was_asked_for(run: Run) -> None:
    words = ("resolve", TREE, "--arch", "sm120", "--offline", "--model-arch", "LlamaForCausalLM")
    assert "transformers is not read, as asked" in run(*words, "--transformers", "none").out
