"""Cases of a launch whose model is not at hand: short conditions, the rare ones first."""

from __future__ import annotations

import io

from sgl_audit.audit.families import Family
from sgl_audit.audit.modelless import MOST_NAMED, cases_of
from sgl_audit.model.resolution import Launch, Outcome, Resolution, ResolvedValue
from sgl_audit_reports.terminal import render_resolutions
from sgl_audit_reports.terminal.console import make_console

LAUNCH = Launch("one", "sm120", ())


def answers(*values: str) -> list[tuple[Family, Resolution]]:
    return [
        (
            Family("Some", None, f"kind {number}", ()),
            Resolution(LAUNCH, Outcome.OK, options=(ResolvedValue("backend", True, value),)),
        )
        for number, value in enumerate(values)
    ]


def test_the_many_are_counted_and_come_last() -> None:
    found = cases_of("backend", answers(*["auto"] * (MOST_NAMED + 1), "triton"), "options")
    assert [case.value for case in found.cases] == ["triton", "auto"]
    assert found.cases[0].guard == f"model is BF16 kind {MOST_NAMED + 1}"
    assert found.cases[1].guard == (
        f"model is one of {MOST_NAMED + 1} others of the {MOST_NAMED + 2} families that were tried"
    )
    assert not found.decided


def test_what_all_share_is_not_decided_and_not_listed() -> None:
    same = cases_of("backend", answers("auto", "auto"), "options")
    differs = cases_of("backend", answers("auto", "triton"), "options")
    assert not same.decided
    assert [case.guard for case in same.cases] == ["model is any of the 2 families that were tried"]
    assert "the same in every family" in str(same.reason)
    assert printed(same) == ""
    assert "may be triton when model is BF16 kind 1" in printed(differs)


def printed(value: ResolvedValue) -> str:
    stream = io.StringIO()
    resolution = Resolution(LAUNCH, Outcome.UNKNOWN, options=(value,), late=())
    render_resolutions([resolution], make_console(stream, color="never", width=100))
    return stream.getvalue().partition("Options")[2]
