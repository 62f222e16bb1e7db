"""Pieces of answers by the content of files: what changed is made anew, and nothing else is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sgl_audit.answers import AnswerStore, by_content, key_of

FILES = [("a.py", b"1"), ("b.py", b"2"), ("c.py", b"3")]


class Counting:
    """Makes a piece of a file, and remembers of which."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, files: Sequence[tuple[str, bytes]]) -> list[str]:
        self.asked += [path for path, _ in files]
        return [f"{path} has {data.decode()}" for path, data in files]


def pieces(
    folder: Path, files: Sequence[tuple[str, bytes]], name: str = "test"
) -> tuple[list[str], list[str]]:
    """The pieces, and of which files they were made now."""
    make = Counting()
    return by_content(AnswerStore(folder), key_of(name, ()), files, make), make.asked


def test_only_what_changed_is_made(tmp_path: Path) -> None:
    first, asked = pieces(tmp_path, FILES)
    assert (first, asked) == (["a.py has 1", "b.py has 2", "c.py has 3"], ["a.py", "b.py", "c.py"])
    assert pieces(tmp_path, FILES) == (first, [])
    changed = [("b.py", b"4"), ("d.py", b"1"), FILES[2]]
    assert pieces(tmp_path, changed) == (
        ["b.py has 4", "d.py has 1", "c.py has 3"],
        ["b.py", "d.py"],
    )
    # The content of one file says nothing of another with the same content.
    moved = [("e.py", b"3")]
    assert pieces(tmp_path, moved) == (["e.py has 3"], ["e.py"])
    assert pieces(tmp_path, FILES, "another pass")[1] == ["a.py", "b.py", "c.py"]


def test_what_would_be_another_thing_next_time_is_not_kept(tmp_path: Path) -> None:
    store, key = AnswerStore(tmp_path), key_of("test", ())
    first, second = Counting(), Counting()
    by_content(store, key, FILES, first, lambda piece: "2" not in piece)
    assert by_content(store, key, FILES, second, lambda piece: True)[1] == "b.py has 2"
    assert second.asked == ["b.py"]


def test_without_a_store_everything_is_made() -> None:
    make = Counting()
    assert by_content(None, "", FILES, make) == by_content(None, "", FILES, make)
    assert len(make.asked) == 6


def test_a_damaged_bundle_is_made_anew(tmp_path: Path) -> None:
    expected = pieces(tmp_path, FILES)
    for path in tmp_path.rglob("*.answer"):
        path.write_bytes(path.read_bytes()[:-3])
    assert pieces(tmp_path, FILES) == expected
