"""Rules, suppressions and baselines: what counts, what is said to be stale, what stays true."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from sgl_audit.errors import UsageError
from sgl_audit.model.report import Audit, Finding, Severity
from sgl_audit.model.settings import NO_SETTINGS, RuleSetting, Settings, Suppression
from sgl_audit.model.triage import Handling
from sgl_audit.settings.baseline import Entry, baseline_text, read_baseline
from sgl_audit.settings.triaging import triaged

from . import samples

TODAY = date(2026, 6, 15)
MOE = replace(samples.finding(Severity.ERROR, "moe_runner_backend"), capabilities=("sm90", "sm120"))
ATTENTION = samples.finding(Severity.WARNING, "attention_backend")


def audit(
    *findings: Finding, settings: Settings = NO_SETTINGS, known: list[Entry] | None = None
) -> Audit:
    """A small audit on two capabilities with the settings applied."""
    made = samples.audit(capabilities=("sm90", "sm120"), findings=findings or (MOE, ATTENTION))
    return triaged(made, settings, known, TODAY)


def suppression(**given: object) -> Settings:
    """Settings with one suppression."""
    return Settings("x.toml", suppressions=(replace(Suppression("x.toml 1", "ok"), **given),))


def counting(made: Audit) -> list[str | None]:
    """The options of the findings that count."""
    return [item.option for item in made.triage.counting(made.findings)]


def notices(made: Audit) -> list[str]:
    """What is said to be stale."""
    return [item.message for item in made.triage.notices]


def test_nothing_said_changes_nothing() -> None:
    made = audit()
    assert made.findings == (MOE, ATTENTION)
    assert made.triage.counting(made.findings) == made.findings
    assert not made.triage.compared


class TestRules:
    def test_off_leaves_the_finding_for_verdicts(self) -> None:
        made = audit(settings=Settings("x.toml", rules=(("SGA101", RuleSetting.OFF),)))
        assert made.findings == (MOE, ATTENTION)
        assert counting(made) == []
        assert made.triage.count(Handling.OFF) == 2

    def test_a_severity_replaces_the_rules_own(self) -> None:
        made = audit(settings=Settings("x.toml", rules=(("SGA101", RuleSetting.NOTE),)))
        assert {item.severity for item in made.findings} == {Severity.NOTE}

    def test_a_rules_own_name_counts_before_a_pattern(self) -> None:
        rules = (("SGA101", RuleSetting.ON), ("*", RuleSetting.OFF))
        other = replace(ATTENTION, rule="SGA104")
        assert counting(audit(MOE, other, settings=Settings("x", rules=rules))) == [MOE.option]


class TestSuppressions:
    @pytest.mark.parametrize(
        ("given", "left"),
        [
            ({"rule": "SGA101"}, []),
            ({"option": "moe_runner_backend"}, ["attention_backend"]),
            ({"fingerprint": MOE.fingerprint}, ["attention_backend"]),
            ({"rule": "SGA101", "value": "other"}, ["moe_runner_backend", "attention_backend"]),
            ({"file": "sglang/srt/*.py"}, []),
            ({"file": "sglang/other/*"}, ["moe_runner_backend", "attention_backend"]),
        ],
    )
    def test_all_that_is_given_must_fit(self, given: dict[str, object], left: list[str]) -> None:
        made = audit(settings=suppression(**given))
        assert counting(made) == left

    def test_it_holds_where_it_was_accepted_and_nowhere_else(self) -> None:
        made = audit(settings=suppression(rule="SGA101", arch=("sm120",)))
        assert counting(made) == ["moe_runner_backend"]
        both = (
            Suppression("1", "one", rule="SGA101", arch=("sm120",)),
            Suppression("2", "two", rule="SGA101", arch=("sm90",)),
        )
        made = audit(settings=Settings("x", suppressions=both))
        assert counting(made) == []
        assert made.triage.handled[0].reason == "one; two"

    def test_after_its_last_day_the_finding_counts_again(self) -> None:
        made = audit(settings=suppression(rule="SGA101", expires=TODAY))
        assert counting(made) == []
        made = audit(settings=suppression(rule="SGA101", expires=date(2026, 6, 14)))
        assert counting(made) == ["moe_runner_backend", "attention_backend"]
        assert notices(made) == [
            "x.toml 1 (ok) expired on 2026-06-14: what it suppressed counts again"
        ]

    def test_one_that_fits_nothing_is_reported(self) -> None:
        made = audit(settings=suppression(option="gone"))
        assert notices(made) == ["x.toml 1 (ok) fits no finding on sm90, sm120: drop it"]

    def test_one_for_a_capability_that_was_not_asked_is_not(self) -> None:
        assert notices(audit(settings=suppression(option="gone", arch=("sm100",)))) == []


class TestBaseline:
    def test_what_was_there_is_known(self, tmp_path: Path) -> None:
        path = tmp_path / "known.json"
        path.write_text(baseline_text((MOE, ATTENTION), "1"), "utf-8")
        made = audit(known=list(read_baseline(path)))
        assert counting(made) == []
        assert made.triage.count(Handling.KNOWN) == 2
        assert made.triage.compared

    def test_a_further_capability_is_news(self) -> None:
        entry = Entry(MOE.fingerprint, frozenset({"sm120"}))
        made = audit(MOE, known=[entry])
        assert counting(made) == ["moe_runner_backend"]
        assert notices(made) == []

    def test_a_second_of_the_same_kind_is_news(self) -> None:
        entry = Entry(ATTENTION.fingerprint, frozenset({"sm120"}))
        twin = replace(ATTENTION, place=replace(ATTENTION.place, line=200))
        assert counting(audit(ATTENTION, twin, known=[entry])) == ["attention_backend"]

    def test_what_is_gone_is_said_where_it_could_have_been_found(self) -> None:
        known = [Entry("here", frozenset({"sm120"})), Entry("elsewhere", frozenset({"gfx942"}))]
        assert notices(audit(known=known)) == [
            "findings of the baseline that are gone: here; write it anew"
        ]

    def test_the_same_findings_in_any_order_are_the_same_bytes(self) -> None:
        assert baseline_text((MOE, ATTENTION), "1") == baseline_text((ATTENTION, MOE), "1")

    @pytest.mark.parametrize(
        "text", ["", "[]", "{}", '{"format": 1}', '{"format": 1, "findings": [{}]}', "[" * 100_000]
    )
    def test_another_file_is_refused(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "known.json"
        path.write_text(text, "utf-8")
        with pytest.raises(UsageError, match="is no baseline of sgl-audit"):
            read_baseline(path)

    def test_a_missing_file_says_how_to_make_it(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="--write-baseline"):
            read_baseline(tmp_path / "none.json")

    def test_people_can_read_what_is_known(self) -> None:
        (row, _) = json.loads(baseline_text((ATTENTION, MOE), "1"))["findings"]
        assert row["rule"] == "SGA101"
        assert row["option"] in ("attention_backend", "moe_runner_backend")
