"""From resolutions to the data of their page."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from sgl_audit.model.resolution import Outcome, Refusal, Resolution, ResolvedValue, Step
from sgl_audit.model.source import SourceInfo
from sgl_audit.model.verdict import worst
from sgl_audit_reports.common.names import launch_column, launch_label
from sgl_audit_reports.common.resolutions import alike, comparison, shown_value
from sgl_audit_reports.common.text import clipped, shortened, value_text, visible
from sgl_audit_reports.common.verdicts import subject
from sgl_audit_reports.html.data import (
    Badge,
    RefusalItem,
    ResolutionItem,
    ResolutionPage,
    StepItem,
    ValueItem,
)
from sgl_audit_reports.html.parts import (
    OUTCOME_BADGE,
    VERDICT_BADGE,
    Anchors,
    assumption_items,
    head,
    maybe_link,
)
from sgl_audit_reports.html.steps import resolved_picture

_PERHAPS = "may be refused"
# Conditions of layers run to thousands of characters, which nobody reads; JSON has them whole.
_GUARD = 300
_VALUE = 90


def resolution_page(
    resolutions: Sequence[Resolution], source: SourceInfo, tool_version: str
) -> ResolutionPage:
    """Everything the resolve page shows, as plain data."""
    anchors = Anchors()
    items = tuple(_item(resolution, source, anchors) for resolution in resolutions)
    several = len(items) > 1
    rows = comparison(resolutions) if several else ()
    sections = [("compare", "Compare")] if several else []
    sections += [(item.anchor, item.capability) for item in items]
    return ResolutionPage(
        head("Launch resolved", source, tool_version, sections),
        tuple(item.capability for item in items),
        tuple(
            (visible(row.name), tuple(shortened(v, _VALUE) for v in row.values), row.differs)
            for row in rows
        ),
        items,
    )


def _item(resolution: Resolution, source: SourceInfo, anchors: Anchors) -> ResolutionItem:
    capability = resolution.launch.capability
    anchor = anchors.take("on", capability)
    groups = (("Options", resolution.options), ("At run time", resolution.runtime))
    return ResolutionItem(
        capability=launch_column(resolution.launch),
        label=launch_label(resolution.launch),
        anchor=anchor,
        command=_command(resolution),
        badge=_standing(resolution),
        reason=visible(resolution.reason or ""),
        refusals=_refusals(resolution, source),
        late_unknown=resolution.late is None,
        verdicts=tuple(
            (VERDICT_BADGE[row.verdict], subject(row), visible(row.reason))
            for row in resolution.verdicts
        ),
        groups=tuple(
            (title, _values(values, source, anchors, anchor, resolution))
            for title, values in groups
            if values
        ),
        assumptions=assumption_items(resolution.assumptions),
        notes=tuple(visible(note) for note in resolution.notes),
    )


def _standing(resolution: Resolution) -> Badge:
    """How the launch ends, not only whether its arguments are accepted."""
    if resolution.outcome is not Outcome.OK:
        return OUTCOME_BADGE[resolution.outcome]
    if resolution.late:
        return Badge("✗", "refused once loading starts", "error")
    known = worst(tuple(row.verdict for row in resolution.verdicts))
    if resolution.verdicts and not known.good:
        badge = VERDICT_BADGE[known]
        return Badge(badge.symbol, f"accepted, then {badge.text}", badge.kind)
    return OUTCOME_BADGE[resolution.outcome]


def _command(resolution: Resolution) -> str:
    variables = (f"{key}={shlex.quote(value)}" for key, value in resolution.launch.environment)
    words = (shlex.quote(word) for word in resolution.launch.argv)
    return visible(" ".join([*variables, *words]))


def _refusals(resolution: Resolution, source: SourceInfo) -> tuple[RefusalItem, ...]:
    found: list[tuple[str, Refusal, int]] = []
    if resolution.rejection is not None:
        found.append(("refused", resolution.rejection, 1))
    found += [("refused once loading starts", refusal, 1) for refusal in resolution.late or ()]
    found += [(_PERHAPS, refusal, times) for refusal, times in alike(resolution.possible)]
    return tuple(
        RefusalItem(
            kind,
            kind == _PERHAPS,
            times,
            visible(refusal.type),
            visible(refusal.stage),
            visible(refusal.message),
            clipped(visible(refusal.guard or ""), _GUARD),
            maybe_link(refusal.place, source),
        )
        for kind, refusal, times in found
    )


def _values(
    values: Iterable[ResolvedValue],
    source: SourceInfo,
    anchors: Anchors,
    prefix: str,
    resolution: Resolution,
) -> tuple[ValueItem, ...]:
    items = [
        ValueItem(
            name=visible(value.name),
            anchor=anchors.take(prefix, value.name),
            value=shown_value(value),
            decided=value.decided,
            acted=not value.decided or len(value.steps) > 1,
            picture=resolved_picture(value, resolution),
            reason=visible(value.reason or ""),
            cases=tuple((value_text(case.value), visible(case.guard)) for case in value.cases),
            steps=tuple(_step(step, source) for step in value.steps),
        )
        for value in values
    ]
    # What something set stands first; what is as declared is rarely asked for.
    return tuple(sorted(items, key=lambda item: not item.acted))


def _step(step: Step, source: SourceInfo) -> StepItem:
    return StepItem(
        visible(step.value),
        visible(step.what),
        maybe_link(step.place, source),
        tuple(visible(condition) for condition in step.conditions),
    )
