"""Model folders made to mislead: what is not read is unknown, what is not there is not there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from sgl_audit.evaluate.resolver import Resolver
from sgl_audit.evaluate.standins import files
from sgl_audit.model.resolution import Launch, Outcome, Resolution
from sgl_audit.source import open_source

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
DENSE = FIXTURES / "models/dense_bf16/config.json"
posix = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")


def resolve(folder: Path) -> Resolution:
    launch = Launch("one", "sm90", ("--model-path", str(folder)))
    return Resolver(open_source(str(FIXTURES / "dataclass_2026"))).resolve(launch)


@posix
def test_a_link_out_of_the_folder_is_not_followed_and_not_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").symlink_to(DENSE)
    answer = resolve(tmp_path)
    assert answer.outcome is Outcome.UNKNOWN
    assert "is a link out of the model folder" in str(answer.reason)


@posix
def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_bytes(DENSE.read_bytes())
    (tmp_path / "config.json").symlink_to("real.json")
    assert resolve(tmp_path).outcome is Outcome.OK


@posix
@pytest.mark.parametrize("kind", ["pipe", "circle", "device", "folder"])
def test_what_is_no_file_is_not_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "config.json"
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "circle":
            path.symlink_to("config.json")
        case "device":
            path.symlink_to("/dev/zero")
        case _:
            path.mkdir()
    assert resolve(tmp_path).outcome is not Outcome.OK


def test_a_large_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 1000)
    (tmp_path / "config.json").write_bytes(DENSE.read_bytes() + b" " * 1000)
    answer = resolve(tmp_path)
    assert answer.outcome is Outcome.UNKNOWN
    assert "MB that sgl-audit reads" in str(answer.reason)


@pytest.mark.parametrize("text", ["", "[1, 2]", "{", "[" * 100_000, "null", '"x"'])
def test_what_is_no_model_is_not_accepted(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text)
    assert resolve(tmp_path).outcome is not Outcome.OK
