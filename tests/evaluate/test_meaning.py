"""Answers depend on what the source means and grow with what is known, never against it."""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sgl_audit import api
from sgl_audit.evaluate.resolver import Resolver
from sgl_audit.model.resolution import Launch, Outcome, Refusal, Resolution, ResolvedValue
from sgl_audit.model.source import SourceTree
from sgl_audit.source import open_source

from .rewriting import (
    Rewrite,
    RewrittenTree,
    commented,
    effects,
    independent,
    mirrored,
    own_locals,
    renamed,
    reordered,
    rewriter,
)

ROOT = Path(__file__).resolve().parents[2]
EXPECTED = json.loads((ROOT / "fixtures" / "expected.json").read_text(encoding="utf-8"))
TREES: dict[str, Any] = EXPECTED["trees"]
MODELS = sorted(path.name for path in (ROOT / "fixtures" / "models").iterdir())
ELSEWHERE = "org/a-model-of-any-kind"
FLAGS = {name: sorted({tuple(r["flags"]) for r in t["launches"]}) for name, t in TREES.items()}


@cache
def tree(name: str) -> SourceTree:
    return open_source(str(ROOT / TREES[name]["root"]))


@cache
def resolver(name: str) -> Resolver:
    return Resolver(tree(name))


def launch(flags: tuple[str, ...], capability: str, model: str | None) -> Launch:
    return Launch(
        "launch",
        capability,
        ("--model-path", ELSEWHERE, *flags),
        model_config=None if model is None else model,
    )


def folder(model: str) -> str:
    return str(ROOT / "fixtures" / "models" / model)


def kind_and_place(refusal: Refusal | None) -> Any:
    return refusal and (refusal.type, refusal.place)


def possible_values(value: ResolvedValue) -> list[Any] | None:
    """All values a value can have, where every one of its cases is known."""
    if value.decided:
        return [value.value]
    shown = [case.value for case in value.cases]
    if not shown or any(isinstance(v, str) and v.startswith("unknown") for v in shown):
        return None
    return shown


def check_grows(less: Resolution, more: Resolution) -> int:
    """What is known with less holds with more; gives how many values were compared."""
    if less.outcome is Outcome.REJECTED:
        assert more.outcome is Outcome.REJECTED
    if more.outcome is Outcome.REJECTED:
        # Refused for certain, but a model may be refused earlier under a condition that is listed.
        named = [less.rejection, *less.possible]
        assert kind_and_place(more.rejection) in [kind_and_place(r) for r in named]
    if more.outcome is not Outcome.OK:
        return 0
    compared = 0
    for part in ("options", "runtime"):
        given = {value.name: value for value in getattr(more, part)}
        for value in getattr(less, part):
            possible, now = possible_values(value), given.get(value.name)
            if possible is None or now is None or not now.decided:
                continue
            assert now.value in possible, (value.name, now.value, possible)
            compared += 1
    return compared


@pytest.mark.parametrize("capability", ["sm90", "sm120"])
@pytest.mark.parametrize("name", sorted(TREES))
def test_a_given_model_contradicts_nothing_that_is_decided_without(
    name: str, capability: str
) -> None:
    for flags in FLAGS[name]:
        less = resolver(name).resolve(launch(flags, capability, None))
        if less.outcome is Outcome.UNKNOWN:
            continue
        for model in MODELS:
            more = resolver(name).resolve(launch(flags, capability, folder(model)))
            assert check_grows(less, more) or more.outcome is not Outcome.OK


def test_much_is_decided_without_a_model() -> None:
    """The property above says something: it compares values, with cases and without."""
    for name in ("flat_2025", "dataclass_2026"):
        less = resolver(name).resolve(launch((), "sm120", None))
        assert less.outcome is Outcome.OK
        assert any(value.decided for value in less.options)
        assert any(value.cases for value in less.options)


# Of a generation each; loading a tree for every capability would be most of the time.
REWRITTEN_ON = ("sm90", "sm120")
REWRITES: dict[str, tuple[Rewrite, ...]] = {
    "locals renamed": (renamed,),
    "branches mirrored": (mirrored,),
    "independent branches reordered": (reordered,),
    "all of it": (renamed, reordered, mirrored),
}


def told(answer: Resolution) -> Any:
    """What a resolution says, without lines."""
    refusals = [answer.rejection, *(answer.late or ())]
    return (
        answer.outcome,
        [r and (r.type, r.message, r.place and r.place.file, r.stage) for r in refusals],
        [(v.name, v.decided, v.value) for v in (*answer.options, *answer.runtime)],
        answer.late is None,
    )


def recorded(name: str) -> list[Launch]:
    rows = TREES[name]["launches"]
    return [
        Launch(
            row["id"],
            row["arch"],
            ("--model-path", folder(row["model"]), *row["flags"]),
            environment=tuple(row["env"].items()),
            assume=tuple((k, str(v)) for k, v in row["assume"].items()),
        )
        for row in rows
        if row["arch"] in REWRITTEN_ON
    ]


@cache
def original(name: str) -> list[Any]:
    return [told(resolver(name).resolve(item)) for item in recorded(name)]


@pytest.mark.parametrize("rewrite", REWRITES)
@pytest.mark.parametrize("name", sorted(TREES))
def test_rewriting_changes_nothing(name: str, rewrite: str) -> None:
    other = Resolver(RewrittenTree(tree(name), rewriter(REWRITES[rewrite], seed=11)))
    assert [told(other.resolve(item)) for item in recorded(name)] == original(name)


@pytest.mark.parametrize("name", sorted(TREES))
def test_comments_change_nothing(name: str) -> None:
    other = Resolver(RewrittenTree(tree(name), commented))
    assert [told(other.resolve(item)) for item in recorded(name)] == original(name)


@pytest.mark.real
@pytest.mark.parametrize(
    "change", [commented, rewriter(REWRITES["all of it"], 7)], ids=["comments", "all of it"]
)
def test_rewriting_a_release_changes_nothing(real_cache: Path, change: Any) -> None:
    source = api.open_source("sglang==0.5.9", cache_dir=real_cache)
    libraries, _ = api.open_libraries(source, cache_dir=real_cache)
    flags = ((), ("--quantization", "modelopt_fp4"), ("--moe-runner-backend", "flashinfer_trtllm"))
    launches = [
        Launch(f"{m} {f}", "sm120", ("--model-path", folder(m), *f)) for m in MODELS for f in flags
    ]
    before, after = Resolver(source, libraries), Resolver(RewrittenTree(source, change), libraries)
    for item in launches:
        assert told(after.resolve(item)) == told(before.resolve(item)), item.id


def test_rewrites_do_something() -> None:
    """Each rewrite changes the miniature trees, and in ways that would matter if mistaken."""
    for name in sorted(TREES):
        source = tree(name)
        texts = {path: source.read(path).decode() for path in source.files() if "/srt/" in path}
        for rewrites in REWRITES.values():
            plain, change = rewriter((), 1), rewriter(rewrites, 1)
            assert any(change(path, text) != plain(path, text) for path, text in texts.items())
        assert any(commented(path, text) != text for path, text in texts.items())


def test_dependent_statements_keep_their_order() -> None:
    branches = "if is_sm90():\n    self.a = 1\nif self.a == 1:\n    self.b = 2\n"
    body = ast.parse(branches + "self.c = 3\nself.a = 4\nf()").body
    assert not independent(body[0], body[1])
    assert independent(body[1], body[2])
    assert not independent(body[1], body[3])
    assert effects(body[4]) is None
    function = ast.parse("def f(x, y=1):\n    z = x\n    x = 2\n    import os\n    os = 1").body[0]
    assert isinstance(function, ast.FunctionDef)
    assert own_locals(function) == {"z"}
