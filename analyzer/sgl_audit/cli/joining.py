"""`--evidence DIR` of the other commands: runs laid beside a report, in the report's own form."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from sgl_audit.cli.output import Target
from sgl_audit.cli.stderr import say
from sgl_audit.model.evidence import JoinedRun

Runs = tuple[JoinedRun, ...]


def read_runs(
    folder: Path | None,
    version: str | None,
    capabilities: Collection[str],
    argv: Sequence[str] | None = None,
    environment: Iterable[tuple[str, str]] = (),
) -> Runs | None:
    """The runs of a folder beside an answer about this version, capabilities and launch.

    Returns:
        None where no folder is given, so that reports do not speak of runs at all.

    Raises:
        UsageError: there is no such folder.
    """
    if folder is None:
        return None
    from sgl_audit.probe.joining import join
    from sgl_audit.probe.store import read_folder

    kept, unread = read_folder(folder)
    for item in unread:
        say(f"{item.path} is not read: {item.reason}")
    return join((item.evidence for item in kept), version, capabilities, argv, environment)


def with_runs(text: str, target: Target, runs: Runs | None, color: str) -> str:
    """A rendered report with its runs. Some forms hold them within, from when they are made."""
    if runs is None or target.form in ("html", "junit", "csv"):
        return text
    match target.form:
        case "json":
            return _in_json(text, runs, 2)
        case "jsonl":
            return "".join(_in_json(line, runs, None) for line in text.splitlines())
        case "markdown":
            from sgl_audit_reports.markdown.evidence import runs_to_markdown

            return f"{text.rstrip()}\n\n{runs_to_markdown(runs)}"
        case "github":
            from sgl_audit_reports.ci.evidence import runs_to_annotations

            return text + runs_to_annotations(runs)
        case "sarif":
            return _in_sarif(text, runs)
    from sgl_audit.cli.output import on_terminal
    from sgl_audit_reports.terminal import render_joined

    return text + on_terminal(lambda c: render_joined(runs, c), target.path, color)


def _in_sarif(text: str, runs: Runs) -> str:
    """In the property bag, where SARIF has room for what it does not know."""
    from sgl_audit_reports.json import dump
    from sgl_audit_reports.json.evidence import runs_json

    data = json.loads(text)
    for run in data["runs"]:
        run.setdefault("properties", {})["evidence"] = runs_json(runs)
    return dump(data) + "\n"


def _in_json(text: str, runs: Runs, indent: int | None) -> str:
    from sgl_audit_reports.json import dump
    from sgl_audit_reports.json.evidence import runs_json

    data = json.loads(text)
    for item in data if isinstance(data, list) else [data]:
        item["evidence"] = runs_json(runs)
    return dump(data, indent=indent) + "\n"
