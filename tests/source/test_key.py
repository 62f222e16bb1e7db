"""Content keys change with the content and only name the same content alike."""

from __future__ import annotations

import os
import time

from sgl_audit.model.source import Distribution, SourceInfo, SourceKind
from sgl_audit.source import content_key, open_source
from sgl_audit.source.folder import open_folder
from sgl_audit.source.limits import Limits
from sgl_audit.source.wanted import Wanted


def test_wheel_key_follows_content_not_file(make_wheel):
    first = content_key(open_source(str(make_wheel())))
    assert first == content_key(open_source(str(make_wheel(name="other-1-py3-none-any.whl"))))
    assert len(first) == 64
    changed = make_wheel({"sglang/new.py": b""})
    assert content_key(open_source(str(changed))) != first


def test_key_follows_the_metadata(make_wheel):
    files = {"sglang/srt/__init__.py": b""}
    keys = {
        content_key(
            open_source(str(make_wheel({f"sglang-{v}.dist-info/METADATA": data}, base=files)))
        )
        for v, data in (("1", b"Name: sglang\nVersion: 1"), ("2", b"Name: sglang\nVersion: 2"))
    }
    assert len(keys) == 2


def test_folder_key_sees_an_edit_that_keeps_size_and_times(checkout):
    path = checkout / "python/sglang/version.py"
    before = path.stat()
    first = content_key(open_source(str(checkout)))
    path.write_bytes(path.read_bytes().replace(b"0.5.9", b"0.5.8"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert content_key(open_source(str(checkout))) != first


def test_settled_folder_is_not_read(checkout, monkeypatch):
    soon = time.time_ns() + 3_600_000_000_000
    monkeypatch.setattr("sgl_audit.source.folder.time.time_ns", lambda: soon)
    tree = open_source(str(checkout))
    for path in (checkout / "python/sglang").rglob("*.py"):
        path.unlink()
    assert len(content_key(tree)) == 64


def test_file_over_the_limit_still_has_a_key(checkout):
    wanted = Wanted("sglang", "sglang", Limits(python_bytes=10))
    first = content_key(open_folder(checkout, wanted))
    (checkout / "python/sglang/srt/server_args.py").write_bytes(b"#" * 90)
    assert content_key(open_folder(checkout, wanted)) != first


class Memory:
    """A tree of another make."""

    info = SourceInfo(SourceKind.CHECKOUT, "memory", "sglang", Distribution("sglang", None))

    def __init__(self, data: bytes) -> None:
        self._data = data

    def files(self) -> tuple[str, ...]:
        return ("sglang/a.py",)

    def has(self, path: str) -> bool:
        return path in self.files()

    def read(self, path: str) -> bytes:
        return self._data


def test_any_other_tree_is_read():
    assert content_key(Memory(b"1")) == content_key(Memory(b"1")) != content_key(Memory(b"2"))
