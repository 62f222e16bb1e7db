"""NAME==VERSION: what is asked of pip, the cache, and failures."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sgl_audit.errors import SourceError, UsageError
from sgl_audit.model.source import SourceKind
from sgl_audit.source import open_source, pypi
from sgl_audit.source.cache import WheelCache, cache_root
from sgl_audit.source.wanted import Wanted

ABSENT = (
    "ERROR: Could not find a version that satisfies the requirement sglang==9.9 "
    "(from versions: 0.5.9, 0.5.22, 0.5.23)\nERROR: No matching distribution found"
)
OFFLINE = "WARNING: Retrying (Retry(total=0)) after connection broken\n" + ABSENT
WANTED = Wanted("sglang", "sglang")


class FakePip:
    """Stands in for the process: `answers` maps a Python version to output or a wheel."""

    def __init__(self, answers: dict[str, str | Path]) -> None:
        self.answers = answers
        self.calls: list[list[str]] = []

    def __call__(self, command: list[str], **options: object) -> subprocess.CompletedProcess[bytes]:
        self.calls.append(command)
        python = next(part.partition("=")[2] for part in command if part[:16] == "--python-version")
        folder = next(part.partition("=")[2] for part in command if part[:6] == "--dest")
        answer = self.answers.get(python, ABSENT)
        if isinstance(answer, str):
            return subprocess.CompletedProcess(command, 1, answer.encode())
        (Path(folder) / answer.name).write_bytes(answer.read_bytes())
        return subprocess.CompletedProcess(command, 0, b"")


@pytest.fixture
def fake_pip(monkeypatch, make_wheel):
    def install(**answers: str | Path) -> FakePip:
        pip = FakePip({key.replace("py", "3."): value for key, value in answers.items()})
        monkeypatch.setattr("sgl_audit.source.pypi.subprocess.run", pip)
        return pip

    return install


@pytest.mark.parametrize(
    "spec",
    [
        *("sglang", "sglang>=0.5", "sglang==0.5.*", "sglang===0.5.9", "sglang==0.5.9,!=1"),
        *("sglang==banana", "sglang @ https://example.org/x", "sglang@0.5.9", "SGLang~=0.5"),
    ],
)
def test_only_one_exact_release(spec):
    with pytest.raises(UsageError, match="write sglang==VERSION, for example sglang==0"):
        open_source(spec)


@pytest.mark.parametrize("spec", ["sglang==0.5.9", "SGLang == 0.5.9", "sglang[all]==v0.5.9"])
def test_spellings_of_one_release(spec):
    assert str(pypi.parse_pypi_spec(spec, WANTED)) == "0.5.9"


def test_fetched_once_and_announced(fake_pip, make_wheel, tmp_path):
    pip = fake_pip(py11=make_wheel())
    said: list[str] = []
    first = open_source("sglang==0.5.9", cache_dir=tmp_path / "cache", notify=said.append)
    second = open_source("sglang==0.5.9", cache_dir=tmp_path / "cache", notify=said.append)
    offline = open_source("sglang==0.5.9", cache_dir=tmp_path / "cache", offline=True)
    assert (first.info.kind, first.info.label) == (SourceKind.PYPI, "sglang==0.5.9")
    assert first.info == second.info == offline.info
    assert len(pip.calls) == len(said) == 1
    assert said[0].startswith("fetching sglang==0.5.9 with pip into ")
    assert [path.suffix for path in (tmp_path / "cache/wheels/sglang/0.5.9").iterdir()] == [".whl"]


def test_pip_is_told_platform_python_and_abi(fake_pip, make_wheel, tmp_path):
    pip = fake_pip(py12=make_wheel())
    open_source("sglang==0.5.9", cache_dir=tmp_path, notify=lambda _: None)
    assert len(pip.calls) == 2
    command = pip.calls[1]
    assert command[:4] == [sys.executable, "-P", "-m", "pip"]
    assert command[-1] == "sglang==0.5.9"
    for part in ("--no-deps", "--only-binary=:all:", "--implementation=cp", "--abi=cp312"):
        assert part in command
    platforms = [part.partition("=")[2] for part in command if part.startswith("--platform=")]
    assert platforms.index("manylinux_2_34_x86_64") < platforms.index("manylinux_2_34_aarch64")
    assert platforms[-1] == "any"


def test_offline_and_not_cached(tmp_path):
    with pytest.raises(SourceError, match=r"is not in the cache .* and --offline fetches nothing"):
        open_source("sglang==0.5.9", offline=True, cache_dir=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_release_that_does_not_exist(fake_pip, tmp_path):
    pip = fake_pip()
    with pytest.raises(
        SourceError, match=r"finds no Linux wheel .*pip finds 0.5.9, 0.5.22, 0.5.23"
    ):
        open_source("sglang==9.9", cache_dir=tmp_path, notify=lambda _: None)
    assert len(pip.calls) == 4
    assert list((tmp_path / "wheels/sglang").iterdir()) == []


@pytest.mark.parametrize("output", [OFFLINE, "ERROR: Broken \x1b[31mindex\nmore", ""])
def test_pip_fails_otherwise(fake_pip, tmp_path, output):
    pip = fake_pip(py11=output)
    with pytest.raises(SourceError, match=r"could not fetch sglang==9\.9") as caught:
        open_source("sglang==9.9", cache_dir=tmp_path, notify=lambda _: None)
    assert len(pip.calls) == 1
    assert str(caught.value).isprintable()


def test_wheel_of_another_version_is_not_taken(fake_pip, make_wheel, tmp_path):
    fake_pip(py11=make_wheel())
    with pytest.raises(SourceError, match="could not fetch"):
        open_source("sglang==0.5.10", cache_dir=tmp_path, notify=lambda _: None)


def test_damaged_wheel_in_the_cache_is_named(tmp_path):
    folder = tmp_path / "wheels/sglang/0.5.9"
    folder.mkdir(parents=True)
    (folder / "sglang-0.5.9-py3-none-any.whl").write_bytes(b"half")
    with pytest.raises(SourceError, match=r"is damaged; delete .*sglang-0.5.9-py3-none-any.whl"):
        open_source("sglang==0.5.9", cache_dir=tmp_path, offline=True)


def test_no_pip_in_this_python(monkeypatch, tmp_path):
    monkeypatch.setattr("sgl_audit.source.pypi.importlib.util.find_spec", lambda _: None)
    monkeypatch.setattr("sgl_audit.source.pypi.shutil.which", lambda _: None)
    with pytest.raises(SourceError, match="has no pip to fetch it; install pip"):
        open_source("sglang==0.5.9", cache_dir=tmp_path, notify=lambda _: None)
    monkeypatch.setattr("sgl_audit.source.pypi.shutil.which", lambda name: f"/bin/{name}")
    assert pypi.pip_command("x") == ["/bin/pip"]


def test_pip_in_the_current_folder_does_not_run(make_wheel, tmp_path, monkeypatch):
    (tmp_path / "pip.py").write_text(f"open({str(tmp_path / 'marker')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    status, output = pypi._run(pypi.pip_command("x"), ["--version"], tmp_path)
    assert (status, output.startswith("pip ")) == (0, True)
    assert not (tmp_path / "marker").exists()


def test_several_at_once_end_in_one_wheel(fake_pip, make_wheel, tmp_path):
    fake_pip(py11=make_wheel())
    trees: list[object] = []
    gate = threading.Barrier(4)

    def fetch() -> None:
        gate.wait()
        trees.append(open_source("sglang==0.5.9", cache_dir=tmp_path / "c", notify=lambda _: None))

    threads = [threading.Thread(target=fetch) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(trees) == 4
    assert len(list((tmp_path / "c/wheels/sglang/0.5.9").iterdir())) == 1


def test_cache_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(SourceError, match=r"cannot be written .* set SGL_AUDIT_CACHE_DIR"):
        open_source("sglang==0.5.9", cache_dir=tmp_path / "file", notify=lambda _: None)


def test_cache_folder_in_use_elsewhere(monkeypatch, tmp_path):
    cache = WheelCache(tmp_path, "sglang", pypi.parse_pypi_spec("sglang==0.5.9", WANTED))
    with cache.staging() as staging:
        wheel = staging / "sglang-0.5.9-py3-none-any.whl"
        wheel.write_bytes(b"new")
        (staging / "junk.whl").write_bytes(b"")

        def refuse(*_: object) -> None:
            raise PermissionError(13, "in use")

        monkeypatch.setattr(Path, "replace", refuse)
        with pytest.raises(PermissionError):
            cache.store(staging)
        assert cache.folder.is_dir()
        (cache.folder / wheel.name).write_bytes(b"there")
        assert cache.store(staging) == cache.folder / wheel.name
    assert not staging.exists()


def test_x86_wheel_is_found_before_others(tmp_path):
    cache = WheelCache(tmp_path, "sglang", pypi.parse_pypi_spec("sglang==0.5.15", WANTED))
    cache.folder.mkdir(parents=True)
    for machine in ("aarch64", "x86_64"):
        (cache.folder / f"sglang-0.5.15-cp311-cp311-manylinux_2_34_{machine}.whl").touch()
    found = cache.find()
    assert found is not None
    assert found.name.endswith("x86_64.whl")


def test_cache_folder_order(monkeypatch, tmp_path):
    monkeypatch.setenv("SGL_AUDIT_CACHE_DIR", str(tmp_path / "named"))
    assert cache_root(tmp_path) == tmp_path
    assert cache_root(None) == tmp_path / "named"
    monkeypatch.delenv("SGL_AUDIT_CACHE_DIR")
    assert cache_root(None).name == "sgl-audit"


def test_announcement_goes_to_stderr(fake_pip, make_wheel, tmp_path, capsys):
    fake_pip(py11=make_wheel())
    open_source("sglang==0.5.9", cache_dir=tmp_path)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("sgl-audit: fetching sglang==0.5.9 with pip into ")


@pytest.mark.real
def test_real_release(real_cache):
    tree = open_source("sglang==0.4.10", cache_dir=real_cache)
    assert len(tree.files()) == 467
    assert tree.info.distribution.version == "0.4.10"
    assert tree.info.distribution.pin("flashinfer-python") == "0.2.9rc2"
    assert b"class ServerArgs" in tree.read("sglang/srt/server_args.py")
    assert open_source("sglang==0.4.10", cache_dir=real_cache, offline=True).info == tree.info
