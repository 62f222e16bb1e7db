"""Folders: layouts, metadata, and what must not be followed or read."""

from __future__ import annotations

import os
import pickle
import socket
import sys
from pathlib import Path

import pytest

from sgl_audit.errors import SourceError
from sgl_audit.model.source import SourceKind
from sgl_audit.source import open_source
from sgl_audit.source.folder import open_folder
from sgl_audit.source.limits import Limits
from sgl_audit.source.wanted import Wanted

PYTHON = (
    "sglang/__init__.py",
    "sglang/srt/__init__.py",
    "sglang/srt/server_args.py",
    "sglang/version.py",
)
UPSTREAM = "https://github.com/sgl-project/sglang/blob/v0.5.9/python/"
posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX file types")


def wanted(**limits: int) -> Wanted:
    return Wanted("sglang", "sglang", Limits(**limits))


def messages(tree) -> str:
    return "\n".join(diagnostic.message for diagnostic in tree.info.diagnostics)


@pytest.mark.parametrize("part", ["", "python", "python/sglang"])
def test_every_level_of_a_checkout_gives_the_same_tree(checkout, part):
    tree = open_source(str(checkout / part))
    assert tree.files() == PYTHON
    assert tree.read("sglang/srt/server_args.py") == b'CHOICES = ["auto"]\n'
    assert tree.info.kind is SourceKind.CHECKOUT
    assert tree.info.upstream == UPSTREAM
    distribution = tree.info.distribution
    assert (distribution.version, distribution.pin("flashinfer-python")) == ("0.5.9", "0.6.3")
    assert tree.info.diagnostics == ()


def test_label_is_the_folder_name_without_the_path_above(checkout):
    assert open_source(str(checkout)).info.label == "repo"


def test_current_folder(checkout, monkeypatch):
    monkeypatch.chdir(checkout / "python" / "sglang")
    tree = open_source(".")
    assert (tree.files(), tree.info.label) == (PYTHON, "sglang")


def test_package_folder_under_another_name_keeps_its_tree_paths(checkout):
    renamed = (checkout / "python" / "sglang").rename(checkout / "sglang-main")
    tree = open_source(str(renamed))
    assert tree.files() == PYTHON
    assert tree.info.distribution.version == "0.5.9"


def test_unpacked_wheel_takes_its_metadata_file(tmp_path, write_files):
    info = b"Name: sglang\nVersion: 0.5.23\nRequires-Dist: torch==2.14.1\n"
    files = dict.fromkeys(PYTHON, b"") | {"sglang-0.5.23.dist-info/METADATA": info}
    tree = open_source(str(write_files(tmp_path, files)))
    assert tree.info.distribution.version == "0.5.23"
    assert tree.info.distribution.pin("torch") == "2.14.1"


def test_other_distribution_in_src_layout(tmp_path, write_files):
    files = {
        "setup.py": b"",
        "src/transformers/__init__.py": b'__version__ = "5.3.0"\n',
        "src/transformers/models/auto.py": b"x = 1\n",
    }
    root = write_files(tmp_path / "hf", files)
    tree = open_source(str(root), package="transformers", distribution="transformers")
    assert tree.files() == ("transformers/__init__.py", "transformers/models/auto.py")
    assert tree.info.distribution.version == "5.3.0"
    assert tree.info.upstream == "https://github.com/huggingface/transformers/blob/v5.3.0/src/"


def test_has_means_python_and_read_reaches_other_members(checkout):
    tree = open_source(str(checkout))
    assert tree.has("sglang/version.py")
    assert not tree.has("sglang/srt/configs/x.json")
    assert tree.read("sglang/srt/configs/x.json") == b'{"a": 1}'
    for path in ("sglang/nothing.py", "sglang/../pyproject.toml", "/etc/passwd"):
        with pytest.raises(KeyError):
            tree.read(path)


def test_pickled_tree_reads_the_same(checkout):
    tree = open_source(str(checkout))
    tree.read("sglang/version.py")
    copy = pickle.loads(pickle.dumps(tree))
    assert copy.info == tree.info
    assert [copy.read(path) for path in copy.files()] == [tree.read(path) for path in PYTHON]


@posix
def test_links_out_loops_and_special_files_are_left_out(checkout, tmp_path):
    package = checkout / "python" / "sglang"
    (tmp_path / "secret.py").write_text("secret")
    (package / "out.py").symlink_to(tmp_path / "secret.py")
    (package / "loop.py").symlink_to("loop.py")
    (package / "gone.py").symlink_to("nowhere.py")
    (package / "again").symlink_to("..", target_is_directory=True)
    (package / "self").symlink_to(package / "srt", target_is_directory=True)
    os.mkfifo(package / "pipe.py")
    tree = open_source(str(checkout))
    assert tree.files() == PYTHON
    text = messages(tree)
    for name in ("out.py", "loop.py", "gone.py", "again", "self", "pipe.py"):
        assert f"{name} is left out of the tree" in text


@posix
def test_socket_is_left_out(tmp_path, write_files, monkeypatch):
    write_files(tmp_path, dict.fromkeys(PYTHON, b""))
    monkeypatch.chdir(tmp_path / "sglang")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("sock.py")
        assert "sock.py is left out" in messages(open_source(str(tmp_path)))


@posix
def test_link_to_a_file_of_the_package_is_that_file(checkout):
    package = checkout / "python" / "sglang"
    (package / "alias.py").symlink_to("srt/server_args.py")
    tree = open_source(str(checkout))
    assert tree.read("sglang/alias.py") == tree.read("sglang/srt/server_args.py")


@posix
def test_package_that_is_a_link_out_of_the_folder_is_refused(checkout, tmp_path):
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    (hostile / "sglang").symlink_to(checkout / "python" / "sglang", target_is_directory=True)
    with pytest.raises(SourceError, match=r"symbolic link out of .*hostile"):
        open_source(str(hostile))


@posix
def test_file_replaced_by_a_link_after_opening_is_not_followed(checkout, tmp_path):
    tree = open_source(str(checkout))
    (tmp_path / "secret.py").write_text("secret")
    (checkout / "python/sglang/version.py").unlink()
    (checkout / "python/sglang/version.py").symlink_to(tmp_path / "secret.py")
    with pytest.raises(SourceError, match="cannot be read"):
        tree.read("sglang/version.py")


@posix
def test_file_replaced_by_a_pipe_after_opening_does_not_block(checkout):
    tree = open_source(str(checkout))
    (checkout / "python/sglang/version.py").unlink()
    os.mkfifo(checkout / "python/sglang/version.py")
    with pytest.raises(SourceError, match="not a regular file"):
        tree.read("sglang/version.py")


@pytest.mark.skipif(sys.platform != "linux", reason="file systems that take any bytes as names")
def test_odd_names_are_left_out_and_shown_escaped(checkout):
    package = os.fsencode(checkout / "python" / "sglang")
    for name in (b"bad\xff.py", b"new\nline.py", b"esc\x1b[31m.py", "rtl\u202e.py".encode()):
        os.close(os.open(package + b"/" + name, os.O_CREAT | os.O_WRONLY))
    tree = open_source(str(checkout))
    assert tree.files() == PYTHON
    text = messages(tree)
    for part in (r"bad\udcff.py", r"new\nline.py", r"esc\x1b[31m.py", r"rtl\u202e.py"):
        assert part in text
    assert all(diagnostic.message.isprintable() for diagnostic in tree.info.diagnostics)


def test_unicode_names_that_can_be_shown_are_kept(checkout):
    (checkout / "python/sglang/größe.py").write_bytes(b"")
    assert "sglang/größe.py" in open_source(str(checkout)).files()


def test_compiled_files_are_no_matter(checkout, write_files):
    write_files(checkout, {"python/sglang/__pycache__/a.cpython-311.pyc": b"", "x/y": b""})
    assert open_source(str(checkout)).info.diagnostics == ()


def test_large_file_is_listed_and_refused_on_reading(checkout):
    tree = open_folder(checkout, wanted(python_bytes=10))
    assert "sglang/srt/server_args.py" in tree.files()
    with pytest.raises(SourceError, match="over the limit of 10 bytes"):
        tree.read("sglang/srt/server_args.py")
    assert tree.read("sglang/__init__.py") == b""


def test_file_that_grew_after_opening_is_refused(checkout):
    tree = open_folder(checkout, wanted(python_bytes=30))
    (checkout / "python/sglang/version.py").write_bytes(b"#" * 31)
    with pytest.raises(SourceError, match="over the limit"):
        tree.read("sglang/version.py")


def test_too_many_entries_too_much_python_and_too_deep(checkout):
    with pytest.raises(SourceError, match="over 3 entries"):
        open_folder(checkout, wanted(entries=3))
    with pytest.raises(SourceError, match="over 20 bytes of Python"):
        open_folder(checkout, wanted(python_total_bytes=20))
    tree = open_folder(checkout, wanted(depth=1))
    assert "srt/configs is left out of the tree: it lies over 1 folders deep." in messages(tree)


def test_folder_without_the_package(tmp_path):
    with pytest.raises(SourceError, match="holds no sglang package; give a sglang checkout"):
        open_source(str(tmp_path))


def test_folder_with_an_empty_package_says_what_it_lacks(tmp_path, write_files):
    write_files(tmp_path, {"python/sglang/__init__.py": b""})
    with pytest.raises(SourceError, match="because it lacks srt"):
        open_source(str(tmp_path))


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read all")
def test_unreadable_folder_becomes_a_diagnostic(checkout):
    locked: Path = checkout / "python/sglang/srt/configs"
    locked.chmod(0)
    try:
        assert "the folder cannot be read" in messages(open_source(str(checkout)))
    finally:
        locked.chmod(0o755)
