"""Answers kept on disk: what is read back is what was written, and nothing else can be."""

from __future__ import annotations

import hashlib
import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sgl_audit.answers import AnswerStore
from sgl_audit.answers.packing import DamagedError, pack, unpack
from sgl_audit.answers.store import FOLDER
from sgl_audit.model.resolution import Launch, Outcome, Resolution
from sgl_audit.model.source import Place

ANSWER = Resolution(Launch("a", "sm120", ("--x", "é\u2028")), Outcome.OK, reason="because")
KEY = "ab" * 32


def no_answer() -> Resolution:
    raise AssertionError("it was kept and should not be made again")


def test_an_answer_is_read_back_equal() -> None:
    assert unpack(pack(ANSWER)) == ANSWER
    assert unpack(pack([ANSWER, frozenset({Place("a.py", 3)})])) == [
        ANSWER,
        frozenset({Place("a.py", 3)}),
    ]


class Forged:
    """Unpickled by an ordinary pickle, it would make a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.folder),)


def test_a_forged_answer_runs_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "made by it"
    data = pack(Forged(folder))
    with pytest.raises(DamagedError):
        unpack(data)
    assert not folder.exists()


@pytest.mark.parametrize(
    "named",
    [
        b"csgl_audit.cli\nmain\n.",
        b"csgl_audit.answers.store\nAnswerStore\n.",
        b"csgl_audit.answers.keys\nPath\n.",
        b"cbuiltins\neval\n.",
        b"cos\nsystem\n.",
    ],
)
def test_only_values_of_the_model_can_be_named(named: bytes) -> None:
    head = pack(None)[: -len(pickle.dumps(None, protocol=5))][:-32]
    with pytest.raises(DamagedError):
        unpack(head + hashlib.sha256(named).digest() + named)


@pytest.mark.parametrize("cut", [0, 1, 20, 60, -1])
def test_a_cut_answer_is_none(cut: int) -> None:
    with pytest.raises(DamagedError):
        unpack(pack(ANSWER)[:cut])


def test_every_flipped_byte_is_noticed() -> None:
    data = pack(ANSWER)
    for position in range(0, len(data), 7):
        changed = bytearray(data)
        changed[position] ^= 0x20
        with pytest.raises(DamagedError):
            unpack(bytes(changed))


def test_what_was_kept_is_not_made_again(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path)
    assert store.once(KEY, Resolution, lambda: ANSWER) == ANSWER
    assert AnswerStore(tmp_path).once(KEY, Resolution, no_answer) == ANSWER


def test_an_answer_of_another_kind_is_none(tmp_path: Path) -> None:
    AnswerStore(tmp_path).keep(KEY, [ANSWER])
    assert AnswerStore(tmp_path).find(KEY, Resolution) is None


def test_the_oldest_go_first_and_only_ours(tmp_path: Path) -> None:
    size = len(pack(ANSWER))
    store = AnswerStore(tmp_path, most_bytes=3 * size)
    theirs = tmp_path / FOLDER / "notes.txt"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("x" * 10 * size)
    for number in range(5):
        key = f"{number}" * 64
        store.keep(key, ANSWER)
        os.utime(tmp_path / FOLDER / f"{key}.answer", (number, number))
    left = sorted(path.name[0] for path in (tmp_path / FOLDER).glob("*.answer"))
    assert left == ["2", "3", "4"]
    assert theirs.exists()


def test_what_is_used_counts_as_new(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path, most_bytes=2 * len(pack(ANSWER)))
    for number in (1, 2):
        store.keep(f"{number}" * 64, ANSWER)
        os.utime(tmp_path / FOLDER / f"{str(number) * 64}.answer", (number, number))
    assert store.find("1" * 64, Resolution) == ANSWER
    store.keep("3" * 64, ANSWER)
    assert store.find("1" * 64, Resolution) == ANSWER
    assert store.find("2" * 64, Resolution) is None


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file where the folder should be")
    assert AnswerStore(tmp_path).once(KEY, Resolution, lambda: ANSWER) == ANSWER
    assert AnswerStore(Path("/proc/nowhere")).once(KEY, Resolution, lambda: ANSWER) == ANSWER


def test_a_link_in_place_of_an_answer_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(pack(ANSWER))
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FOLDER / f"{KEY}.answer").symlink_to(other)
    assert AnswerStore(tmp_path).find(KEY, Resolution) is None


def test_many_at_once_see_whole_answers_only(tmp_path: Path) -> None:
    def work(number: int) -> bool:
        store = AnswerStore(tmp_path)
        store.keep(KEY, ANSWER)
        return store.find(KEY, Resolution) == ANSWER

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(64)))
    assert [path.suffix for path in (tmp_path / FOLDER).iterdir()] == [".answer"]
