"""`facts`, `show`, `why`, `graph`: what is read from a tree."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

import sgl_audit.graph
from sgl_audit import api
from sgl_audit.model.facts import Facts
from sgl_audit.model.source import SourceTree

from .conftest import FIXTURES, TREE, Run

READ: dict[tuple[str, tuple[str, ...]], Facts] = {}
READ_FACTS = api.facts


@pytest.fixture(autouse=True)
def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each tree is read once for all tests here."""

    def facts(tree: SourceTree, *, capabilities: tuple[str, ...], **given: Any) -> Facts:
        key = (tree.info.label, capabilities)
        if key not in READ:
            READ[key] = READ_FACTS(tree, capabilities=capabilities, **given)
        return READ[key]

    monkeypatch.setattr(api, "facts", facts)


EXPECTED: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))
STORY = EXPECTED["trees"]["dataclass_2026"]


def test_facts_in_the_shared_form(run: Run) -> None:
    done = run("facts", TREE, "--format", "json")
    assert done.code == 0
    found = json.loads(done.out)
    assert found["sglang"]["version"] == "0.5.90"
    for name, values in STORY["facts"]["choice_lists"].items():
        assert found["choice_lists"][name]["values"] == values
    assert found["gates"]["is_sm120_supported"]["sm120"] is True
    assert run("facts", TREE).out.startswith("sglang 0.5.90")


def test_facts_of_some_capabilities(run: Run) -> None:
    found = json.loads(run("facts", TREE, "--arch", "sm90", "--format", "json").out)
    assert set(found["gates"]["is_sm120_supported"]) == {"sm90"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("moe_runner_backend", ["(option)", "--moe-runner-backend", "MARLIN = marlin", "Set at"]),
        ("--moe-runner-backend", ["moe_runner_backend (option)"]),
        ("is_sm120_supported()", ["gate, alias", "sm120, sm121"]),
        ("MoeRunnerBackend", ["(enum)", "FLASHINFER_TRTLLM", "is_marlin"]),
        ("marlin", ["(choice)", "no option has it", "MoeRunnerBackend.MARLIN"]),
        ("flashinfer_trtllm", ["moe_runner_backend", "fp4_gemm_runner_backend"]),
        ("FP4_GEMM_RUNNER_BACKEND_CHOICES", ["(choice list)", "flashinfer_cudnn"]),
        ("SGLANG_CUTLASS_MOE", ["(environment variable)", "moe_runner_backend"]),
        ("sglang_cutlass_moe", ["(environment variable)"]),
    ],
)
def test_show_knows_every_kind_of_name(run: Run, name: str, expected: list[str]) -> None:
    done = run("show", TREE, name)
    assert done.code == 0
    for text in expected:
        assert text in done.out
    assert "sglang/srt/" in done.out


def test_show_keeps_to_the_capabilities_asked(run: Run) -> None:
    everywhere = run("show", TREE, "moe_runner_backend").out
    here = run("show", TREE, "moe_runner_backend", "--arch", "sm120").out
    assert "is_sm100_supported()" in everywhere
    assert "is_sm100_supported()" not in here


def test_show_suggests_what_is_near(run: Run) -> None:
    done = run("show", TREE, "moe_runner_bakcend")
    assert done.code == 2
    assert "did you mean" in done.err
    assert "moe-runner-backend" in done.err
    assert run("show", TREE, "a", "b").code == 2
    assert "did you mean" not in run("show", TREE, "zzzzzz").err


WHY = ("why", TREE, "--arch", "sm120", "--transformers", "none", "--no-families")


@pytest.mark.parametrize(
    ("question", "code", "expected"),
    [
        ("moe_runner_backend=flashinfer_trtllm", 0, "is_sm100_supported() does not hold on sm120"),
        ("moe_runner_backend=flashinfer_trtllm", 0, "reached by flag only"),
        ("--moe-runner-backend=auto", 0, "as the default"),
        ("moe_runner_backend=triton_kernel", 0, "by decisions of the tree"),
        ("moe_runner_backend=marlin", 1, "no launch reaches it"),
        ("moe_runner_backend=marlin", 1, "a member of the enum only"),
    ],
)
def test_why(run: Run, question: str, code: int, expected: str) -> None:
    done = run(*WHY, question)
    assert done.code == code
    assert expected in " ".join(done.out.split())


def test_why_names_the_families(run: Run) -> None:
    words = [word for word in WHY if word != "--no-families"]
    done = run(*words, "moe_runner_backend=auto")
    assert "Model families with nothing set" in done.out
    assert done.code == 0


def test_why_of_what_is_no_question(run: Run) -> None:
    assert "no OPTION=VALUE" in run(*WHY, "moe_runner_backend").err
    assert "did you mean moe_runner_backend" in run(*WHY, "moe_runer_backend=auto").err


def test_graph_is_narrowed_and_exported(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def build(facts: Facts, **given: Any) -> object:
        seen.update(given)
        return SimpleNamespace()

    monkeypatch.setattr(sgl_audit.graph, "build_graph", build, raising=False)
    monkeypatch.setattr(
        sgl_audit.graph, "export_graph", lambda graph, form: f"as {form}", raising=False
    )
    words = ("graph", TREE, "--arch", "sm120", "--option", "moe-runner-backend")
    assert run(*words, "--format", "dot").out == "as dot\n"
    assert seen == {"capabilities": ("sm120",), "options": ("moe_runner_backend",)}
    assert run("graph", TREE, "-o", "-").out == "as json\n"


@pytest.mark.parametrize(
    ("tree", "sentence"),
    [
        ("not_sglang", "holds no sglang package"),
        ("empty", "holds no sglang package"),
        ("nowhere", "is no existing file or folder"),
    ],
)
def test_what_is_no_tree_is_one_sentence(run: Run, tree: str, sentence: str) -> None:
    done = run("facts", FIXTURES / "broken" / tree) if tree != "nowhere" else run("facts", tree)
    assert done.code == 2
    assert sentence in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("tree", ["syntax_error", "undecodable", "missing_file", "cyclic_import"])
def test_the_rest_of_a_broken_tree_is_read(run: Run, tree: str) -> None:
    found = json.loads(run("facts", FIXTURES / "broken" / tree, "--format", "json").out)
    assert found["options"]
