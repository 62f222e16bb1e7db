"""Running the rules: selection, faults, capabilities, merging, and what launches add."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import pytest

from sgl_audit.extract.tree import extract
from sgl_audit.model.report import FamilyRow, Finding, Severity
from sgl_audit.model.source import Place
from sgl_audit.rules import Rule, RuleContext, check_rules, registry, run_rules
from sgl_audit.rules.findings import fingerprint, ordered
from sgl_audit.rules.registry import merged
from sgl_audit.rules.sga101 import DefaultRefused
from sgl_audit.rules.sga104 import OpenRange

MakeContext = Callable[[Mapping[str, str]], RuleContext]
REFUSED = DefaultRefused.INVALID[0]
REGISTRY = "sglang/srt/layers/attention/registry.py"


def only(context: RuleContext, rule: str = "SGA101") -> Finding:
    found = run_rules(context, select=[rule])
    assert len(found) == 1
    return found[0]


def test_a_rule_that_raises_is_said_and_the_others_go_on(
    make_context: MakeContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(Rule):
        id = "SGA100"
        title = "broken"
        severity = Severity.NOTE

        def check(self, context: RuleContext) -> Iterator[Finding]:
            raise ValueError("no such thing")
            yield

    monkeypatch.setattr(registry, "RULES", (Broken, DefaultRefused))
    result = check_rules(make_context(REFUSED))
    assert [item.rule for item in result.findings] == ["SGA101"]
    assert [item.message for item in result.diagnostics] == [
        "rule SGA100 stopped: ValueError: no such thing"
    ]


def test_rules_can_be_selected_and_ignored(make_context: MakeContext) -> None:
    context = make_context(REFUSED)
    assert run_rules(context, select=["SGA101"])
    assert not run_rules(context, select=["SGA101"], ignore=["SGA10"])
    assert not run_rules(context, select=["SGA2"])


def test_only_asked_capabilities_are_reported(make_context: MakeContext) -> None:
    context = make_context(REFUSED)
    assert only(context).capabilities == ("sm100", "sm103", "sm120", "sm121", "gfx1201")
    assert only(replace(context, capabilities=("sm120",))).capabilities == ("sm120",)
    assert not run_rules(replace(context, capabilities=("sm90",)), select=["SGA101"])


def test_evidence_comes_from_capabilities_that_were_not_asked(make_context: MakeContext) -> None:
    context = replace(make_context(OpenRange.INVALID[0]), capabilities=("sm121",))
    assert only(context, "SGA104").capabilities == ("sm121",)


def test_rules_that_compare_capabilities_say_when_they_cannot(make_context: MakeContext) -> None:
    context = make_context(OpenRange.INVALID[0])
    narrow = extract(context.tree, None, ("sm120",))
    result = check_rules(
        replace(context, facts=narrow.facts, extraction=narrow, capabilities=("sm120",), memory={}),
        select=["SGA104"],
    )
    assert not result.findings
    assert "did not run" in result.diagnostics[0].message


def test_findings_name_places_chain_and_way_out(make_context: MakeContext) -> None:
    found = only(make_context(REFUSED))
    assert (found.place.file, found.option, found.value) == (
        REGISTRY, "attention_backend", "flashinfer",
    )  # fmt: skip
    assert found.remedy == "--attention-backend triton"
    assert "hybrid_gdn_config is not None" in found.when
    assert [link.place is not None for link in found.chain] == [True, True]
    assert all(link.excerpt and link.excerpt.lines for link in found.chain)


def test_a_fingerprint_stays_when_lines_move(make_context: MakeContext) -> None:
    moved = {path: "# a comment\n" * 7 + text for path, text in REFUSED.items()}
    first, second = only(make_context(REFUSED)), only(make_context(moved))
    assert first.place.line + 7 == second.place.line
    assert first.fingerprint == second.fingerprint


def test_a_fingerprint_ignores_white_space_only() -> None:
    assert fingerprint("a b", "c") == fingerprint("a  b", " c")
    assert fingerprint("ab", "c") != fingerprint("a", "bc")
    assert fingerprint("a", None) == fingerprint("a", "")


def row(context: RuleContext, line: int, **values: str) -> FamilyRow:
    place = Place(REGISTRY, line)
    return FamilyRow(
        "Tiny NVFP4", "Tiny", "NVFP4", "sm120", "refused", tuple(values.items()), "no", place
    )


def test_a_launch_that_ends_there_confirms_a_finding(make_context: MakeContext) -> None:
    context = make_context(REFUSED)
    line = only(context).place.line
    known = replace(context, families=(row(context, line, attention_backend="flashinfer"),))
    found = only(known)
    assert found.severity is Severity.ERROR
    assert "Tiny NVFP4" in found.chain[-1].text


def test_a_launch_finds_what_the_guards_do_not_show(make_context: MakeContext) -> None:
    context = make_context(REFUSED)
    line = only(context).place.line
    rows = (row(context, line, attention_backend="fa3"),)
    found = run_rules(replace(context, families=rows), select=["SGA101"])
    launched = next(item for item in found if item.value == "fa3")
    assert launched.capabilities == ("sm120",)
    assert launched.when == "Tiny NVFP4"


def test_a_launch_refused_elsewhere_is_no_finding(make_context: MakeContext) -> None:
    context = make_context(REFUSED)
    rows = (row(context, 1, attention_backend="fa3"), row(context, 9))
    assert run_rules(replace(context, families=rows), select=["SGA101"]) == (only(context),)


def test_same_findings_for_several_capabilities_are_one(make_context: MakeContext) -> None:
    found = only(make_context(REFUSED))
    one, other = replace(found, capabilities=("sm120",)), replace(found, capabilities=("sm90",))
    assert [item.capabilities for item in merged([one, other])] == [("sm90", "sm120")]
    assert len(merged([one, replace(other, message="another")])) == 2


def test_capabilities_are_sorted_as_the_table_is() -> None:
    assert ordered(["gfx942", "sm120", "sm75", "sm120"]) == ("sm75", "sm120", "gfx942")
