"""What a tree pins: from the cache or as installed; fetched only for a release or on request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sgl_audit.errors import SourceError
from sgl_audit.model.source import Distribution, SourceInfo, SourceKind
from sgl_audit.source import Wanted, open_pinned, pinned
from sgl_audit.source.cache import WheelCache

WANTED = Wanted("transformers", "transformers")
LOCAL = [kind for kind in SourceKind if kind is not SourceKind.PYPI]


def info(kind: SourceKind) -> SourceInfo:
    return SourceInfo(kind, "a tree", "sglang", Distribution("sglang", "0.5.9"))


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The specs that pip would have been asked for; here it has none of them."""
    asked: list[str] = []

    def fetch(spec: str, cache: WheelCache) -> Path:
        asked.append(spec)
        raise SourceError("pip has none")

    monkeypatch.setattr("sgl_audit.source.pypi._fetch", fetch)
    return asked


def opened(tmp_path: Path, kind: SourceKind, said: list[str], **given: Any) -> object:
    options: dict[str, Any] = {"fetch": False, "offline": False, "lost": "all", **given}
    return open_pinned(
        info(kind), WANTED, "4.57.1", cache_dir=tmp_path, notify=said.append, **options
    )


@pytest.mark.parametrize("kind", LOCAL)
def test_nothing_is_fetched_for_files_of_ones_own(
    tmp_path: Path, fetched: list[str], kind: SourceKind
) -> None:
    said: list[str] = []
    with pytest.raises(SourceError, match="--fetch gets it once"):
        opened(tmp_path, kind, said)
    assert fetched == []
    assert len(said) == 1
    assert "so all is unknown; --fetch" in said[0]


@pytest.mark.parametrize(("kind", "fetch"), [(SourceKind.PYPI, False), (SourceKind.WHEEL, True)])
def test_a_release_or_a_request_fetches(
    tmp_path: Path, fetched: list[str], kind: SourceKind, fetch: bool
) -> None:
    with pytest.raises(SourceError, match="pip has none"):
        opened(tmp_path, kind, [], fetch=fetch)
    assert fetched == ["transformers==4.57.1"]


def test_offline_is_stronger_than_a_request(tmp_path: Path, fetched: list[str]) -> None:
    said: list[str] = []
    with pytest.raises(SourceError, match="--offline"):
        opened(tmp_path, SourceKind.PYPI, said, fetch=True, offline=True)
    assert (fetched, said) == ([], [])


@pytest.mark.parametrize("version", ["4.57.1", "4.57.2"])
def test_what_is_installed_counts_where_it_is_that_version(
    tmp_path: Path, fetched: list[str], monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    site = tmp_path / "site"
    for name, text in {
        "transformers/__init__.py": "",
        f"transformers-{version}.dist-info/METADATA": f"Name: transformers\nVersion: {version}\n",
        f"transformers-{version}.dist-info/RECORD": "transformers/__init__.py,,\n",
    }.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    monkeypatch.setattr("sgl_audit.source.installed._search_paths", lambda: [str(site)])
    if version == "4.57.1":
        tree = opened(tmp_path, SourceKind.CHECKOUT, [])
        assert tree.info.kind is SourceKind.INSTALLED  # type: ignore[attr-defined]
    else:
        with pytest.raises(SourceError, match="neither in the cache nor installed"):
            opened(tmp_path, SourceKind.CHECKOUT, [])
    assert fetched == []


def test_the_cache_is_asked_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WheelCache, "find", lambda self: tmp_path / "x.whl")
    given: list[object] = []

    def open_source(spec: str, **options: object) -> str:
        given.append((spec, options["offline"]))
        return "cached"

    monkeypatch.setattr(pinned, "open_source", open_source)
    assert opened(tmp_path, SourceKind.GIT, []) == "cached"
    assert given == [("transformers==4.57.1", True)]
