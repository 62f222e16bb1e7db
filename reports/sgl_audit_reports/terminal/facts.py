"""What was read from a tree, in one screen."""

from __future__ import annotations

from rich.console import Console

from sgl_audit.model.facts import Facts
from sgl_audit.model.source import SourceInfo
from sgl_audit_reports.common.names import pins, source_heading
from sgl_audit_reports.common.text import listed, plural, value_text
from sgl_audit_reports.terminal.console import HEADING, QUIET, heading, line, text
from sgl_audit_reports.terminal.details import render_gaps


def render_facts_summary(facts: Facts, source: SourceInfo, console: Console) -> None:
    """Counts, choice lists, backend options, enums and variables, each with its place."""
    pinned = "".join(f"  {name} {version} (pinned)" for name, version in pins(source))
    console.print(line((source_heading(source), HEADING), pinned))
    gates = (*facts.gates, *facts.platform)
    understood = sum(gate.understood for gate in gates)
    console.print(
        text(
            f"{plural(len(facts.choice_lists), 'choice list')}, "
            f"{plural(len(facts.options), 'option')}, {plural(len(facts.enums), 'enum')}, "
            f"gates understood {understood} of {len(gates)}, "
            f"{plural(len(facts.decisions), 'decision')}, "
            f"{plural(len(facts.rejections), 'rejection')}, "
            f"{plural(len(facts.environment), 'environment variable')}"
        )
    )
    _choice_lists(facts, console)
    _options(facts, console)
    _enums(facts, console)
    _environment(facts, console)
    render_gaps("Diagnostics", facts.diagnostics, console)


def _choice_lists(facts: Facts, console: Console) -> None:
    if not facts.choice_lists:
        return
    heading(console, "Choice lists")
    for item in facts.choice_lists:
        console.print(line((item.name, "bold"), (f"  {item.place}", QUIET)))
        values = listed([value_text(value) for value in item.values])
        console.print(text(f"  {values}"))
        for point in item.extension_points:
            console.print(line(f"  extended by {point.name}", (f"  {point.place}", QUIET)))


def _options(facts: Facts, console: Console) -> None:
    backend = [option for option in facts.options if option.backend]
    if not backend:
        return
    heading(console, "Backend options")
    for option in backend:
        default = value_text(option.default) if option.default_known else "(computed)"
        flags = listed([flag.name for flag in option.flags])
        console.print(
            line((option.name, "bold"), f" = {default}  {flags}", (f"  {option.place}", QUIET))
        )


def _enums(facts: Facts, console: Console) -> None:
    if not facts.enums:
        return
    heading(console, "Enums")
    for item in facts.enums:
        console.print(line((item.name, "bold"), (f"  {item.place}", QUIET)))
        members = listed([f"{m.name}={value_text(m.value)}" for m in item.members])
        console.print(text(f"  {members}"))


def _environment(facts: Facts, console: Console) -> None:
    if not facts.environment:
        return
    heading(console, "Environment variables")
    for item in facts.environment:
        marks = " deprecated" if item.deprecated else ""
        instead = f", use {item.replacement}" if item.replacement else ""
        console.print(line((item.name, "bold"), f"{marks}{instead}", (f"  {item.place}", QUIET)))
        if item.overrides:
            console.print(text(f"  overrides {listed(item.overrides)}"))
