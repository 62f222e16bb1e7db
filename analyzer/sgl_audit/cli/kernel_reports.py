"""What kernels need and what binaries hold, read and shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from sgl_audit.cli.choosing import Opening, open_tree
from sgl_audit.cli.stderr import Feedback
from sgl_audit.errors import UsageError
from sgl_audit.kernels.binary import covers, read_binary
from sgl_audit.kernels.flashinfer import read_requirements, requirements_to_json
from sgl_audit.model.capability import BY_NAME, Vendor
from sgl_audit.model.facts import JsonValue
from sgl_audit.model.kernels import Answer, BinaryReport
from sgl_audit.model.requirements import FunctionRequirements, KernelRequirements, Support
from sgl_audit.model.source import SourceTree
from sgl_audit.source import Wanted, open_pinned, open_source
from sgl_audit_reports.common.names import capability_range
from sgl_audit_reports.terminal.console import QUIET, heading, line, plain_table, text

_PACKAGE, _DISTRIBUTION = "flashinfer", "flashinfer-python"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class KernelAnswer:
    """What was read; a part that was not asked is missing."""

    requirements: KernelRequirements | None
    binaries: tuple[BinaryReport, ...]


def read_kernels(
    source: str | None,
    flashinfer: str | None,
    binaries: Sequence[Path],
    opening: Opening,
    feedback: Feedback,
) -> KernelAnswer:
    """Read what is named; FlashInfer as SOURCE pins it where nothing else is."""
    reports = tuple(read_binary(path) for path in binaries)
    if flashinfer is None and binaries and source is None:
        return KernelAnswer(None, reports)
    if flashinfer is None:
        return KernelAnswer(read_requirements(_pinned(source, opening, feedback)), reports)
    tree = open_source(
        flashinfer,
        offline=opening.offline,
        cache_dir=opening.cache_dir,
        package=_PACKAGE,
        distribution=_DISTRIBUTION,
        notify=feedback.notify,
    )
    return KernelAnswer(read_requirements(tree), reports)


def _pinned(source: str | None, opening: Opening, feedback: Feedback) -> SourceTree:
    tree = open_tree(source, opening, feedback)
    version = tree.info.distribution.pin(_DISTRIBUTION, _PACKAGE)
    if version is None:
        raise UsageError(
            f"{tree.info.label} pins no FlashInfer; say which with --flashinfer "
            f"{_DISTRIBUTION}==VERSION"
        )
    return open_pinned(
        tree.info,
        Wanted(_PACKAGE, _DISTRIBUTION),
        version,
        fetch=opening.fetch,
        offline=opening.offline,
        cache_dir=opening.cache_dir,
        notify=feedback.notify,
    )


def kernels_json(answer: KernelAnswer, asked: Sequence[str]) -> JsonValue:
    """The answer as a JSON value."""
    found: dict[str, JsonValue] = {"format": _FORMAT}
    if answer.requirements is not None:
        found = dict(requirements_to_json(answer.requirements))
    if answer.binaries:
        found["binaries"] = [_binary_json(item, asked) for item in answer.binaries]
    return found


def _binary_json(report: BinaryReport, asked: Sequence[str]) -> JsonValue:
    answers = [covers(report, BY_NAME[name]) for name in asked]
    return {
        "label": report.label,
        "examined": report.examined,
        "objects": [
            {"name": item.name, "size": item.size, "images": dict(item.labels)}
            for item in report.objects
        ],
        "covers": {a.capability: {"answer": a.answer.value, "reason": a.reason} for a in answers},
        "diagnostics": [item.message for item in report.diagnostics],
    }


def render_kernels(answer: KernelAnswer, asked: Sequence[str], console: Console) -> None:
    """Print the answer."""
    if answer.requirements is not None:
        _render_requirements(answer.requirements, asked, console)
    for report in answer.binaries:
        _render_binary(report, asked, console)


def _render_requirements(found: KernelRequirements, asked: Sequence[str], console: Console) -> None:
    names = [name for name in asked if BY_NAME[name].vendor is Vendor.NVIDIA]
    assumed = "".join(f"  assumed {name} {value}" for name, value in found.assumptions)
    title = f"flashinfer {found.version or '(version unknown)'}"
    console.print(line((title, "bold"), (assumed, QUIET)))
    declared = [item for item in found.functions if item.declared]
    for item in declared:
        _render_function(item, names, console)
    rest = len(found.functions) - len(declared)
    console.print(
        text(f"{len(declared)} functions declare where they work; {rest} do not (--format json)")
    )
    for gap in found.diagnostics:
        console.print(text(f"not read: {gap.message}", QUIET))


def _render_function(item: FunctionRequirements, names: list[str], console: Console) -> None:
    console.print(line((item.name, "bold"), (f"  {item.place}", QUIET)))
    rows = [("any backend" if item.backends else "works on", item.any)]
    rows += [(part.name, part.support) for part in item.backends]
    for label, support in rows:
        console.print(text(f"  {label}: {_support(support, names)}"))


def _support(support: Support, names: list[str]) -> str:
    answers = {name: support.answer(BY_NAME[name].number) for name in names}
    held = [name for name, answer in answers.items() if answer is Answer.YES]
    if Answer.UNKNOWN in answers.values():
        return f"unknown: {support.reason}"
    return capability_range(held, names) if held else "none of these"


def _render_binary(report: BinaryReport, asked: Sequence[str], console: Console) -> None:
    heading(console, report.label)
    for item in report.objects:
        images = ", ".join(f"{label} x{count}" for label, count in item.labels)
        console.print(line(item.name, (f"  {images}", QUIET)))
    rows = []
    for name in asked:
        answer = covers(report, BY_NAME[name])
        rows.append((text(name), text(answer.answer.value), text(answer.reason)))
    console.print(plain_table(("capability", "has code", "why"), rows))
    for gap in report.diagnostics:
        console.print(text(gap.message, QUIET))
