"""Annotations, JUnit XML and CSV: what fails, what is unknown, and that text stays text."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from xml.etree import ElementTree as Xml

import pytest

from sgl_audit.model.report import Audit, ChoiceCell, ChoiceState, OptionBehaviour
from sgl_audit.model.source import Diagnostic
from sgl_audit.model.triage import Handled, Handling, Triage
from sgl_audit_reports.ci import audit_to_annotations, audit_to_junit, matrix_to_csv

from . import sample

COMMAND = re.compile(r"::(error|warning|notice)(?: ((?:\w+=[^:,]*,?)+))?::(.*)")


def handled(audit: Audit) -> Audit:
    """The audit with its first error suppressed, and one suppression that fits nothing."""
    triage = Triage(
        (Handled(sample.GDN, Handling.SUPPRESSED, "known"),), (Diagnostic("fits no finding"),)
    )
    return replace(audit, triage=triage)


class TestAnnotations:
    def test_one_command_a_line_whatever_the_source_says(self) -> None:
        lines = audit_to_annotations(sample.audit()).splitlines()
        assert lines[-1].startswith("sgl-audit: 2 errors")
        assert all(COMMAND.fullmatch(line) for line in lines[:-1])

    def test_place_title_and_remedy(self) -> None:
        text = audit_to_annotations(sample.audit(hostile=False), base="python/")
        line = next(line for line in text.splitlines() if "205" in line)
        found = COMMAND.fullmatch(line)
        assert found is not None
        assert found[1] == "error"
        assert f"file=python/{sample.REGISTRY},line=205,col=9," in found[2]
        assert "title=SGA101 attention_backend=flashinfer%3A default" in found[2]
        assert found[3].endswith("%0Ado: --attention-backend triton")

    def test_percent_and_separators_are_escaped(self) -> None:
        nasty = replace(sample.GDN, title="50%,a:b", message="100%\n::error::x", chain=())
        (line, _) = audit_to_annotations(
            replace(sample.audit(), findings=(nasty,), facts=replace(sample.FACTS, diagnostics=()))
        ).splitlines()
        assert "50%25%2Ca%3Ab::100%25\\n::error::x%0A" in line

    def test_a_file_that_was_not_read_is_named(self) -> None:
        assert "file=sglang/bad.py,line=1,title=sgl-audit could not read this::" in (
            audit_to_annotations(sample.audit())
        )

    def test_what_was_dealt_with_is_quiet_and_stale_suppressions_are_not(self) -> None:
        text = audit_to_annotations(handled(sample.audit()))
        assert "line=205" not in text
        assert "::warning::fits no finding" in text


def cases(audit: Audit, fail_on: str = "error") -> dict[tuple[str, str], Xml.Element]:
    """Every test by class and name."""
    root = Xml.fromstring(audit_to_junit(audit, fail_on))
    found = {
        (case.get("classname", ""), case.get("name", "")): case for case in root.iter("testcase")
    }
    assert int(root.get("tests", "")) == len(found)
    failed = [case for case in found.values() if case.find("failure") is not None]
    assert int(root.get("failures", "")) == len(failed)
    return found


class TestJUnit:
    def test_findings_fail_their_option_and_family(self) -> None:
        found = cases(sample.audit("sm90", "sm120", hostile=False))
        option = found["sgl-audit.sm120.options", "attention_backend"]
        failure = option.find("failure")
        assert failure is not None
        assert failure.get("type") == "SGA101"
        assert "do: --attention-backend triton" in (failure.get("message") or "")
        assert option.get("line") == "205"
        assert found["sgl-audit.sm90.options", "attention_backend"].find("failure") is None
        family = found["sgl-audit.sm120.families", "Qwen3NextForCausalLM BF16"]
        assert family.find("failure") is not None

    def test_unknown_is_neither_passed_nor_failed(self) -> None:
        audit = sample.audit(hostile=False)
        nothing = OptionBehaviour("unread", "sm120", "None", ())
        found = cases(replace(audit, behaviours=(*audit.behaviours, nothing)))
        skipped = found["sgl-audit.sm120.options", "unread"].find("skipped")
        assert skipped is not None
        assert skipped.get("message") == "what it becomes here is unknown"
        family = found["sgl-audit.sm120.families", "GptOssForCausalLM MXFP4"].find("skipped")
        assert family is not None
        assert (family.get("message") or "").startswith("unknown with nothing set")

    def test_a_refused_family_that_no_rule_names_is_not_passed(self) -> None:
        found = cases(replace(sample.audit(), findings=()))
        family = found["sgl-audit.sm120.families", "Qwen3NextForCausalLM BF16"].find("skipped")
        assert family is not None
        assert "refused with nothing set: flashinfer is not supported" in family.get("message", "")

    @pytest.mark.parametrize(("fail_on", "failures"), [("never", 0), ("error", 2), ("note", 2)])
    def test_the_threshold_decides(self, fail_on: str, failures: int) -> None:
        found = cases(sample.audit(hostile=False), fail_on)
        options = [case for key, case in found.items() if key[0].endswith(".options")]
        failed = [case for case in options if case.find("failure") is not None]
        assert len(failed) >= failures if failures else not failed

    def test_a_suppressed_finding_fails_nothing(self) -> None:
        found = cases(handled(sample.audit(hostile=False)))
        assert found["sgl-audit.sm120.options", "attention_backend"].find("failure") is None

    def test_characters_that_xml_cannot_carry(self) -> None:
        nasty = replace(sample.GDN, message="a\x00b\ufffec\ud800d\x1be")
        text = audit_to_junit(replace(sample.audit(), findings=(nasty,)))
        assert "a\\0b\\ufffec\\ud800d\\x1be" in text
        text.encode("utf-8")
        Xml.fromstring(text)


class TestCsv:
    def test_a_row_for_each_choice(self) -> None:
        rows = list(csv.reader(io.StringIO(matrix_to_csv(sample.audit("sm90", "sm120")))))
        assert rows[0] == ["option", "choice", "sm90", "sm120"]
        assert ["attention_backend", "fa3", "automatic", "refused"] in rows
        assert all(len(row) == 4 for row in rows)

    def test_no_cell_is_a_formula(self) -> None:
        names = ("=1+1", "@x", "-2", "+3", True, 1)
        made = tuple(ChoiceCell("option", name, "sm120", ChoiceState.FLAG) for name in names)
        rows = list(csv.reader(io.StringIO(matrix_to_csv(replace(sample.audit(), cells=made)))))
        assert [row[1] for row in rows[1:]] == ["'=1+1", "'@x", "-2", "'+3", "True", "1"]

    def test_a_missing_cell_is_unknown(self) -> None:
        only = ChoiceCell("option", "a", "sm90", ChoiceState.FLAG)
        audit = replace(sample.audit("sm90", "sm120"), cells=(only,))
        assert matrix_to_csv(audit).splitlines()[1] == "option,a,by flag only,unknown"
