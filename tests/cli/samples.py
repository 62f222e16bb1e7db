"""A small audit, so that commands are tested without making one."""

from __future__ import annotations

from sgl_audit import api
from sgl_audit.model.facts import Facts, Flag, Option
from sgl_audit.model.report import (
    Audit,
    ChoiceCell,
    ChoiceState,
    Coverage,
    FamilyRow,
    Finding,
    OptionBehaviour,
    Severity,
)
from sgl_audit.model.resolution import Case
from sgl_audit.model.source import Diagnostic, Place, SourceTree

PLACE = Place("sglang/srt/server_args.py", 100)
NAMES = ("moe_runner_backend", "attention_backend")


def facts(*diagnostics: Diagnostic) -> Facts:
    """Two options and what could not be read."""
    options = tuple(
        Option(
            name,
            (Flag(f"--{name.replace('_', '-')}"),),
            "str",
            "auto",
            True,
            ("auto", "triton"),
            None,
            None,
            False,
            PLACE,
            True,
        )
        for name in NAMES
    )
    return Facts((), options, (), (), (), (), (), (), diagnostics)


def finding(severity: Severity, option: str) -> Finding:
    """A finding of one option."""
    return Finding(
        "SGA101",
        severity,
        f"{option} is refused",
        "it is refused",
        ("sm120",),
        PLACE,
        option,
        "auto",
        fingerprint=f"{severity}-{option}",
    )


def audit(
    tree: SourceTree | None = None,
    capabilities: tuple[str, ...] = ("sm120",),
    *,
    findings: tuple[Finding, ...] = (),
    diagnostics: tuple[Diagnostic, ...] = (),
    outcome: str = "ok",
) -> Audit:
    """An audit with one row of each kind for each option."""
    info = (tree or api.open_source(None, notify=lambda text: None)).info
    pairs = [(name, capability) for name in NAMES for capability in capabilities]
    return Audit(
        source=info,
        tool_version="0",
        capabilities=capabilities,
        facts=facts(*diagnostics),
        behaviours=tuple(
            OptionBehaviour(name, capability, "auto", (Case("always", "auto"),), True)
            for name, capability in pairs
        ),
        cells=tuple(
            ChoiceCell(name, "auto", capability, ChoiceState.DEFAULT) for name, capability in pairs
        ),
        families=(FamilyRow("Tiny BF16", "Tiny", "BF16", "sm120", outcome),),
        findings=findings,
        advice=(),
        assumptions=(),
        coverage=Coverage(1, 1, 1, 1),
    )
