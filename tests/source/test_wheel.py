"""Wheel files: contents, and archives made to mislead."""

from __future__ import annotations

import multiprocessing
import pickle
import stat
import struct
import sys
import zipfile
from pathlib import Path

import pytest

from sgl_audit.errors import SourceError
from sgl_audit.model.source import SourceKind
from sgl_audit.source import open_source
from sgl_audit.source.limits import Limits
from sgl_audit.source.wanted import Wanted
from sgl_audit.source.wheel import open_wheel

PYTHON = (
    "sglang/__init__.py",
    "sglang/srt/__init__.py",
    "sglang/srt/server_args.py",
    "sglang/version.py",
)


def messages(tree) -> str:
    return "\n".join(diagnostic.message for diagnostic in tree.info.diagnostics)


def test_wheel(make_wheel):
    tree = open_source(str(make_wheel()))
    assert tree.files() == PYTHON
    assert tree.read("sglang/srt/configs/x.json") == b'{"a": 1}'
    assert tree.info.kind is SourceKind.WHEEL
    assert tree.info.label == "sglang-0.5.9-py3-none-any.whl"
    assert tree.info.upstream == "https://github.com/sgl-project/sglang/blob/v0.5.9/python/"
    distribution = tree.info.distribution
    assert distribution.pin("flashinfer-python") == "0.6.3"
    assert distribution.pin("sglang-kernel", "sgl-kernel") == "0.3.21"
    assert tree.info.diagnostics == ()


def test_names_that_lead_out_are_left_out(make_wheel):
    hostile = ["../evil.py", "sglang/../../evil.py", "/etc/evil.py", "C:/evil.py", "a\\b.py"]
    hostile += ["sglang//x.py", "./sglang/y.py", "sglang/new\nline.py", "sglang/\u202e.py"]
    tree = open_source(str(make_wheel(dict.fromkeys(hostile, b"evil"))))
    assert tree.files() == PYTHON
    assert len(tree.info.diagnostics) == len(hostile)
    text = messages(tree)
    assert "../evil.py is left out of the tree: its name leads out of the tree." in text
    assert "/etc/evil.py is left out of the tree: its name is absolute." in text
    assert r"sglang/new\nline.py is left out" in text


def test_flood_of_bad_names_is_counted_not_listed(make_wheel):
    tree = open_source(str(make_wheel({f"../{number}.py": b"" for number in range(150)})))
    assert len(tree.info.diagnostics) == 101
    assert tree.info.diagnostics[-1].message == "50 more entries were left out of the tree."


def test_symbolic_link_member_is_left_out(make_wheel):
    link = zipfile.ZipInfo("sglang/link.py")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    tree = open_source(str(make_wheel({link: b"/etc/passwd"})))
    assert tree.files() == PYTHON
    assert "sglang/link.py is left out of the tree: it is not a regular file." in messages(tree)


def test_member_named_twice_is_read_as_installers_do(make_wheel):
    path = make_wheel()
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("sglang/version.py", b"last")
    tree = open_source(str(path))
    assert tree.read("sglang/version.py") == b"last"
    assert "sglang/version.py is in the wheel twice" in messages(tree)


def test_bomb_of_one_member_is_left_out(make_wheel):
    noise = {"sglang/noise.bin": bytes(range(256)) * 800}
    path = make_wheel({"sglang/bomb.py": bytes(3 * 1024 * 1024), **noise})
    limits = Limits(archive_ratio=10_000)
    tree = open_wheel(path, Wanted("sglang", "sglang", limits))
    assert tree.files() == PYTHON
    assert "sglang/bomb.py is left out of the tree: it would unpack" in messages(tree)


def test_bomb_of_an_archive_is_refused(make_wheel):
    with pytest.raises(SourceError, match="refused as a zip bomb"):
        open_source(str(make_wheel({"sglang/bomb.py": bytes(8 * 1024 * 1024)})))


@pytest.mark.parametrize("limit", [{"entries": 3}, {"total_bytes": 10}])
def test_too_many_entries_or_bytes(make_wheel, limit):
    with pytest.raises(SourceError, match="far more than any release"):
        open_wheel(make_wheel(), Wanted("sglang", "sglang", Limits(**limit)))


def test_large_member_is_refused_on_reading(make_wheel):
    tree = open_wheel(make_wheel(), Wanted("sglang", "sglang", Limits(python_bytes=10)))
    with pytest.raises(SourceError, match="over the limit of 10 bytes"):
        tree.read("sglang/version.py")


def test_member_that_is_larger_than_declared_is_not_read_on(make_wheel):
    path = make_wheel({"sglang/lie.py": b"x" * 5000})
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        name_at = {b"PK\x01\x02": 46, b"PK\x03\x04": 30}[signature]
        position = data.find(signature)
        while data[position + name_at : position + name_at + 13] != b"sglang/lie.py":
            position = data.find(signature, position + 4)
        data[position + offset : position + offset + 4] = struct.pack("<I", 7)
    path.write_bytes(data)
    tree = open_source(str(path))
    with pytest.raises(SourceError, match="cannot be read"):
        tree.read("sglang/lie.py")


def test_damaged_member_is_one_sentence(make_wheel):
    path = make_wheel(base={}, extra={})
    with zipfile.ZipFile(path, "w") as archive:
        for name in PYTHON:
            archive.writestr(name, b"content of a file")
    path.write_bytes(path.read_bytes().replace(b"content of a file", b"Content of a file", 1))
    tree = open_source(str(path))
    with pytest.raises(SourceError, match="cannot be read"):
        tree.read("sglang/__init__.py")
    assert tree.read("sglang/version.py") == b"content of a file"
    assert tree.info.distribution.version is None
    assert "holds no METADATA" in messages(tree)


def test_encrypted_member_is_one_sentence(make_wheel):
    path = make_wheel()
    data = bytearray(path.read_bytes())
    position = data.find(b"PK\x01\x02")
    while position >= 0:
        data[position + 8] |= 1
        position = data.find(b"PK\x01\x02", position + 4)
    path.write_bytes(data)
    with pytest.raises(SourceError, match=r"not a readable wheel \(.*encrypted"):
        open_source(str(path))


@pytest.mark.parametrize("data", [b"", b"not a zip", b"PK\x03\x04" + bytes(50)])
def test_not_a_zip(tmp_path, data):
    path = tmp_path / "sglang-0.5.9-py3-none-any.whl"
    path.write_bytes(data)
    with pytest.raises(SourceError, match="not a readable wheel"):
        open_source(str(path))


def test_wheel_of_something_else(make_wheel):
    path = make_wheel(base={"vllm/__init__.py": b""}, name="vllm-0.9.0-py3-none-any.whl")
    with pytest.raises(SourceError, match="not a sglang wheel, because it lacks sglang/srt"):
        open_source(str(path))


def test_metadata_of_the_wanted_distribution_is_preferred(make_wheel):
    extra = {"a_vendored-1.0.dist-info/METADATA": b"Name: a-vendored\nVersion: 1.0\n"}
    assert open_source(str(make_wheel(extra))).info.distribution.version == "0.5.9"


def test_upstream_of_other_and_of_development_builds(make_wheel):
    base = {
        "flashinfer/__init__.py": b"",
        "flashinfer_python-0.6.3.dist-info/METADATA": b"Name: flashinfer-python\nVersion: 0.6.3",
    }
    path = make_wheel(base=base, name="flashinfer_python-0.6.3-py3-none-any.whl")
    tree = open_source(str(path), package="flashinfer", distribution="flashinfer-python")
    assert tree.info.upstream == "https://github.com/flashinfer-ai/flashinfer/blob/v0.6.3/"
    extra = {"sglang-0.5.10.dev3.dist-info/METADATA": b"Name: sglang\nVersion: 0.5.10.dev3+gabc"}
    base = dict.fromkeys(PYTHON, b"")
    assert open_source(str(make_wheel(extra, base=base))).info.upstream is None


def test_pickled_tree_reads_the_same_and_notices_a_change(make_wheel):
    path = make_wheel()
    tree = open_source(str(path))
    tree.read("sglang/version.py")
    data = pickle.dumps(tree)
    assert pickle.loads(data).read("sglang/version.py") == tree.read("sglang/version.py")
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(SourceError, match="changed since it was opened"):
        pickle.loads(data).read("sglang/version.py")


def _read_all(tree, times: int) -> int:
    return sum(len(tree.read(path)) for _ in range(times) for path in tree.files())


@pytest.mark.skipif(sys.platform == "win32", reason="fork")
def test_forked_workers_read_through_their_own_handle(make_wheel):
    tree = open_source(str(make_wheel()))
    expected = _read_all(pickle.loads(pickle.dumps(tree)), 1)
    tree.read("sglang/version.py")
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.starmap(_read_all, [(tree, 1)] * 4) == [expected] * 4


def test_relative_wheel_survives_a_change_of_folder(make_wheel, monkeypatch):
    path = make_wheel()
    monkeypatch.chdir(path.parent)
    tree = open_source(path.name)
    monkeypatch.chdir(Path(path.root))
    assert tree.read("sglang/version.py") == b'__version__ = "0.5.9"\n'
