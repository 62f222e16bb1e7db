"""The JSON form of kernel requirements, as `sgl-audit kernels --format json` prints it."""

from __future__ import annotations

from typing import Any

from sgl_audit.model.requirements import FunctionRequirements, KernelRequirements, Support
from sgl_audit.model.source import Place

FORMAT = 1


def requirements_to_json(requirements: KernelRequirements) -> dict[str, Any]:
    """Plain values in a stable order; unknown is null with a reason beside it."""
    return {
        "format": FORMAT,
        "flashinfer": {"version": requirements.version},
        "capabilities": list(requirements.numbers),
        "assumed": dict(requirements.assumptions),
        "functions": {item.name: _function(item) for item in requirements.functions},
        "diagnostics": [
            {"message": item.message, "where": _place(item.place)}
            for item in requirements.diagnostics
        ],
    }


def _function(item: FunctionRequirements) -> dict[str, Any]:
    row: dict[str, Any] = {"any": _numbers(item.any), "declared": item.declared}
    row["where"] = _place(item.place)
    if item.any.reason:
        row["reason"] = item.any.reason
    if item.backends:
        row["backends"] = {part.name: _numbers(part.support) for part in item.backends}
        row["backends_where"] = {part.name: _place(part.support.place) for part in item.backends}
        reasons = {part.name: part.support.reason for part in item.backends if part.support.reason}
        if reasons:
            row["backends_reason"] = reasons
    if item.auto:
        row["auto"] = {
            str(order.number): {
                "backends": None if order.backends is None else list(order.backends),
                **({"reason": order.reason} if order.reason else {}),
            }
            for order in item.auto
        }
    elif item.auto_reason:
        row["auto"] = None
        row["auto_reason"] = item.auto_reason
    _reached(row, item)
    return row


def _reached(row: dict[str, Any], item: FunctionRequirements) -> None:
    if item.jit:
        row["jit"] = [
            {
                "generator": reach.generator.name,
                "majors": None if reach.generator.majors is None else list(reach.generator.majors),
                "targets": list(reach.generator.targets),
                "where": _place(reach.generator.place),
                "via": [_place(place) for place in reach.via],
                **({"reason": reach.generator.reason} if reach.generator.reason else {}),
            }
            for reach in item.jit
        ]
    if item.other_kernels:
        row["other_kernels"] = list(item.other_kernels)
    if item.checks:
        row["checks"] = [
            {
                "function": check.function,
                "refused": list(check.refused),
                "unknown": list(check.unknown),
                "condition": check.condition,
                "where": _place(check.place),
                **({"backend": check.backend} if check.backend is not None else {}),
            }
            for check in item.checks
        ]


def _numbers(support: Support) -> list[int] | None:
    return None if support.numbers is None else list(support.numbers)


def _place(place: Place | None) -> dict[str, Any] | None:
    return None if place is None else {"file": place.file, "line": place.line}
