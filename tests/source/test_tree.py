"""What all trees share: the bounded cache, and names as messages show them."""

from __future__ import annotations

import threading

import pytest

from sgl_audit.source import open_source
from sgl_audit.source.names import refusal, shown


def test_cache_of_bytes_is_bounded(make_wheel, monkeypatch):
    monkeypatch.setattr("sgl_audit.source.tree._CACHE_BYTES", 45)
    tree = open_source(str(make_wheel()))
    for path in tree.files():
        tree.read(path)
    assert tree._cached_bytes == sum(map(len, tree._cache.values())) <= 45
    last = tree.files()[-1]
    assert tree.read(last) is tree.read(last)


def test_threads_read_the_same(make_wheel):
    tree = open_source(str(make_wheel()))
    found: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: found.extend(map(tree.read, tree.files())))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(list(map(tree.read, tree.files())) * 4)


@pytest.mark.parametrize("name", ["a.py", "sglang/größe/x y.py", "..a/b..", "a/.hidden"])
def test_names_that_are_taken(name):
    assert refusal(name) is None


@pytest.mark.parametrize(
    "name",
    ["/a", "C:a", "a\\b", "../a", "a/..", "a//b", "./a", "", "a\n", "\udcff", "\u202e", "\0"],
)
def test_names_that_are_refused(name):
    assert refusal(name) is not None


def test_names_are_shown_escaped_and_short():
    assert shown("a\n\x1b[1m\udcff\u202e\U000e0001") == r"a\n\x1b[1m\udcff\u202e\U000e0001"
    assert shown("ö日本") == "ö日本"
    assert len(shown("x" * 10_000)) < 200
