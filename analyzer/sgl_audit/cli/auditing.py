"""Audits for the commands that show a part of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from sgl_audit import api
from sgl_audit.audit.extent import JUDGED
from sgl_audit.cli.choosing import (
    ArchValues,
    Opening,
    Pair,
    chosen_or_local,
    known_name,
    names_of,
    open_beside,
    open_known,
    open_tree,
)
from sgl_audit.cli.configured import current
from sgl_audit.cli.remembering import of_knowledge, of_trees, once, store_of
from sgl_audit.cli.stderr import Feedback
from sgl_audit.cli.unread import completeness, tell_unread
from sgl_audit.errors import EXIT_FINDINGS, UsageError
from sgl_audit.launch.assume import parse_assumptions
from sgl_audit.model.report import Audit, FamilyRow, Severity
from sgl_audit.model.triage import Handling
from sgl_audit.settings.baseline import baseline_text, read_baseline
from sgl_audit.settings.triaging import triaged

_WORST_FIRST = tuple(Severity)


def make_audit(
    source: str | None,
    archs: ArchValues,
    opening: Opening,
    assumed: Sequence[str],
    jobs: int,
    feedback: Feedback,
    baseline: Path | None = None,
) -> Audit:
    """Open the source and what is read beside it, audit it, and apply the team's settings."""
    accepted = read_baseline(baseline) if baseline is not None else None
    assume = parse_assumptions(assumed)
    tree = open_tree(source, opening, feedback)
    pairs = chosen_or_local(archs, feedback)
    capabilities = names_of(pairs)
    libraries, missing = open_beside(tree, opening, feedback)
    # FlashInfer's source is large: it is fetched only where something is judged by it.
    beside = opening if len(capabilities) <= JUDGED else replace(opening, flashinfer="none")
    known = open_known(tree, beside, assume, feedback)
    cards = cards_of(pairs)
    audit = once(
        "audit",
        (*of_trees(tree, *libraries), *of_knowledge(known), capabilities, assume, cards),
        opening.cache_dir,
        Audit,
        lambda: api.audit(
            tree,
            capabilities=capabilities,
            libraries=libraries,
            assume=assume,
            jobs=jobs,
            progress=feedback.progress("auditing"),
            knowledge=known,
            cards=cards,
            store=store_of(opening.cache_dir),
        ),
    )
    tell_unread(audit.facts.diagnostics, feedback)
    audit = replace(audit, diagnostics=(*audit.diagnostics, *missing))
    audit = triaged(audit, current(), accepted, date.today())
    for notice in audit.triage.notices:
        feedback.notify(notice.message)
    return audit


def cards_of(pairs: Iterable[Pair]) -> dict[str, str]:
    """The card of each capability for which one was named.

    Raises:
        UsageError: two cards of one capability; their memory differs, and an audit has one row.
    """
    cards: dict[str, str] = {}
    for capability, card in pairs:
        if card is not None and cards.setdefault(capability, card) != card:
            raise UsageError(
                f"--arch names two cards of {capability}, {cards[capability]} and {card}; "
                "an audit is for one of them at a time."
            )
    return cards


def only(audit: Audit, options: Sequence[str]) -> Audit:
    """The audit of some options; families keep their rows, which speak of whole launches.

    Raises:
        UsageError: the tree has no option of that name.
    """
    known = {option.name for option in audit.facts.options}
    known |= {item.option for item in audit.behaviours} | {item.option for item in audit.cells}
    names = {known_name(name, known, "option") for name in options}
    return replace(
        audit,
        behaviours=tuple(item for item in audit.behaviours if item.option in names),
        cells=tuple(item for item in audit.cells if item.option in names),
        findings=tuple(item for item in audit.findings if item.option in names),
    )


def accept(audit: Audit, path: Path, feedback: Feedback) -> None:
    """Write the baseline that makes the findings known that nothing else deals with.

    Those that an older baseline knows stay known.

    Raises:
        UsageError: the file cannot be written.
    """
    from sgl_audit_reports.output import write_report

    known = {item.finding for item in audit.triage.handled if item.handling is Handling.KNOWN}
    counting = set(audit.triage.counting(audit.findings))
    kept = [item for item in audit.findings if item in known or item in counting]
    write_report(baseline_text(kept, audit.tool_version), str(path))
    feedback.notify(f"wrote {path}: {len(kept)} known from now on")


def exit_code(audit: Audit, fail_on: str) -> int:
    """1 where a finding is at least as bad as `fail_on`, or a family is not safe by default without
    one; 3 where part of the tree was not read."""
    if fail_on in tuple(Severity):
        bad = _WORST_FIRST[: _WORST_FIRST.index(Severity(fail_on)) + 1]
        if any(item.severity in bad for item in audit.triage.counting(audit.findings)):
            return EXIT_FINDINGS
        # A baseline asks for what is new; families have no place in it.
        if not audit.triage.compared and unsafe_families(audit):
            return EXIT_FINDINGS
    return completeness(audit.facts.diagnostics)


def unsafe_families(audit: Audit) -> tuple[FamilyRow, ...]:
    """Families that the first screen calls not safe, and that no error finding speaks of.

    Those with one count through it: what deals with the finding deals with the family.
    """
    from sgl_audit_reports.common.families import Standing, error_fingerprints, standing_of

    errors = error_fingerprints(audit)
    return tuple(
        row
        for row in audit.families
        if not errors & set(row.findings)
        and standing_of(row, [a for a in audit.advice if a.capability == row.capability], errors)
        is Standing.NOT_SAFE
    )
