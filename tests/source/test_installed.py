"""No SOURCE: what is installed here, found without importing it, or the demonstration tree."""

from __future__ import annotations

import json
import sys

import pytest

from sgl_audit.errors import SourceError
from sgl_audit.model.source import SourceKind
from sgl_audit.source import open_source
from sgl_audit.source.installed import open_installed
from sgl_audit.source.wanted import Wanted

BOOBY_TRAP = b"raise SystemExit('imported')\n"
METADATA = b"Name: sglang\nVersion: 0.5.9\nRequires-Dist: torch==2.9.1\n"
INSTALLED = {
    "sglang/__init__.py": BOOBY_TRAP,
    "sglang/srt/__init__.py": BOOBY_TRAP,
    "sglang-0.5.9.dist-info/METADATA": METADATA,
}
WANTED = Wanted("sglang", "sglang")


@pytest.fixture
def site(tmp_path, monkeypatch):
    """An empty folder that is the whole of sys.path, beside an unrelated current folder."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    monkeypatch.setattr(sys, "path", ["", str(tmp_path / "cwd"), str(folder), "/nope.zip"])
    return folder


def test_installed(site, write_files):
    write_files(site, INSTALLED)
    tree = open_source(None)
    assert (tree.info.kind, tree.info.label) == (SourceKind.INSTALLED, "sglang 0.5.9")
    assert tree.files() == ("sglang/__init__.py", "sglang/srt/__init__.py")
    assert tree.info.distribution.pin("torch") == "2.9.1"
    assert "sglang" not in sys.modules


def test_editable_install_is_its_checkout(site, checkout, write_files):
    record = {"url": (checkout / "python").as_uri(), "dir_info": {"editable": True}}
    info = {"METADATA": METADATA, "direct_url.json": json.dumps(record).encode()}
    write_files(site, {f"sglang-0.5.9.dist-info/{name}": data for name, data in info.items()})
    tree = open_source(None)
    assert tree.info.kind is SourceKind.INSTALLED
    assert "sglang/srt/server_args.py" in tree.files()


@pytest.mark.parametrize("record", [b"{", b"[]", b'{"url": 1}', b'{"url": "https://x/y.git"}'])
def test_package_without_metadata_is_found_on_the_path(site, write_files, record):
    other = {path: data for path, data in INSTALLED.items() if path.startswith("sglang/")}
    write_files(site, {"sglang-0.5.9.dist-info/direct_url.json": record})
    write_files(site.parent / "second", other)
    sys.path.append(str(site.parent / "second"))
    tree = open_source(None)
    assert tree.files() == ("sglang/__init__.py", "sglang/srt/__init__.py")


def test_current_folder_is_not_the_environment(site, write_files):
    write_files(site.parent / "cwd", INSTALLED)
    with pytest.raises(SourceError, match="is installed in this environment"):
        open_installed(WANTED, print, site / "no-demo")


def test_demonstration_tree_is_said_plainly(site, write_files, tmp_path):
    demo = write_files(tmp_path / "demo", INSTALLED)
    said: list[str] = []
    tree = open_installed(WANTED, said.append, demo)
    assert (tree.info.kind, tree.info.label) == (SourceKind.DEMO, "bundled demonstration tree")
    assert tree.info.distribution.version == "0.5.9"
    assert said == [
        "no sglang is installed in this environment: reading the bundled demonstration tree instead"
    ]


def test_other_distribution_has_no_demonstration(site):
    with pytest.raises(SourceError, match="no flashinfer-python is installed"):
        open_source(None, package="flashinfer", distribution="flashinfer-python")
