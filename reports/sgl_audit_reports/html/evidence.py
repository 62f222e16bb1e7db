"""From runs of the actual server to the data of their page, and of their part of other pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sgl_audit.model.evidence import Agreement, Evidence, RunOutcome
from sgl_audit_reports.common.evidence import (
    counts,
    outcome,
    run_name,
    speed_text,
    timing_text,
    where,
    worth_showing,
)
from sgl_audit_reports.common.text import clipped, visible
from sgl_audit_reports.html.data import Badge, Head
from sgl_audit_reports.html.parts import Anchors

_BADGE = {
    RunOutcome.PASSED: ("✓", "ok"),
    RunOutcome.FAILED: ("✗", "error"),
    RunOutcome.SKIPPED: ("–", "quiet"),
    RunOutcome.INTERRUPTED: ("?", "unknown"),
    RunOutcome.RUNNING: ("?", "unknown"),
}
_AGREEMENT = {
    Agreement.CONFIRMED: Badge("✓", "confirmed", "ok"),
    Agreement.CONTRADICTED: Badge("✗", "contradicted", "error"),
    Agreement.NOT_EXERCISED: Badge("–", "not exercised", "quiet"),
}


@dataclass(frozen=True, slots=True)
class ComparedItem:
    """One prediction beside what the server said."""

    badge: Badge
    subject: str
    predicted: str
    observed: str
    why: str


@dataclass(frozen=True, slots=True)
class AnswerItem:
    """One prompt with its answer and what it shows."""

    name: str
    prompt: str
    answer: str
    judged: str


@dataclass(frozen=True, slots=True)
class RunItem:
    """One run. `foreign` says why it does not count here, or is empty."""

    anchor: str
    name: str
    where: str
    badge: Badge
    summary: str
    grounds: tuple[tuple[str, str], ...]
    compared: tuple[ComparedItem, ...]
    counts: str
    answers: tuple[AnswerItem, ...]
    rows: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    foreign: str = ""


@dataclass(frozen=True, slots=True)
class EvidencePage:
    """The page of some runs; `counts` is what all of them say of their predictions."""

    head: Head
    runs: tuple[RunItem, ...]
    counts: str


def evidence_page(found: Sequence[Evidence], tool_version: str) -> EvidencePage:
    """Everything the page shows, as plain data."""
    runs = run_items((item, "") for item in found)
    versions = sorted({f"sglang {item.environment.sglang or '?'}" for item in found})
    devices = sorted({item.environment.device.capability for item in found})
    sections = tuple((item.anchor, clipped(item.name, 24)) for item in runs[:8])
    source = f"Runs: {visible(', '.join(versions))} on {visible(', '.join(devices))}"
    head = Head("Runs of the actual server", source, visible(tool_version), (), sections)
    return EvidencePage(head, runs, counts([one for item in found for one in item.compared]))


def run_items(found: Iterable[tuple[Evidence, str]]) -> tuple[RunItem, ...]:
    """Runs as data; the text beside each says why it does not count here, or is empty."""
    anchors = Anchors()
    return tuple(_item(item, foreign, anchors) for item, foreign in found)


def _item(evidence: Evidence, foreign: str, anchors: Anchors) -> RunItem:
    symbol, kind = _BADGE[evidence.outcome]
    return RunItem(
        anchor=anchors.take("run", evidence.id),
        name=visible(run_name(evidence)),
        where=visible(where(evidence)),
        badge=Badge(symbol, visible(outcome(evidence)), kind),
        summary=visible(evidence.summary),
        grounds=tuple(
            (f"{g.source} line {g.line}" if g.line else visible(g.source), visible(g.text))
            for g in evidence.grounds
        ),
        compared=tuple(
            ComparedItem(
                _AGREEMENT[item.agreement],
                visible(item.subject),
                visible(item.predicted),
                visible(item.observed),
                visible("; ".join(filter(None, (item.why, str(item.place or ""))))),
            )
            for item in worth_showing(evidence.compared)
        ),
        counts=counts(evidence.compared),
        answers=tuple(_answers(evidence)),
        rows=tuple(_rows(evidence)),
        notes=tuple(visible(note) for note in evidence.notes),
        foreign=visible(foreign),
    )


def _answers(evidence: Evidence) -> Iterable[AnswerItem]:
    for item in evidence.smoke:
        judged = "; ".join(found.text for found in item.judged) or "good"
        answer = item.error if item.status is None else item.text or f"HTTP {item.status}"
        yield AnswerItem(visible(item.name), visible(item.prompt), visible(answer), visible(judged))


def _rows(evidence: Evidence) -> Iterable[tuple[str, str]]:
    seen = evidence.observation
    if seen is not None and seen.identity:
        yield "identity", visible(seen.identity)
    for ground in seen.said if seen is not None else ():
        yield f"log line {ground.line}", visible(ground.text)
    if evidence.speed:
        yield "speed", speed_text(evidence.speed)
    if evidence.timings:
        yield "time", timing_text(evidence)
    if evidence.stopping is not None:
        yield "stop", visible(f"{evidence.stopping.how}, exit code {evidence.stopping.exit_code}")
    if evidence.log is not None:
        yield "log", visible(evidence.log.path)
