"""From a value to a report in the form asked, and where it goes."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sgl_audit.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

STDOUT = "-"
TERMINAL = "terminal"
_SUFFIXES = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": TERMINAL,
    ".text": TERMINAL,
    ".log": TERMINAL,
    ".dot": "dot",
    ".gv": "dot",
    ".graphml": "graphml",
    ".mmd": "mermaid",
    ".sarif": "sarif",
    ".xml": "junit",
    ".csv": "csv",
}
_SARIF_JSON = ".sarif.json"
_FILE_WIDTH = 100
# Narrower than this nothing can be read.
_LEAST_WIDTH = 20


@dataclass(frozen=True, slots=True)
class Target:
    """One report: its form, and a path or "-"."""

    form: str
    path: str


def targets(
    form: str | None, outputs: Sequence[str], known: Sequence[str], default: str = TERMINAL
) -> tuple[Target, ...]:
    """What is to be written where.

    Args:
        form: of `--format`, where it was given.
        outputs: every `-o`.
        known: the forms that the command has.

    Raises:
        UsageError: a suffix names another form than `--format`, one that the command lacks or none
            at all; or a path cannot be written, or is there twice.
    """
    _check(outputs, form, known)
    if not outputs:
        return (Target(form or default, STDOUT),)
    if STDOUT in outputs:
        # Then --format speaks of stdout, and each file is written as it is named.
        return tuple(
            Target(_form(path, form if path == STDOUT else None, known, default), path)
            for path in outputs
        )
    return tuple(Target(_form(path, form, known, default), path) for path in outputs)


def _form(path: str, form: str | None, known: Sequence[str], default: str) -> str:
    named = None if path == STDOUT else _named(path)
    if named is None or named == form:
        return form or default
    # A list of JSON values is one thing under two names here.
    if form is not None and {named, form} != {"json", "jsonl"}:
        raise UsageError(
            f"-o {path} is named as {named} and --format says {form}; drop one of the two"
        )
    if form is None and named not in known:
        raise UsageError(
            f"-o {path}: there is no {named} of this; the forms are {', '.join(known)}"
        )
    return form or named


def _named(path: str) -> str | None:
    if path.lower().endswith(_SARIF_JSON):
        return "sarif"
    return _SUFFIXES.get(Path(path).suffix.lower())


def _check(outputs: Sequence[str], form: str | None, known: Sequence[str]) -> None:
    from sgl_audit_reports.output import check_target

    seen: dict[str, str] = {}
    for path in outputs:
        check_target(path)
        suffix = "" if path == STDOUT else Path(path).suffix
        by_name = form is None or STDOUT in outputs
        if by_name and suffix and _named(path) is None:
            raise UsageError(
                f"-o {path}: {suffix} names no form of report; the forms of this are "
                f"{', '.join(known)}: choose one with --format"
            )
        place = path if path == STDOUT else os.path.realpath(path)
        if place in seen:
            both = path if seen[place] == path else f"{seen[place]} and {path}"
            raise UsageError(f"-o {both} would be written twice; give each file once")
        seen[place] = path


def write(all_targets: Sequence[Target], render: Callable[[Target], str]) -> None:
    """Render and write every target."""
    from sgl_audit.cli.stderr import say
    from sgl_audit_reports.output import write_report

    for target in all_targets:
        written = write_report(render(target), target.path)
        if written is not None:
            say(f"wrote {written}")


def on_terminal(render: Callable[[Console], None], target: str, color: str) -> str:
    """What a terminal report prints, as text.

    Rendered aside and written at once, so that a reader that goes away (`| head`) is no error.
    """
    from sgl_audit_reports.terminal import make_console

    live = target == STDOUT
    encoding = (sys.stdout.encoding if live else None) or "utf-8"
    buffer = io.BytesIO()
    stream = io.TextIOWrapper(buffer, encoding=encoding, newline="\n", write_through=True)
    console = make_console(stream, color=_color(color, live), width=_width(live))
    render(console)
    stream.flush()
    return buffer.getvalue().decode(encoding)


def _color(color: str, live: bool) -> str:
    if color != "auto":
        return color
    if os.environ.get("NO_COLOR") or not live:
        return "never"
    if os.environ.get("FORCE_COLOR"):
        return "always"
    capable = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    return "always" if capable else "never"


def _width(live: bool) -> int:
    if not live:
        return _FILE_WIDTH
    fallback = (80, 24)
    columns = os.environ.get("COLUMNS", "")
    if sys.stdout.isatty() or columns.isdigit():
        return max(_LEAST_WIDTH, shutil.get_terminal_size(fallback).columns)
    return fallback[0]
