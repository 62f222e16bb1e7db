"""The overview: an unknown is never safe, and no error vanishes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sgl_audit.model.report import Advice, FamilyRow
from sgl_audit.model.verdict import ValueVerdict, Verdict
from sgl_audit_reports.common.families import (
    Standing,
    capability_overview,
    launch_text,
    standing_of,
)
from sgl_audit_reports.common.findings import numbered, touches_default
from sgl_audit_reports.common.names import capability_range, upstream_url
from sgl_audit_reports.common.text import value_text, visible

from . import sample

ROW = FamilyRow("Llama FP8", "Llama", "FP8", "sm120", "ok")
FLAGS = ("--attention-backend triton",)
OPEN = ValueVerdict("moe_runner_backend", "auto", "sm120", Verdict.UNKNOWN)
WORKS = ValueVerdict("moe_runner_backend", "triton", "sm120", Verdict.WORKS)


def judged(verdict: Verdict) -> FamilyRow:
    return replace(ROW, verdicts=(ValueVerdict("attention_backend", "x", "sm120", verdict),))


@pytest.mark.parametrize(
    ("row", "advice", "expected"),
    [
        (ROW, (), Standing.NO_FAULT),
        (ROW, (Advice("sm120", "Llama FP8", (), (), True),), Standing.SAFE),
        (ROW, (Advice("sm120", "Llama FP8", FLAGS, (), True),), Standing.NOT_SAFE),
        (ROW, (Advice("sm120", "Llama FP8", (), (), False),), Standing.NOT_SAFE),
        (judged(Verdict.SLOW), (Advice("sm120", "Llama FP8", FLAGS, (), True),), Standing.SAFE),
        # That other flags work does not make a default work of which nothing is known.
        (
            judged(Verdict.UNKNOWN),
            (Advice("sm120", "Llama FP8", FLAGS, (), True),),
            Standing.NO_FAULT,
        ),
        (ROW, (Advice("sm120", "another", FLAGS, (), True),), Standing.NO_FAULT),
        (replace(ROW, outcome="refused"), (), Standing.NOT_SAFE),
        (replace(ROW, outcome="unknown"), (), Standing.UNKNOWN),
        (
            replace(ROW, outcome="unknown"),
            (Advice("sm120", "Llama FP8", (), (), True),),
            Standing.UNKNOWN,
        ),
        (replace(ROW, findings=("bad",)), (), Standing.NOT_SAFE),
        (replace(ROW, findings=("a note",)), (), Standing.NO_FAULT),
        (
            replace(ROW, verdicts=(WORKS,)),
            (Advice("sm120", "Llama FP8", (), (), True),),
            Standing.SAFE,
        ),
        # Safe with flags is not safe by default.
        (
            replace(ROW, verdicts=(OPEN,)),
            (Advice("sm120", "Llama FP8", FLAGS, (), True),),
            Standing.NO_FAULT,
        ),
    ],
)
def test_standing(row: FamilyRow, advice: tuple[Advice, ...], expected: Standing) -> None:
    assert standing_of(row, advice, frozenset({"bad"})) is expected


def test_accepted_is_never_called_working() -> None:
    assert launch_text(ROW, Standing.NO_FAULT) == "accepted, no fault found"
    assert launch_text(ROW, Standing.NOT_SAFE) == "accepted, not safe"


def test_without_families_errors_still_count() -> None:
    audit = replace(sample.audit(), families=(), advice=())
    found = capability_overview(audit, "sm120")
    assert found.standing is Standing.NOT_SAFE
    assert found.of(Standing.NOT_SAFE) == ("NVFP4 MoE", "hybrid GDN")


def test_without_families_and_errors_nothing_is_known() -> None:
    audit = replace(sample.audit(), families=(), advice=(), findings=())
    assert capability_overview(audit, "sm120").standing is Standing.UNKNOWN


def test_an_error_on_another_value_does_not_touch_the_default() -> None:
    audit = sample.audit()
    assert touches_default(audit, sample.GDN, "sm120")
    assert not touches_default(audit, replace(sample.GDN, value="fa4"), "sm120")
    assert not touches_default(audit, sample.GDN, "sm90")
    unset = replace(sample.GDN, value="None")
    assert touches_default(audit, unset, "sm120")


def test_numbers_are_stable_whatever_the_order() -> None:
    findings = sample.audit().findings
    assert numbered(findings) == numbered(tuple(reversed(findings)))


def test_anchors_are_unique_and_linkable() -> None:
    twice = (sample.GDN, sample.GDN, replace(sample.GDN, fingerprint='"><x'))
    anchors = [item.anchor for item in numbered(twice)]
    assert len(set(anchors)) == 3
    assert all(anchor.replace("-", "").isalnum() for anchor in anchors)


def test_a_range_covers_only_what_was_asked() -> None:
    asked = ("sm75", "sm80", "sm86", "sm90", "sm120")
    assert capability_range(("sm75", "sm80", "sm86", "sm90"), asked) == "sm75 to sm90"
    assert capability_range(("sm75", "sm86", "sm120"), asked) == "sm75, sm86, sm120"
    assert capability_range(asked, asked) == "all 5 capabilities"


def test_upstream_links_are_https_and_encoded() -> None:
    url = upstream_url(sample.SOURCE, sample.NASTY.place)
    assert url is not None
    assert url.startswith("https://github.com/sgl-project/sglang/blob/v0.5.9/python/sglang/srt/")
    assert not set(url) & set('<>" |\n')
    assert upstream_url(replace(sample.SOURCE, upstream="javascript:x"), sample.NASTY.place) is None
    assert upstream_url(replace(sample.SOURCE, upstream=None), sample.NASTY.place) is None


def test_control_characters_are_shown() -> None:
    assert (
        visible("a\x1b[0m\u202e\u2028\n\t\x9b\ud800é")
        == "a\\x1b[0m\\u202e\\u2028\\n\\t\\x9b\\ud800é"
    )


def test_values_read_as_a_person_writes_them() -> None:
    assert value_text(None) == "(unset)"
    assert value_text("") == '""'
    assert value_text([1, None, {"a": True}]) == "[1, (unset), {a: True}]"
