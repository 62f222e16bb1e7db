"""Answers are used again while the files that they were made from stay the same, no longer."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sgl_audit import api
from sgl_audit.answers import AnswerStore, digest_of_value, traced
from sgl_audit.answers.traced import ReadTree, note, noted
from sgl_audit.extract.machine.values import UNBOUND, UNKNOWN, Entry, VersionText
from sgl_audit.model.report import Audit
from sgl_audit.model.source import Distribution, SourceInfo, SourceKind, SourceTree
from sgl_audit_reports.json import audit_to_json


class MemoryTree:
    """A tree over a dict of path -> text."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts

    @property
    def info(self) -> SourceInfo:
        return SourceInfo(SourceKind.CHECKOUT, "memory", "pkg", Distribution("pkg", "1.0"))

    def files(self) -> tuple[str, ...]:
        return tuple(sorted(self.texts))

    def has(self, path: str) -> bool:
        return path in self.texts

    def read(self, path: str) -> bytes:
        return self.texts[path].encode()


TEXTS = {"pkg/__init__.py": "", "pkg/a.py": "1", "pkg/b.py": "2"}
FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


def asked(folder: Path, texts: dict[str, str], parts: tuple[object, ...] = ()) -> tuple[str, int]:
    """The answer that reads a.py and looks for c.py, and how often it was made now."""
    made = []

    def make(tree: SourceTree) -> str:
        made.append(tree)
        try:
            return tree.read("pkg/a.py").decode() + tree.read("pkg/c.py").decode()
        except KeyError:
            return tree.read("pkg/a.py").decode() + " alone"

    answer = traced(AnswerStore(folder), "test", parts, MemoryTree(texts), str, make)
    return answer, len(made)


def test_a_change_elsewhere_leaves_the_answer(tmp_path: Path) -> None:
    assert asked(tmp_path, TEXTS) == ("1 alone", 1)
    assert asked(tmp_path, TEXTS) == ("1 alone", 0)
    assert asked(tmp_path, {**TEXTS, "pkg/b.py": "3"}) == ("1 alone", 0)
    assert asked(tmp_path, {**TEXTS, "pkg/a.py": "3"}) == ("3 alone", 1)
    # Back again: only the last answer is kept.
    assert asked(tmp_path, TEXTS) == ("1 alone", 1)
    assert asked(tmp_path, TEXTS, ("another",)) == ("1 alone", 1)


def test_a_file_that_comes_or_goes_counts(tmp_path: Path) -> None:
    asked(tmp_path, TEXTS)
    assert asked(tmp_path, {**TEXTS, "pkg/c.py": "4"}) == ("14", 1)
    assert asked(tmp_path, {**TEXTS, "pkg/d.py": "4"}) == ("1 alone", 1)


def test_what_a_worker_read_counts(tmp_path: Path) -> None:
    def make(tree: SourceTree) -> str:
        copy = ReadTree(MemoryTree(TEXTS))
        copy.read("pkg/b.py")
        note(tree, noted(copy))
        return "made"

    store = AnswerStore(tmp_path)
    assert traced(store, "worker", (), MemoryTree(TEXTS), str, make) == "made"
    for path, again in (("pkg/a.py", "kept"), ("pkg/b.py", "again")):
        tree = MemoryTree({**TEXTS, path: "new"})
        found = traced(store, "worker", (), tree, str, lambda _: "again")
        assert found == ("made" if again == "kept" else "again")


def test_a_file_that_changes_meanwhile_fits_no_content(tmp_path: Path) -> None:
    tree = ReadTree(MemoryTree(TEXTS))
    tree.read("pkg/a.py")
    tree.note({"pkg/a.py": "another digest"})
    assert tree.noted["pkg/a.py"] == "changed while it was read"


def test_digests_of_values_do_not_depend_on_the_hash_seed() -> None:
    code = (
        "from sgl_audit.answers import digest_of_value\n"
        "from sgl_audit.extract.machine.values import *\n"
        "names = [f'name {i}' for i in range(50)]\n"
        "value = {frozenset(names): Entry(VersionText('1'), frozenset(names)), 'x': {*names}}\n"
        "print(digest_of_value((value, UNKNOWN, UNBOUND, [Entry(UNKNOWN)] * 3)))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(printed) == 1


@pytest.mark.parametrize(
    "other",
    [
        (UNBOUND, 1, "a"),
        (UNKNOWN, True, "a"),
        (UNKNOWN, 1, VersionText("a")),
        (UNKNOWN, 1, "a", None),
        ((UNKNOWN, 1), "a"),
        (Entry(UNKNOWN), 1, "a"),
        (UNKNOWN, 1, frozenset("a")),
    ],
)
def test_other_values_have_other_digests(other: object) -> None:
    assert digest_of_value(other) != digest_of_value((UNKNOWN, 1, "a"))


def audit(tree: Path, store: AnswerStore | None) -> Audit:
    source = api.open_source(str(tree), offline=True)
    return api.audit(source, capabilities=("sm90", "sm120"), store=store)


def edited(text: str, chance: random.Random) -> str:
    """The text with a line moved, removed, or put in."""
    lines = text.splitlines(keepends=True) or ["\n"]
    place = chance.randrange(len(lines))
    match chance.randrange(3):
        case 0:
            lines.insert(0, "# something new\n")
        case 1:
            lines[place] = lines[place].replace("120", "121").replace("True", "False")
        case _:
            del lines[place]
    return "".join(lines)


class Counted(AnswerStore):
    """Counts what it was asked for, and what of it it had."""

    asked = had = 0

    def find(self, key: str, kind: type[Any]) -> Any:
        found = super().find(key, kind)
        self.asked += 1
        self.had += found is not None
        return found


@pytest.mark.parametrize("name", ["arg_groups_2026", "flat_2025"])
def test_an_audit_with_kept_parts_is_the_audit_without(name: str, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(FIXTURES / name, tree)
    store, chance = Counted(tmp_path / "cache"), random.Random(8)
    audit(tree, store)
    for path in chance.sample(sorted(tree.rglob("*.py")), 6):
        before = path.read_text("utf-8")
        path.write_text(edited(before, chance), "utf-8")
        assert audit_to_json(audit(tree, store)) == audit_to_json(audit(tree, None)), path
        if chance.random() < 0.5:
            path.write_text(before, "utf-8")
    assert 0 < store.had < store.asked
