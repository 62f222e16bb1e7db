"""Choice lists and environment variables as page data."""

from __future__ import annotations

from sgl_audit.model.facts import Choice, EnvironmentVariable
from sgl_audit.model.guard import ALWAYS, text_of
from sgl_audit.model.report import Audit
from sgl_audit_reports.common.text import listed, value_text, visible
from sgl_audit_reports.html.data import FactItem
from sgl_audit_reports.html.parts import link


def choice_list_items(audit: Audit) -> tuple[FactItem, ...]:
    """Choice lists with notes, conditions and extension points."""
    items = []
    for found in audit.facts.choice_lists:
        points = [f"{visible(p.name)} ({visible(str(p.place))})" for p in found.extension_points]
        note = f"Extended by {listed(points)}." if points else ""
        values = tuple(_choice(choice) for choice in found.choices)
        items.append(FactItem(visible(found.name), note, values, link(found.place, audit.source)))
    return tuple(items)


def _choice(choice: Choice) -> str:
    note = f" ({visible(choice.note)})" if choice.note else ""
    when = f" when {visible(text_of(choice.guard))}" if choice.guard != ALWAYS else ""
    return f"{value_text(choice.value)}{note}{when}"


def environment_items(audit: Audit) -> tuple[FactItem, ...]:
    """Environment variables with what they override."""
    return tuple(
        FactItem(
            visible(item.name),
            _note(item),
            (),
            link(item.place, audit.source),
        )
        for item in audit.facts.environment
    )


def _note(item: EnvironmentVariable) -> str:
    parts = ["Deprecated."] if item.deprecated else []
    parts += [f"Use {visible(item.replacement)}."] if item.replacement else []
    parts += [f"Default {visible(item.default)}."] if item.default is not None else []
    overridden = listed([visible(option) for option in item.overrides])
    parts += [f"Overrides {overridden}."] if overridden else []
    parts += [visible(item.note)] if item.note else []
    return " ".join(parts)
