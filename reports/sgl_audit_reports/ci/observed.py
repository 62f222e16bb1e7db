"""What runs of the actual server say of one option, for forms that have little room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sgl_audit.model.evidence import Agreement, Compared, Evidence, JoinedRun
from sgl_audit_reports.common.evidence import outcome, run_name


def of_option(
    runs: Sequence[JoinedRun], option: str, capability: str | None = None
) -> Iterator[tuple[Evidence, Compared]]:
    """The runs that count and exercised an option, on one capability or any."""
    for item in runs:
        run = item.evidence
        elsewhere = capability is not None and run.environment.device.capability != capability
        if item.foreign or elsewhere:
            continue
        for one in run.compared:
            if one.subject == option and one.agreement is not Agreement.NOT_EXERCISED:
                yield run, one


def observed_text(run: Evidence, one: Compared) -> str:
    """`contradicted on sm120: predicted auto, observed triton (--tp 2: failed: NaN)`."""
    said = f"observed {one.observed}"
    if one.agreement is Agreement.CONTRADICTED:
        said = f"predicted {one.predicted}, {said}"
    where = run.environment.device.capability
    return f"{one.agreement.value} on {where}: {said} ({run_name(run)}: {outcome(run)})"
