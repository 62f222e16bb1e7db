"""Refusals after loading starts: on our own trees, and what a part's end is taken for."""

from __future__ import annotations

import ast
import json
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from sgl_audit.evaluate.entry import Entry
from sgl_audit.evaluate.late_models import catalogue
from sgl_audit.evaluate.late_runner import stored_names
from sgl_audit.evaluate.late_trial import ATTENTION, MOE_METHOD, QUANTIZATION, Trial
from sgl_audit.evaluate.resolver import Resolver
from sgl_audit.evaluate.values import MISSING, Module, Unknown
from sgl_audit.model.resolution import Launch, Resolution
from sgl_audit.source import open_source

from .trees import session_for

ROOT = Path(__file__).resolve().parents[2]
TREES: dict[str, Any] = json.loads((ROOT / "fixtures/expected.json").read_text("utf-8"))["trees"]
# What a kernel's own preparation of weights refuses lies beyond the stages followed here.
BEYOND = "mxfp4_weights"
ROWS = [
    pytest.param(name, row, id=row["id"])
    for name, tree in TREES.items()
    for row in tree["launches"]
    if "late" in row
]
PARTS = """
def value():
    return 3

def refuse():
    raise ValueError("not here")

def check(n):
    assert n > 3, "too small"

def born(owner):
    return owner.missing

def either(question):
    if question:
        raise ValueError("perhaps")
    return 1

def anyway(question):
    if question:
        raise ValueError("both ways")
    raise ValueError("both ways")

STORE = []

def write(question):
    STORE.append(1)
    return question.loaded

def keeps(question, store):
    if question:
        store["a"] = 1
    return inner(question, store)

def inner(question, store):
    if question:
        store["b"] = 1
        return 1
    return 2
"""


@cache
def resolver(name: str) -> Resolver:
    return Resolver(open_source(str(ROOT / TREES[name]["root"])))


def resolved(name: str, row: dict[str, Any]) -> Resolution:
    model = str(ROOT / "fixtures" / "models" / row["model"])
    return resolver(name).resolve(
        Launch(
            row["id"],
            row["arch"],
            ("--model-path", model, *row["flags"]),
            environment=tuple(row["env"].items()),
            assume=tuple(row["assume"].items()),
        )
    )


@pytest.mark.parametrize(("name", "row"), ROWS)
def test_every_refusal_of_a_recorded_launch(name: str, row: dict[str, Any]) -> None:
    recorded = [item for item in row["late"]["refusals"] if item["stage"] != BEYOND]
    late = resolved(name, row).late
    assert late is not None
    found = [(item.stage, item.type, item.message, item.place) for item in late]
    assert [(stage, kind, message) for stage, kind, message, _ in found] == [
        (item["stage"], item["type"], item["message"]) for item in recorded
    ]
    assert [(place.file, place.line) for *_, place in found if place] == [
        (item["file"], item["line"]) for item in recorded
    ]


def test_a_launch_leaves_nothing_for_the_next() -> None:
    name = "dataclass_2026"
    rows = [row for row in TREES[name]["launches"] if "late" in row]
    row = next(row for row in rows if row["late"]["refusals"])
    clean = next(row for row in rows if not row["late"]["refusals"])
    first = resolved(name, row).late
    assert resolved(name, clean).late == ()
    assert resolved(name, row).late == first


@pytest.fixture
def parts() -> tuple[Trial, Module]:
    session = session_for({"pkg/parts.py": PARTS})
    return Trial(Entry(session)), session.imports.load("pkg.parts")


def call(trial: Trial, module: Module, name: str, *args: Any) -> Any:
    return partial(trial.machine.call, module.ns[name], list(args), {})


def test_a_part_that_passes_gives_its_value(parts: tuple[Trial, Module]) -> None:
    trial, module = parts
    assert trial.run(QUANTIZATION, call(trial, module, "value")) == 3
    assert trial.answer() == ()


def test_raise_and_assert_of_the_tree_are_refusals(parts: tuple[Trial, Module]) -> None:
    trial, module = parts
    assert trial.run(QUANTIZATION, call(trial, module, "refuse")) is MISSING
    trial.run(MOE_METHOD, call(trial, module, "check", 1))
    answer = trial.answer()
    assert answer is not None
    assert [(item.stage, item.type, item.message) for item in answer] == [
        (QUANTIZATION, "ValueError", "not here"),
        (MOE_METHOD, "AssertionError", "too small"),
    ]
    assert [item.place and item.place.line for item in answer] == [6, 9]


def test_an_error_born_of_what_is_missing_is_a_gap(parts: tuple[Trial, Module]) -> None:
    trial, module = parts
    trial.run(ATTENTION, call(trial, module, "born", module))
    assert trial.answer() is None
    assert trial.reason is not None
    assert "AttributeError" in trial.reason


def test_an_error_of_process_groups_is_a_gap() -> None:
    texts = {
        "pkg/srt/__init__.py": "",
        "pkg/srt/distributed/__init__.py": "def group():\n    assert False, 'not set up'\n",
    }
    session = session_for(texts)
    trial = Trial(Entry(session))
    trial.run(QUANTIZATION, call(trial, session.imports.load("pkg.srt.distributed"), "group"))
    assert trial.answer() is None


def test_a_part_without_stage_is_not_counted(parts: tuple[Trial, Module]) -> None:
    trial, module = parts
    assert trial.run(None, call(trial, module, "refuse")) is MISSING
    assert trial.answer() == ()


def test_a_gap_after_a_refusal_leaves_the_refusal(parts: tuple[Trial, Module]) -> None:
    trial, module = parts
    trial.run(MOE_METHOD, call(trial, module, "refuse"))
    trial.run(ATTENTION, call(trial, module, "born", module))
    assert trial.answer() is not None


def test_a_refusal_elsewhere_does_not_stand_in_for_a_stage(parts: tuple[Trial, Module]) -> None:
    trial, module = parts
    trial.run("elsewhere", call(trial, module, "refuse"))
    trial.run(ATTENTION, call(trial, module, "born", module))
    assert trial.answer() is None


def test_a_refusal_under_an_open_condition_is_a_gap(parts: tuple[Trial, Module]) -> None:
    trial, module = parts
    trial.check(ATTENTION, call(trial, module, "either", Unknown("q", "not loaded")))
    assert trial.answer() is None
    assert trial.machine.refusals == []


def test_heaps_that_do_not_join_are_followed_apart(parts: tuple[Trial, Module]) -> None:
    trial, module = parts
    store: dict[str, Any] = {}
    trial.check(ATTENTION, call(trial, module, "keeps", Unknown("q", "not loaded"), store))
    assert trial.answer() == ()


def test_what_a_part_wrote_before_a_gap_is_undone(parts: tuple[Trial, Module]) -> None:
    trial, module = parts
    trial.run(ATTENTION, call(trial, module, "born", module))
    trial.run(ATTENTION, call(trial, module, "write", module))
    assert module.ns["STORE"] == []


def test_model_classes_are_found_without_loading_them() -> None:
    texts = {
        "pkg/srt/__init__.py": "",
        "pkg/srt/models/__init__.py": "",
        "pkg/srt/models/a.py": "class Alpha(Base):\n    pass\n\nclass Beta:\n    pass\n",
        "pkg/srt/models/b.py": "import nothing_like_it\nclass Gamma(Base):\n    pass\n",
    }
    session = session_for(texts)
    found = catalogue(session.program)
    assert found == {
        "Alpha": "pkg.srt.models.a",
        "Beta": "pkg.srt.models.a",
        "Gamma": "pkg.srt.models.b",
    }
    assert "pkg.srt.models.b" not in session.imports.modules


def test_what_a_method_keeps_for_itself_is_not_set_by_loading() -> None:
    code = """
def result(self):
    if not hasattr(self, "kept"):
        self.kept = find()
    self.pool = None
    return self.kept
"""
    assert stored_names(ast.parse(code)) == {"pool"}


# One launch a row: release, its transformers, model facts, flags, capability, earliest refusal.
REAL = [
    ("0.5.9", "sm120", ("--attention-backend", "trtllm_mha"), None),
    ("0.5.9", "sm120", ("--attention-backend", "fa3"), (ATTENTION, 132)),
    ("0.5.9", "sm90", ("--attention-backend", "fa3"), None),
    ("0.5.9", "sm90", ("--quantization", "modelopt_fp4"), (QUANTIZATION, 248)),
    ("0.5.17", "sm100", ("--attention-backend", "fa3"), (ATTENTION, 214)),
]
DENSE = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 256,
    "intermediate_size": 512,
    "max_position_embeddings": 4096,
    "num_attention_heads": 8,
    "num_hidden_layers": 4,
    "num_key_value_heads": 2,
    "torch_dtype": "bfloat16",
    "vocab_size": 1000,
}


@cache
def released(version: str, cache_dir: Path) -> Resolver:
    return Resolver(open_source(f"sglang=={version}", cache_dir=cache_dir))


@pytest.mark.real
@pytest.mark.parametrize(("version", "capability", "flags", "earliest"), REAL)
def test_a_dense_model_on_real_releases(
    version: str,
    capability: str,
    flags: tuple[str, ...],
    earliest: tuple[str, int] | None,
    tmp_path: Path,
    real_cache: Path,
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(DENSE), encoding="utf-8")
    argv = ("--model-path", str(tmp_path), *flags)
    answer = released(version, real_cache).resolve(Launch("dense", capability, argv))
    if answer.rejection is not None:
        assert earliest is None
        return
    assert answer.late is not None, answer.notes
    found = [(item.stage, item.place and item.place.line) for item in answer.late]
    assert found[:1] == ([earliest] if earliest else [])
