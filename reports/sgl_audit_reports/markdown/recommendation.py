"""Recommendations as Markdown."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from sgl_audit.model.source import SourceInfo
from sgl_audit.model.verdict import Recommendation, ValueVerdict
from sgl_audit_reports.common.names import capability_label, source_heading
from sgl_audit_reports.common.verdicts import grounds_text, others_text, standing, subject
from sgl_audit_reports.markdown.escape import code, escaped, place_link, table


def recommendations_to_markdown(found: Sequence[Recommendation], source: SourceInfo) -> str:
    """The line to copy first, then the reason for each flag and the verdicts."""
    lines = [f"## sgl-audit recommend: {escaped(source_heading(source))}", ""]
    for item in found:
        lines += _one(item, source)
    return "\n".join(lines).rstrip() + "\n"


def _one(item: Recommendation, source: SourceInfo) -> list[str]:
    lines = [f"### {escaped(capability_label(item.capability))}", ""]
    lines += [f"As given: {escaped(standing(item))}", ""]
    if item.flags:
        shown = " ".join(f"{flag.flag} {shlex.quote(flag.value)}" for flag in item.flags)
        lines += ["```sh", shown, "```", ""]
    lines += [] if item.complete else ["Not known to be enough.", ""]
    for flag in item.flags:
        lines.append(
            f"- {code(f'{flag.flag} {flag.value}')}: without it {escaped(flag.reason)} "
            f"{place_link(flag.place, source)}"
        )
        lines.append(f"  - costs: {escaped(flag.cost or 'nothing that is known of')}")
        lines += [f"  - otherwise {escaped(other)}" for other in others_text(flag)]
    lines += ["", *verdict_rows(item.after), ""]
    lines += [f"- remains: {escaped(reason)}" for reason in item.remaining]
    return [*lines, ""]


def verdict_rows(rows: Sequence[ValueVerdict]) -> list[str]:
    """A table of verdicts with their reasons."""
    body = [
        (
            escaped(row.verdict.value),
            code(subject(row)),
            escaped(grounds_text(row)),
            escaped(row.reason),
        )
        for row in rows
    ]
    return table(("verdict", "value", "rests on", "why"), body) if body else []
