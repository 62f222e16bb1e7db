"""SARIF: the schema, relative paths, chains, and that nothing of the source is markup in it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sgl_audit.model.report import Audit, ChainLink
from sgl_audit.model.source import Diagnostic, Place
from sgl_audit.model.triage import Handled, Handling, Triage
from sgl_audit.rules import all_rules
from sgl_audit_reports.sarif import audit_to_sarif

from . import sample

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "sarif-2.1.0.json").read_text("utf-8"))


def run_of(audit: Audit, base: str = "") -> dict[str, Any]:
    """The one run of the log, which satisfies the schema."""
    log = json.loads(audit_to_sarif(audit, all_rules(), base))
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    found: dict[str, Any] = run
    return found


def result_of(run: dict[str, Any], fingerprint: str) -> dict[str, Any]:
    """The result of one finding."""
    (found,) = [
        item for item in run["results"] if item["partialFingerprints"]["sglAudit/v1"] == fingerprint
    ]
    result: dict[str, Any] = found
    return result


def test_the_schema_would_object() -> None:
    log = json.loads(audit_to_sarif(sample.audit(), all_rules()))
    del log["runs"][0]["tool"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft4Validator(SCHEMA).validate(log)


def test_results_name_rule_place_and_remedy() -> None:
    run = run_of(sample.audit("sm90", "sm120"))
    found = result_of(run, sample.GDN.fingerprint)
    assert run["tool"]["driver"]["rules"][found["ruleIndex"]]["id"] == found["ruleId"] == "SGA101"
    assert found["level"] == "error"
    assert "do: --attention-backend triton" in found["message"]["text"]
    physical = found["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": sample.REGISTRY, "uriBaseId": "SRCROOT"}
    assert physical["region"] == {"startLine": 205, "startColumn": 9}
    assert found["properties"]["upstream"].endswith("attention_registry.py#L205")


def test_paths_are_those_of_the_repository() -> None:
    run = run_of(sample.audit(), base="python/")
    uris = [
        item["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for item in run["results"]
    ]
    assert uris
    assert all(uri.startswith("python/sglang/") for uri in uris)


def test_the_chain_is_a_code_flow() -> None:
    steps = result_of(run_of(sample.audit()), sample.GDN.fingerprint)["codeFlows"][0]
    locations = [step["location"] for step in steps["threadFlows"][0]["locations"]]
    lines = [item["physicalLocation"]["region"]["startLine"] for item in locations]
    assert lines == [1290, 205]
    assert locations[0]["message"]["text"] == "is_blackwell() holds, so the default is flashinfer"
    context = locations[0]["physicalLocation"]["contextRegion"]
    assert (context["startLine"], context["endLine"]) == (1289, 1291)


def test_steps_without_a_place_are_said_beside_one_that_has() -> None:
    links = (ChainLink("first"), ChainLink("second", Place("a.py", 3)), ChainLink("third"))
    audit = replace(sample.audit(), findings=(replace(sample.GDN, chain=links),))
    (flow,) = run_of(audit)["results"][0]["codeFlows"]
    (step,) = flow["threadFlows"][0]["locations"]
    assert step["location"]["message"]["text"] == "first; second; third"


def test_what_was_not_read_is_a_notification() -> None:
    (invocation,) = run_of(sample.audit())["invocations"]
    assert invocation["executionSuccessful"] is False
    notes = invocation["toolExecutionNotifications"]
    skipped = [item for item in notes if item["descriptor"]["id"] == "not-read"]
    where = skipped[0]["locations"][0]["physicalLocation"]
    assert where["artifactLocation"]["uri"] == "sglang/bad.py"
    assert [item for item in notes if item["descriptor"]["id"] == "not-understood"]


def test_twins_keep_apart() -> None:
    twice = replace(sample.audit(), findings=(sample.GDN, replace(sample.GDN, message="other")))
    hashes = [
        item["partialFingerprints"]["primaryLocationLineHash"] for item in run_of(twice)["results"]
    ]
    assert hashes == [f"{sample.GDN.fingerprint}:1", f"{sample.GDN.fingerprint}:2"]


def test_what_was_dealt_with_says_so() -> None:
    triage = Triage(
        (
            Handled(sample.GDN, Handling.SUPPRESSED, "we pass triton"),
            Handled(sample.AUTO, Handling.KNOWN),
        ),
        (Diagnostic("suppression 2 fits no finding"),),
        compared=True,
    )
    run = run_of(replace(sample.audit(), triage=triage))
    suppressed = result_of(run, sample.GDN.fingerprint)
    assert suppressed["suppressions"] == [{"kind": "external", "justification": "we pass triton"}]
    assert suppressed["baselineState"] == "new"
    known = result_of(run, sample.AUTO.fingerprint)
    assert known["baselineState"] == "unchanged"
    assert "suppressions" not in known
    (stale,) = run["invocations"][0]["toolConfigurationNotifications"]
    assert stale["message"]["text"] == "suppression 2 fits no finding"


def test_foreign_text_is_neither_link_nor_placeholder() -> None:
    nasty = replace(sample.GDN, message="{0} [x](http://evil.example) \x1b[31m\u2028")
    found = run_of(replace(sample.audit(), findings=(nasty,)))["results"][0]
    text = found["message"]["text"]
    assert "{{0}} \\[x](http://evil.example) \\x1b[31m\\u2028" in text


def test_odd_names_are_valid_uris() -> None:
    place = Place("sglang/a b#c?d:\u00e9\n.py", 0, -1)
    run = run_of(replace(sample.audit(), findings=(replace(sample.GDN, place=place),)))
    where = run["results"][0]["locations"][0]["physicalLocation"]
    assert where["artifactLocation"]["uri"] == "sglang/a%20b%23c%3Fd%3A%C3%A9%0A.py"
    assert where["region"] == {"startLine": 1, "startColumn": 1}


def test_same_bytes_and_nothing_of_this_machine() -> None:
    text = audit_to_sarif(sample.audit(), all_rules())
    assert text == audit_to_sarif(sample.audit(), all_rules())
    assert text.isascii()
    assert str(Path.cwd()) not in text
