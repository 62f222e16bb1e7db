"""Error-level findings in total per release and capability, kept so that each change is seen.

Each error of 0.5.23 on SM90 and SM100 was confirmed by reading the source before it was written
down here. Where a change is right, put what the failing test shows into the file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sgl_audit.model.capability import ALL_CAPABILITIES
from sgl_audit.model.report import Finding, Severity

pytestmark = pytest.mark.real

FindReal = Callable[[str], tuple[Finding, ...]]
GOLDEN = Path(__file__).with_name("errors_golden.txt")
RELEASES = ("0.5.4", "0.5.9", "0.5.15", "0.5.23")
CONFIRMED = (("0.5.23", "sm90"), ("0.5.23", "sm100"))


def table(find_real: FindReal) -> str:
    """Totals per release and capability, and the errors that were confirmed one by one."""
    errors = {
        release: [item for item in find_real(release) if item.severity is Severity.ERROR]
        for release in RELEASES
    }
    lines = [" ".join(["errors ", *(f"{name:>7}" for name in ALL_CAPABILITIES)])]
    for release, found in errors.items():
        totals = (sum(name in item.capabilities for item in found) for name in ALL_CAPABILITIES)
        lines.append(" ".join([f"{release:<7}", *(f"{total:>7}" for total in totals)]))
    for release, name in CONFIRMED:
        lines += ["", f"{release} {name}"]
        for item in errors[release]:
            if name in item.capabilities:
                lines.append(f"  {item.rule} {item.place} {item.option} = {item.value}")
    return "\n".join(lines) + "\n"


def test_errors_are_those_that_were_confirmed(find_real: FindReal) -> None:
    assert table(find_real) == GOLDEN.read_text(encoding="utf-8")
