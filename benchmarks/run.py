"""What the tool costs, beside what people do without it. Prints one table a release.

    python benchmarks/run.py [VERSION ...]

Everything is measured in this one run, so that ratios hold: machines differ and share their
cores. Times are seconds of CPU of a process with its children, then seconds on the clock in
brackets; memory is the largest process. With SGL_AUDIT_SERVERS (see tests/server/install.sh) it
also starts SGLang's own resolver for one launch.
"""

from __future__ import annotations

import ast
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from packaging.version import Version

from sgl_audit import api
from sgl_audit.audit.facts import read_tree
from sgl_audit.model.capability import ALL_CAPABILITIES
from sgl_audit.model.source import SourceTree

VERSIONS = ("0.5.4", "0.5.9", "0.5.15", "0.5.23")
ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache"
MODEL = ROOT / "fixtures" / "models" / "fp8_moe"
STANDIN = ROOT / "tests" / "server" / "standin"
BATCH = 200
# A file that launches never read, one that they do, and the one that decides most.
CHANGED = (
    "sglang/srt/entrypoints/openai/serving_chat.py",
    "sglang/srt/layers/moe/utils.py",
    "sglang/srt/server_args.py",
)
TOOL = (sys.executable, "-m", "sgl_audit")
OWN_RESOLVER = (
    "import sys; from sglang.srt.server_args import prepare_server_args; "
    "prepare_server_args(sys.argv[1:])"
)


@dataclass(frozen=True)
class Cost:
    """Of one process with its children."""

    cpu: float
    wall: float
    mib: float

    def __str__(self) -> str:
        return f"{self.cpu:7.2f} s ({self.wall:6.2f} s) {self.mib:6.0f} MiB"


def cost(words: Sequence[str], variables: Mapping[str, str] = {}) -> Cost:
    """Run a program; its output is thrown away.

    A process in between measures, so that the memory is that of this program alone.
    """
    script = (
        "import resource, subprocess, sys, time, json; start = time.monotonic();"
        "subprocess.run(json.loads(sys.argv[1]), stdout=subprocess.DEVNULL,"
        " stderr=subprocess.DEVNULL);"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(used.ru_utime + used.ru_stime, time.monotonic() - start, used.ru_maxrss / 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", script, json.dumps(list(words))],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return Cost(*map(float, done.stdout.split()))


def best(words: Sequence[str], times: int = 5, variables: Mapping[str, str] = {}) -> Cost:
    """The quickest of some runs."""
    return min((cost(words, variables) for _ in range(times)), key=lambda item: item.wall)


def here(run: Iterator[object]) -> Cost:
    """Of something done in this process."""
    # The collector would look through what this process holds besides.
    gc.collect()
    gc.disable()
    start, wall = time.process_time(), time.monotonic()
    for _ in run:
        pass
    gc.enable()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Cost(time.process_time() - start, time.monotonic() - wall, memory)


def parsed_files(tree: SourceTree) -> tuple[str, ...]:
    """The files that an audit on every capability parses."""
    seen: set[str] = set()
    original = ast.parse

    def noted(text: str, filename: str = "", mode: str = "exec", **more: Any) -> Any:
        seen.add(filename)
        return original(text, filename, mode, **more)

    with patch.object(ast, "parse", noted):
        read_tree(tree, capabilities=ALL_CAPABILITIES)
    return tuple(sorted(path for path in seen if tree.has(path)))


def parse(tree: SourceTree, paths: Sequence[str]) -> Iterator[object]:
    """Parse files with `ast`, one at a time."""
    for path in paths:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield ast.parse(tree.read(path))


def batch_file(folder: Path, count: int) -> str:
    """Launches that differ in what they ask for."""
    path = folder / "batch.jsonl"
    rows = [
        {
            "id": str(number),
            "arch": ("sm120", "sm100", "sm90")[number % 3],
            "argv": ["--model-path", str(MODEL), "--tp", str(1 + number % 8)],
        }
        for number in range(count)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def measure(version: str, folder: Path) -> Iterator[tuple[str, Cost, str]]:
    """Rows of the table: what, cost, and the ratio that counts."""
    tree = api.open_source(f"sglang=={version}", cache_dir=CACHE)
    wheel = str(next((CACHE / "wheels" / "sglang" / version).glob("*.whl")))
    unpacked = folder / version
    subprocess.run(["unzip", "-q", wheel, "-d", str(unpacked)], check=True)
    used = parsed_files(tree)
    syntax = here(parse(tree, used))
    yield f"ast.parse of the {len(used)} files used", syntax, ""
    again = api.open_source(f"sglang=={version}", cache_dir=CACHE)
    yield "reading their bytes", here(again.read(path) for path in used), ""
    names = "is_sm120\\|is_sm100\\|get_device_capability\\|_backend"
    yield "grep -rn for the same names", cost(["grep", "-rn", names, str(unpacked)]), ""
    source = f"sglang=={version}"
    for arch in ("all", "sm120"):
        kept = new_cache(folder / f"cache-{version}-{arch}")
        words = (*TOOL, source, "--arch", arch)
        cold = cost(words, kept)
        yield f"audit --arch {arch}, cold", cold, f"{cold.cpu / syntax.cpu:.1f} x ast.parse"
        yield f"audit --arch {arch}, again", best(words, variables=kept), ""
        yield from after_changes(unpacked, arch, new_cache(folder / f"changed-{version}-{arch}"))
    before = next((old for old in reversed(VERSIONS) if Version(old) < Version(version)), None)
    if before is not None:
        kept = new_cache(folder / f"cache-{version}-diff")
        words = (*TOOL, "diff", f"sglang=={before}", source, "--arch", "sm120")
        cold = cost(words, kept)
        yield f"diff {before} {version}, cold", cold, f"{cold.cpu / syntax.cpu:.1f} x ast.parse"
        yield f"diff {before} {version}, again", best(words, variables=kept), ""
    kept = new_cache(folder / f"cache-{version}")
    asked = (*TOOL, "resolve", source, "--arch", "sm120", "--", "--model-path", str(MODEL))
    cold = cost(asked, kept)
    warm = best(asked, variables=kept)
    own = own_resolver(version)
    against = f"; {own.wall / cold.wall:.1f} x faster than SGLang's own" if own else ""
    yield "resolve, cold", cold, f"{cold.cpu / syntax.cpu:.1f} x ast.parse{against}"
    against = f"{own.wall / warm.wall:.0f} x faster than SGLang's own" if own else ""
    yield "resolve, again", warm, against
    few, many = (
        cost((*TOOL, "resolve", source, "--batch", batch_file(folder, count)), kept)
        for count in (20, 20 + BATCH)
    )
    each = Cost((many.cpu - few.cpu) / BATCH, (many.wall - few.wall) / BATCH, many.mib)
    yield f"one launch more of a batch ({BATCH})", each, f"{1000 * each.wall:.0f} ms"
    if own:
        yield "SGLang's own resolver, one launch", own, ""


def new_cache(folder: Path) -> dict[str, str]:
    """The variables of a cache in which only wheels are."""
    folder.mkdir()
    (folder / "wheels").symlink_to(CACHE / "wheels")
    return {"SGL_AUDIT_CACHE_DIR": str(folder)}


def after_changes(
    unpacked: Path, arch: str, kept: Mapping[str, str]
) -> Iterator[tuple[str, Cost, str]]:
    """An audit of a folder each time after one of its files got another line."""
    words = (*TOOL, str(unpacked), "--arch", arch)
    cost(words, kept)
    for name in CHANGED:
        path = unpacked / name
        if path.is_file():
            path.write_bytes(path.read_bytes() + b"# another line\n")
            yield f"  after a change of {path.name}", cost(words, kept), ""


def own_resolver(version: str) -> Cost | None:
    """Start Python, import SGLang, resolve one launch; None where it is not installed."""
    python = Path(os.environ.get("SGL_AUDIT_SERVERS", "none"), version, "bin", "python")
    if not python.exists():
        return None
    words = (str(python), "-c", OWN_RESOLVER, "--model-path", str(MODEL), "--device", "cpu")
    variables = {"PYTHONPATH": str(STANDIN), "SGLANG_USE_CPU_ENGINE": "1", "HF_HUB_OFFLINE": "1"}
    cost(words, variables)
    return best(words, 3, variables)


def main() -> None:
    """Print the tables."""
    print(f"--help: {best((*TOOL, '--help'))}")
    for version in sys.argv[1:] or VERSIONS:
        print(f"\nsglang {version}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            for what, spent, ratio in measure(version, Path(folder)):
                print(f"  {what:42} {spent}  {ratio}", flush=True)


if __name__ == "__main__":
    main()
