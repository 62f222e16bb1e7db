"""From a history to the data of its page: a timeline."""

from __future__ import annotations

from dataclasses import dataclass

from sgl_audit.model.history import Aspect, History
from sgl_audit_reports.common.histories import (
    Row,
    first_release,
    problems,
    rows_of,
    skipped,
    start_of,
)
from sgl_audit_reports.common.text import unique, visible
from sgl_audit_reports.html.data import Head
from sgl_audit_reports.html.parts import Anchors

_KIND = {Aspect.BECOMES: "warning", Aspect.LAUNCH: "error", Aspect.DEFAULT: "warning"}


@dataclass(frozen=True, slots=True)
class Stop:
    """One release at which something changed."""

    anchor: str
    release: str
    rows: tuple[tuple[str, Row], ...]


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """Everything the page shows."""

    head: Head
    option: str
    capabilities: tuple[str, ...]
    first: str
    start: tuple[str, ...]
    stops: tuple[Stop, ...]
    skipped: tuple[str, ...]
    problems: tuple[str, ...]


def history_page(history: History) -> HistoryPage:
    """The history as plain data."""
    anchors = Anchors()
    rows = rows_of(history)
    stops = tuple(
        Stop(
            anchors.take("at", release),
            visible(release),
            tuple((_KIND.get(r.aspect, "note"), r) for r in rows if r.release == release),
        )
        for release in unique(row.release for row in rows)
    )
    ends = f"{history.releases[0].version} to {history.releases[-1].version}"
    sections = tuple((stop.anchor, stop.release.partition(" ")[0]) for stop in stops)
    title = f"{history.option}, {ends}"
    return HistoryPage(
        Head("History", visible(title), visible(history.tool_version), (), sections),
        visible(history.option),
        tuple(visible(name) for name in history.capabilities),
        visible(first_release(history)),
        tuple(start_of(history)),
        stops,
        tuple(skipped(history.releases)),
        tuple(problems(history.releases)),
    )
