"""How few releases are read, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sgl_audit.errors import SourceError, UsageError
from sgl_audit.model.history import Aspect, Entry
from sgl_audit.review.history import history
from sgl_audit.review.launches import Side
from sgl_audit.review.snapshots import Snapshot, snapshot
from sgl_audit.source.releases import Found, releases_between

from .trees import ARGS, changed, tree


class Releases:
    """Releases that hold a default each, and what was read of them."""

    def __init__(self, *defaults: str, here: tuple[int, ...] = ()) -> None:
        self.defaults = defaults
        self.found = [Found(f"0.{i}", f"x==0.{i}", here=i in here) for i, _ in enumerate(defaults)]
        self.read: list[str] = []

    def take(self, item: Found) -> Snapshot:
        self.read.append(item.version)
        value = self.defaults[self.found.index(item)]
        if value == "broken":
            raise SourceError("it is damaged")
        return {"page_size": (Entry(Aspect.DEFAULT, "", "", value),)} if value else {}


def changes_of(releases: Releases, *, every: bool = False) -> list[tuple[str, str, str]]:
    found = history(releases.found, "page_size", ("sm120",), releases.take, every=every)
    return [(event.after, event.old, event.new) for event in found.events]


def test_a_change_is_bisected() -> None:
    releases = Releases(*["a"] * 11, *["b"] * 5)
    assert changes_of(releases) == [("0.11", "a", "b")]
    assert len(set(releases.read)) <= 6


def test_each_release_is_read_once() -> None:
    releases = Releases("a", "b", "c", "d", "e")
    assert [after for after, _, _ in changes_of(releases)] == ["0.1", "0.2", "0.3", "0.4"]
    assert sorted(releases.read) == ["0.0", "0.1", "0.2", "0.3", "0.4"]


def test_what_lies_between_two_equal_releases_is_said_to_be_unread() -> None:
    releases = Releases("a", "b", "a")
    found = history(releases.found, "page_size", ("sm120",), releases.take)
    assert found.events == ()
    assert [release.looked for release in found.releases] == [True, False, True]
    assert changes_of(Releases("a", "b", "a"), every=True) == [
        ("0.1", "a", "b"),
        ("0.2", "b", "a"),
    ]


def test_what_is_at_hand_is_always_read() -> None:
    assert changes_of(Releases("a", "b", "a", here=(1,))) == [("0.1", "a", "b"), ("0.2", "b", "a")]


def test_a_release_that_cannot_be_read_leaves_the_change_inexact() -> None:
    releases = Releases("a", "broken", "b")
    found = history(releases.found, "page_size", ("sm120",), releases.take)
    assert [(e.before, e.after, e.exact) for e in found.events] == [("0.0", "0.2", False)]
    assert found.releases[1].problem == "it is damaged"
    with pytest.raises(SourceError, match="no release could be read"):
        history(Releases("broken", "broken").found, "x", (), Releases("broken", "broken").take)


def test_an_option_that_appears() -> None:
    assert changes_of(Releases("", "a")) == [("0.1", "absent", "present")]


def test_a_snapshot_is_kept_until_the_tree_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    side = Side(tree())
    first = snapshot(side, ("sm120",), tmp_path)
    files = list((tmp_path / "results" / "answers").iterdir())
    assert len(files) == 1
    with monkeypatch.context() as patch:
        patch.setattr("sgl_audit.review.snapshots._make", None)
        assert snapshot(side, ("sm120",), tmp_path) == first
        with pytest.raises(TypeError):
            snapshot(side, ("sm120",), tmp_path, anew=True)
    files[0].write_text("{not an answer", encoding="utf-8")
    assert snapshot(side, ("sm120",), tmp_path) == first
    other = Side(tree(args=changed(ARGS, ('moe_runner_backend: str = "auto"',
                                          'moe_runner_backend: str = "triton"'))))  # fmt: skip
    second = snapshot(other, ("sm120",), tmp_path)
    defaults = [
        next(e.value for e in found["moe_runner_backend"] if e.aspect is Aspect.DEFAULT)
        for found in (first, second)
    ]
    assert defaults == ["auto", "triton"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sglang==0.5.9", "is no range of releases"),
        ("sglang==0.5.9..0.5.4", "write the older release first"),
        ("sglang==0.5.9..later", "is no version"),
        ("nothing", "is no range of releases"),
    ],
)
def test_wrong_ranges(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said):
        releases_between(text, offline=True, cache_dir=tmp_path, notify=lambda text: None)


def test_offline_only_what_is_cached(tmp_path: Path) -> None:
    for version in ("0.5.4", "0.5.9", "0.6.0"):
        folder = tmp_path / "wheels" / "sglang" / version
        folder.mkdir(parents=True)
        (folder / f"sglang-{version}-py3-none-any.whl").write_bytes(b"")
    found = releases_between(
        "sglang==0.5.0..0.5.20", offline=True, cache_dir=tmp_path, notify=lambda text: None
    )
    assert [(item.version, item.here) for item in found] == [("0.5.4", True), ("0.5.9", True)]
    with pytest.raises(SourceError, match="no two releases"):
        releases_between(
            "sglang==0.1..0.2", offline=True, cache_dir=tmp_path, notify=lambda text: None
        )


def test_a_gate_that_holds_nowhere_is_no_news() -> None:
    def take(item: Found) -> Snapshot:
        entries = [Entry(Aspect.GATE, "is_sm100()", "", "sm100" if item.version == "0.0" else "")]
        if item.version == "0.1":
            entries = [
                Entry(Aspect.GATE, "is_xpu()", "", "nowhere"),
                Entry(Aspect.GATE, "is_sm100()", "", "sm100 sm103"),
                Entry(Aspect.BECOMES, "MoE", "sm120", "b"),
            ]
        else:
            entries.append(Entry(Aspect.BECOMES, "MoE", "sm120", "a"))
        return {"x": tuple(entries)}

    found = history(Releases("", "").found, "x", ("sm120",), take)
    assert [(e.aspect, e.name, e.old, e.new) for e in found.events] == [
        (Aspect.BECOMES, "MoE", "a", "b"),
        (Aspect.GATE, "is_sm100()", "sm100", "sm100 sm103"),
    ]
