#!/usr/bin/env python3
"""Run the examples of the documentation and write what they print; with --check only compare.

An example is a fenced block of `console` below a line `<!-- real output -->`. Its first line is
`$ sgl-audit ...`; what follows is replaced. `| head -N` is understood, and `; echo $?`. Commands
run in a folder that holds the demonstration tree as `sglang-demo`, models as `models`, and the
launches of `examples/launches`.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
_BLOCK = re.compile(r"(<!-- real output -->\n+```console\n)(.*?)(^```$)", re.DOTALL | re.MULTILINE)
_HEAD = re.compile(r"\s*\|\s*head -n? ?(\d+)\s*$")
_STATUS = re.compile(r"\s*;\s*echo \$\?\s*$")


@dataclass(frozen=True)
class Example:
    """One block: the page, the command as written, and what stands below it."""

    page: Path
    command: str
    output: str

    @property
    def name(self) -> str:
        """How messages and tests call it."""
        return f"{self.page.relative_to(ROOT)}: {self.command}"


def examples(page: Path) -> Iterator[Example]:
    """The examples of a page, in order."""
    for block in _BLOCK.finditer(page.read_text("utf-8")):
        command, output = _split(block[2])
        yield Example(page, command, output)


def _split(body: str) -> tuple[str, str]:
    lines = body.splitlines(keepends=True)
    count = 1
    while lines[count - 1].rstrip("\n").endswith("\\"):
        count += 1
    return "".join(lines[:count]).removeprefix("$ ").rstrip("\n"), "".join(lines[count:])


def prepared(folder: Path) -> None:
    """Lay out what the commands name."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "analyzer/sgl_audit/demo", folder / "sglang-demo", ignore=ignored)
    shutil.copytree(ROOT / "fixtures/models", folder / "models")
    shutil.copytree(ROOT / "examples/launches", folder / "deploy")


def ran(command: str, folder: Path) -> str:
    """What the command prints, both streams, as the block is to show it."""
    words = command.replace("\\\n", " ")
    status = _STATUS.search(words)
    words = _STATUS.sub("", words)
    head = _HEAD.search(words)
    arguments = shlex.split(_HEAD.sub("", words))
    if arguments[0] != "sgl-audit":
        raise SystemExit(f"an example is no sgl-audit command: {command}")
    keep = {key: value for key, value in os.environ.items() if not key.startswith("SGL_AUDIT")}
    environment = keep | {
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "SGL_AUDIT_CACHE_DIR": str(folder / ".cache"),
        "SGL_AUDIT_OFFLINE": "1",
        "HF_HUB_CACHE": str(folder / ".hub"),
    }
    done = subprocess.run(
        [sys.executable, "-m", "sgl_audit", *arguments[1:]],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    # The folder has another name every time.
    text = done.stdout.replace(str(folder.resolve()), "/home/you").replace(str(folder), "/home/you")
    lines = [line.rstrip() for line in text.splitlines()]
    if head is not None and len(lines) > int(head[1]):
        lines = lines[: int(head[1])]
    if status is not None:
        lines.append(str(done.returncode))
    if done.returncode > 1 and status is None:
        raise SystemExit(f"{command} ended with {done.returncode}: {done.stdout}")
    return "".join(f"{line}\n" for line in lines)


def written(page: Path, folder: Path) -> str:
    """The page with its outputs made anew."""

    def block(found: re.Match[str]) -> str:
        command, _ = _split(found[2])
        return f"{found[1]}$ {command}\n{ran(command, folder)}{found[3]}"

    return _BLOCK.sub(block, page.read_text("utf-8"))


def main(arguments: list[str]) -> int:
    """Write, or compare."""
    stale = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepared(folder)
        for page in PAGES:
            before = page.read_text("utf-8")
            after = written(page, folder)
            if before == after:
                continue
            stale = True
            print(page.relative_to(ROOT))
            if "--check" not in arguments:
                page.write_text(after, "utf-8")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
