"""`NAME==VERSION`: a released wheel, fetched once by the user's own pip."""

from __future__ import annotations

import contextlib
import importlib.util
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from sgl_audit.errors import SourceError, UsageError
from sgl_audit.model.source import SourceKind
from sgl_audit.source.cache import WheelCache, cache_root
from sgl_audit.source.names import shown
from sgl_audit.source.wanted import Wanted
from sgl_audit.source.wheel import WheelTree, open_wheel

# From 0.5.15 on SGLang's wheels are for Linux and one Python each; 3.11 has been there throughout.
_PYTHONS = ("3.11", "3.12", "3.10", "3.13")
_GLIBC = ("2_39", "2_38", "2_35", "2_34", "2_31", "2_28", "2_27", "2_24", "2_17")
_MACHINES = ("x86_64", "aarch64")
_LEADING_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_ABSENT = re.compile(r"No matching distribution found|Could not find a version")
_OFFERED = re.compile(r"\(from versions: ([^)]*)\)")
_NETWORK = re.compile(r"Retrying|ConnectionError|connection broken|timed out|SSLError|ProxyError")


def parse_pypi_spec(text: str, wanted: Wanted) -> Version:
    """The exact version that `text` asks for.

    Raises:
        UsageError: it is no requirement, of something else, or not one exact version.
    """
    try:
        requirement: Requirement | None = Requirement(text)
    except InvalidRequirement:
        requirement = None
    name = _LEADING_NAME.match(text)
    if name is None or canonicalize_name(name[0]) != wanted.normal_name:
        raise UsageError(
            f"'{shown(text)}' is no existing file or folder, no DIR@GITREF and no release of "
            f"{wanted.distribution}; give a checkout, a wheel file or "
            f"{wanted.distribution}=={_example(wanted)}."
        )
    specifiers = [] if requirement is None else list(requirement.specifier)
    if len(specifiers) == 1 and specifiers[0].operator == "==":
        with contextlib.suppress(InvalidVersion):
            return Version(specifiers[0].version)
    raise UsageError(
        f"'{shown(text)}' does not name one exact release; write {wanted.distribution}==VERSION, "
        f"for example {wanted.distribution}=={_example(wanted)}."
    )


def _example(wanted: Wanted) -> str:
    return "0.5.23" if wanted.normal_name == "sglang" else "VERSION"


def open_pypi(
    text: str,
    wanted: Wanted,
    *,
    offline: bool,
    cache_dir: Path | None,
    notify: Callable[[str], None],
) -> WheelTree:
    """Open a release from the cache, fetching its wheel first where it is not there.

    Raises:
        UsageError: `text` is not `NAME==VERSION`.
        SourceError: it is not cached and `offline`, or pip cannot get it.
    """
    version = parse_pypi_spec(text, wanted)
    spec = f"{wanted.distribution}=={version}"
    cache = WheelCache(cache_root(cache_dir), wanted.normal_name, version)
    path = cache.find()
    if path is None and offline:
        raise SourceError(
            f"{spec} is not in the cache ({shown(cache.folder)}) and --offline fetches nothing; "
            "run once without --offline, or give a wheel file."
        )
    if path is None:
        notify(f"fetching {spec} with pip into {shown(cache.folder)}")
        path = _fetch(spec, cache)
    if not zipfile.is_zipfile(path):
        raise SourceError(
            f"the cached wheel of {spec} is damaged; delete {shown(path)} and run again."
        )
    return open_wheel(path, wanted, SourceKind.PYPI, spec)


def _fetch(spec: str, cache: WheelCache) -> Path:
    pip = pip_command(spec)
    with cache.staging() as staging:
        output = ""
        for python in _PYTHONS:
            status, output = _run(pip, _arguments(spec, python, staging), staging)
            path = cache.store(staging) if status == 0 else None
            if path is not None:
                return path
            if not _ABSENT.search(output) or _NETWORK.search(output):
                break
    raise _failed(spec, output)


def pip_command(spec: str) -> list[str]:
    """How the user's own pip is started; `spec` is what it is wanted for.

    Raises:
        SourceError: there is none.
    """
    """How the user's own pip is started.

    Raises:
        SourceError: there is none; `spec` is what it was wanted for.
    """
    if importlib.util.find_spec("pip") is not None:
        # -P keeps a pip.py in the current folder from running in its place.
        return [sys.executable, "-P", "-m", "pip"]
    found = shutil.which("pip") or shutil.which("pip3")
    if found is None:
        raise SourceError(
            f"{spec} is not in the cache and this Python ({sys.executable}) has no pip to fetch "
            "it; install pip, or download the wheel and give its file."
        )
    return [found]


def _arguments(spec: str, python: str, folder: Path) -> list[str]:
    tag = f"cp{python.replace('.', '')}"
    platforms = [
        f"{kind}_{machine}"
        for machine in _MACHINES
        for kind in (*(f"manylinux_{glibc}" for glibc in _GLIBC), "manylinux2014", "linux")
    ]
    return [
        "download",
        "--no-deps",
        "--only-binary=:all:",
        "--no-input",
        "--disable-pip-version-check",
        "--progress-bar=off",
        "--retries=2",
        "--timeout=20",
        f"--dest={folder}",
        "--implementation=cp",
        f"--python-version={python}",
        *(f"--abi={abi}" for abi in (tag, "abi3", "none")),
        *(f"--platform={platform}" for platform in (*platforms, "any")),
        spec,
    ]


def _run(pip: list[str], arguments: list[str], folder: Path) -> tuple[int, str]:
    try:
        done = subprocess.run(
            [*pip, *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    except OSError as error:
        return 1, str(error)
    return done.returncode, done.stdout.decode("utf-8", errors="replace")


def _failed(spec: str, output: str) -> SourceError:
    offered = _OFFERED.search(output)
    if _ABSENT.search(output) and not _NETWORK.search(output):
        names = [] if offered is None else offered[1].replace("none", "").split(", ")
        latest = f" (pip finds {', '.join(names[-3:])})" if any(names) else ""
        return SourceError(
            f"pip finds no Linux wheel of {spec} for Python {', '.join(_PYTHONS)}{latest}; check "
            "the version, or give a checkout."
        )
    lines = [line for line in output.splitlines() if "ERROR" in line] or output.splitlines()[-1:]
    said = shown(lines[0].strip()) if lines else "no output"
    return SourceError(
        f"pip could not fetch {spec} ({said}); check the network and pip's settings, or give a "
        "wheel file."
    )
