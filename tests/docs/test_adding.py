"""The examples of `docs/adding.md` and `docs/advisories.md` work as they are written."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from sgl_audit import api
from sgl_audit.evaluate import standins
from sgl_audit.evaluate.program import Program
from sgl_audit.evaluate.session import Session
from sgl_audit.evaluate.values import Unknown
from sgl_audit.evaluate.world import make_world
from sgl_audit.extract.tree import extract
from sgl_audit.kernels.advisories import load_advisories
from sgl_audit.model.capability import ALL_CAPABILITIES
from sgl_audit.model.source import Distribution, Pin
from sgl_audit.rules import RuleContext, check_rules, registry
from sgl_audit.rules.base import Rule

from .pages import ROOT, block_after

ADDING = ROOT / "docs" / "adding.md"


def loaded(marker: str) -> dict[str, Any]:
    """The names that an example defines."""
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(block_after(ADDING, marker), str(ADDING), "exec"), names)
    return names


def written(folder: Path, texts: dict[str, str]) -> api.SourceTree:
    """A tree on disk, opened."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return api.open_source(str(folder))


@pytest.mark.parametrize("valid", [True, False])
def test_the_rule(valid: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rule: type[Rule] = loaded("rule example")["SilentOption"]
    monkeypatch.setattr(registry, "RULES", (rule,))
    examples = rule.VALID if valid else rule.INVALID
    for number, example in enumerate(examples):
        tree = written(tmp_path / str(number), dict(example))
        extraction = extract(tree)
        result = check_rules(RuleContext(tree, extraction.facts, extraction, ALL_CAPABILITIES))
        assert result.diagnostics == ()
        assert bool(result.findings) is not valid
    sections = ("What it does", "Why it is bad", "Known limits", "What to do instead", "Seen in")
    assert all(f"*{section}*" in rule.doc().description for section in sections)


def test_the_stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builders = standins._builders()
    monkeypatch.setattr(
        standins, "_builders", lambda: builders | loaded("stand-in example")["BUILDERS"]
    )
    tree = written(
        tmp_path,
        {
            "sglang/srt/m.py": "import hwinfo\n\n\ndef cores():\n"
            "    return hwinfo.cpu_count(logical=False), hwinfo.temperature()\n"
        },
    )
    installed = Distribution("sglang", "1.0", (Pin("hwinfo", "==1.0", "1.0"),))
    limit = sys.getrecursionlimit()
    try:
        session = Session(Program(tree), make_world("sm120", installed, environment=()))
        function = session.get("sglang.srt.m", "cores")
        with session.launch() as machine:
            cores, temperature = machine.call(function, [], {})
    finally:
        sys.setrecursionlimit(limit)
    assert cores == 32
    assert isinstance(temperature, Unknown)
    assert temperature.reason == "measured on the machine"


def test_the_advisory(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "advisories.md").read_text("utf-8")
    found = re.search(r"^```toml\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert found is not None
    name = re.search(r'id = "([^"]+)"', found[1])
    assert name is not None
    (tmp_path / f"{name[1]}.toml").write_text(found[1], "utf-8")
    advisories, diagnostics = load_advisories(tmp_path)
    assert diagnostics == ()
    assert name[1] in {item.id for item in advisories}
