"""What the words of a user are taken for, and the sentence when they are nothing."""

from __future__ import annotations

import os
import sys

import pytest

from sgl_audit.errors import SourceError, UsageError
from sgl_audit.source import open_source


@pytest.mark.parametrize("spec", ["", "  ", "a\0b"])
def test_no_words(spec):
    with pytest.raises(UsageError, match="is no SOURCE"):
        open_source(spec)


@pytest.mark.parametrize("spec", ["/nope/sglang", "./nope", "sglang-0.5.9.whl", "~/x@v1"])
def test_missing_path(spec):
    with pytest.raises(SourceError, match="does not exist"):
        open_source(spec)


@pytest.mark.parametrize("spec", ["vllm==0.9", "-r", "--output=x", "nope@v1", "a\nb", "x" * 9000])
def test_nothing_known(spec):
    with pytest.raises(UsageError, match="is no existing file or folder") as caught:
        open_source(spec)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


@pytest.mark.skipif(sys.platform == "win32", reason="FIFO")
def test_pipe_is_refused_without_waiting_for_a_writer(tmp_path):
    for name in ("pipe", "sglang-0.5.9-py3-none-any.whl"):
        os.mkfifo(tmp_path / name)
        with pytest.raises(SourceError, match="neither a file nor a folder"):
            open_source(str(tmp_path / name))


@pytest.mark.parametrize("name", ["sglang-0.5.9.tar.gz", "sglang-0.5.9.zip", "x.TGZ"])
def test_source_archives_are_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"PK")
    with pytest.raises(SourceError, match="is a source archive, which is not read"):
        open_source(str(tmp_path / name))


def test_other_file(tmp_path):
    (tmp_path / "server_args.py").write_bytes(b"")
    with pytest.raises(SourceError, match="is not a wheel; give a checkout folder"):
        open_source(str(tmp_path / "server_args.py"))


def test_existing_path_wins_over_other_forms(checkout, monkeypatch):
    odd = checkout.rename(checkout.parent / "sglang==0.5.9@v1")
    monkeypatch.chdir(odd.parent)
    assert open_source(odd.name).info.label == "sglang==0.5.9@v1"


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_link_loop_is_one_sentence(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(SourceError, match="loop"):
        open_source(str(tmp_path / "loop"))
