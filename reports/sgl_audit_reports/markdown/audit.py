"""The audit as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from sgl_audit.model.report import Audit, FamilyRow, Severity
from sgl_audit_reports.common.excerpts import excerpt_lines
from sgl_audit_reports.common.families import (
    AdviceBlock,
    Standing,
    error_fingerprints,
    launch_text,
    standing_of,
    standings,
)
from sgl_audit_reports.common.findings import Numbered
from sgl_audit_reports.common.names import (
    capability_label,
    capability_range,
    pins,
    source_heading,
)
from sgl_audit_reports.common.options import OptionCell
from sgl_audit_reports.common.overview import Overview, overview_of
from sgl_audit_reports.common.text import listed
from sgl_audit_reports.markdown.escape import code, escaped, fenced, in_html, place_link, table
from sgl_audit_reports.markdown.mermaid import chain_graph

_ICON = {Severity.ERROR: "❌", Severity.WARNING: "⚠️", Severity.NOTE: "ℹ️"}
_STANDING = {
    Standing.NOT_SAFE: "❌ **Not safe by default**",
    Standing.SAFE: "✅ Safe by default",
    Standing.NO_FAULT: "☑️ Accepted, no fault found",
    Standing.UNKNOWN: "❔ Unknown",
}
_FINDINGS = 50
# Each is drawn by a script in the reader's browser.
_GRAPHS = 5
# GitHub refuses a comment of over 65,536 characters.
_LONGEST = 60_000


def audit_to_markdown(audit: Audit, *, findings: int = _FINDINGS) -> str:
    """Verdict and flags first; findings folded; at most `findings` of them in full.

    What would not fit into one comment on GitHub is left out from the end, and said to be.
    """
    overview = overview_of(audit)
    for limit in (findings, findings // 2, findings // 4, findings // 8, 0):
        text = _whole(audit, overview, limit)
        if len(text) <= _LONGEST:
            break
    return text


def _whole(audit: Audit, overview: Overview, limit: int) -> str:
    lines = [*_head(audit, overview), *_advice(overview), *_options(audit, overview)]
    lines += _findings(audit, overview, limit)
    lines += _families(audit, limit)
    lines += _honesty(audit, overview, limit)
    return "\n".join(lines).rstrip() + "\n"


def _head(audit: Audit, overview: Overview) -> list[str]:
    pinned = "".join(
        f", {escaped(name)} {escaped(version)}" for name, version in pins(audit.source)
    )
    lines = [f"## sgl-audit: {escaped(source_heading(audit.source))}{pinned}", ""]
    if len(audit.capabilities) <= 3:
        lines += [listed([escaped(capability_label(name)) for name in audit.capabilities]), ""]
    for item in standings(overview.capabilities):
        parts = [
            f"{listed([escaped(name) for name in names])} on "
            f"{escaped(capability_range(on, audit.capabilities))}"
            for names, on in item.subjects
        ]
        lines.append(f"- {_STANDING[item.standing]}: {'; '.join(parts)}")
    silent = [item.capability for item in overview.capabilities if not item.subjects]
    if silent:
        where = escaped(capability_range(silent, audit.capabilities))
        lines.append(f"- {_STANDING[Standing.UNKNOWN]}: no error touches a default on {where}")
    return [*lines, ""]


def _advice(overview: Overview) -> list[str]:
    blocks: dict[AdviceBlock, list[str]] = {}
    for item in overview.capabilities:
        for block in item.advice:
            blocks.setdefault(block, []).append(item.capability)
    lines: list[str] = []
    for block, names in blocks.items():
        who = listed([escaped(family) for family in block.families], 6)
        where = listed([escaped(name) for name in names])
        if not block.flags:
            lines += [f"**{who}** on {where}: no flags are known to help.", ""]
            continue
        doubt = f" ({block.doubt})" if block.doubt else ""
        lines += [f"**{who}** on {where}: add{doubt}", "", *fenced(_flag_lines(block.flags)), ""]
    return lines


def _options(audit: Audit, overview: Overview) -> list[str]:
    if not overview.important_rows:
        return []
    columns = ["option", "default", *(escaped(name) for name in audit.capabilities)]
    rows = [
        (code(row.option), code(row.default), *(_cell(cell) for cell in row.cells))
        for row in overview.important_rows
    ]
    return ["### Options with nothing set", "", *table(columns, rows)]


def _cell(cell: OptionCell) -> str:
    numbers = "".join(f" \\[{number}\\]" for number in cell.numbers[:3])
    icon = f" {_ICON[cell.severity]}" if cell.severity is not None else ""
    shown = cell.becomes if cell.becomes == "same" else code(cell.becomes)
    return f"{shown}{icon}{numbers}"


def _findings(audit: Audit, overview: Overview, limit: int) -> list[str]:
    if not overview.findings:
        return []
    lines = [f"### Findings: {overview.counts}", ""]
    for item in overview.findings[:limit]:
        lines += _finding(item, audit)
    if len(overview.findings) > limit:
        lines += [f"{len(overview.findings) - limit} more are left out here.", ""]
    return lines


def _finding(item: Numbered, audit: Audit) -> list[str]:
    finding = item.finding
    where = escaped(capability_range(finding.capabilities, audit.capabilities))
    when = f", {escaped(finding.when)}" if finding.when else ""
    handled = f" <i>({in_html(item.handled)})</i>" if item.handled else ""
    head = (
        f"{_ICON[finding.severity]} [{item.number}] {in_html(finding.rule)} "
        f"{finding.severity.value}: {in_html(finding.title)}{handled}"
    )
    lines = ["<details>", f"<summary>{head}</summary>", ""]
    lines += [f"{place_link(finding.place, audit.source)} on {where}{when}", ""]
    lines += [escaped(finding.message), ""]
    graph = chain_graph(finding) if item.number <= _GRAPHS and not item.handled else []
    lines += [*fenced(graph, "mermaid"), ""] if graph else []
    for number, link in enumerate(finding.chain, 1):
        lines += [f"{number}. {escaped(link.text)} {place_link(link.place, audit.source)}", ""]
        if link.excerpt is not None:
            source = [f"{row.number:>6} {row.text}" for row in excerpt_lines(link.excerpt)]
            lines += [f"   {line}" for line in fenced(source, "python")] + [""]
    if finding.remedy:
        lines += [f"Do: {code(finding.remedy)}", ""]
    return [*lines, "</details>", ""]


def _families(audit: Audit, limit: int) -> list[str]:
    rows = [
        (
            escaped(row.family),
            escaped(row.capability),
            _launch(row, audit),
            listed([code(f"{name}={value}") for name, value in row.values]),
            f"{escaped(row.why)} {place_link(row.place, audit.source)}".strip(),
        )
        for row in audit.families
        if row.outcome != "ok" or row.findings
    ]
    if not rows:
        return []
    columns = ("family", "capability", "launch", "values", "why")
    lines = ["### Model families with a fault or unknown", "", *table(columns, rows[:limit])]
    if len(rows) > limit:
        lines += [f"{len(rows) - limit} more are left out here.", ""]
    return lines


def _launch(row: FamilyRow, audit: Audit) -> str:
    advice = [item for item in audit.advice if item.capability == row.capability]
    return launch_text(row, standing_of(row, advice, error_fingerprints(audit)))


def _honesty(audit: Audit, overview: Overview, limit: int) -> list[str]:
    assumed = listed([escaped(f"{a.name} {a.value}") for a in audit.assumptions])
    lines = [f"{overview.understood}.{f' Assumed: {assumed}.' if assumed else ''}", ""]
    gaps = (*audit.coverage.not_understood, *audit.diagnostics)
    if gaps:
        lines += ["<details>", f"<summary>Not understood: {len(gaps)}</summary>", ""]
        lines += [
            f"- {place_link(gap.place, audit.source)} {escaped(gap.message)}"
            for gap in gaps[:limit]
        ]
        if len(gaps) > limit:
            lines.append(f"- {len(gaps) - limit} more")
        lines += ["", "</details>", ""]
    return lines


def _flag_lines(flags: Sequence[str]) -> list[str]:
    """Flags as they paste: each with its value on a line, continued with a backslash."""
    rows: list[str] = []
    for flag in flags:
        if rows and not flag.startswith("-") and " " not in rows[-1]:
            rows[-1] += f" {flag}"
        else:
            rows.append(flag)
    return [f"{row} \\" for row in rows[:-1]] + rows[-1:]
