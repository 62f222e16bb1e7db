"""The review of an upgrade as SARIF and as annotations."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema

from sgl_audit.model.review import ChangeKind
from sgl_audit.model.source import Place
from sgl_audit_reports.ci import review_to_annotations
from sgl_audit_reports.sarif import review_to_sarif
from sgl_audit_reports.sarif.review import fingerprint

from . import sample_review

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "sarif-2.1.0.json").read_text("utf-8"))


def test_harm_is_in_the_log_and_the_log_satisfies_the_schema() -> None:
    review = sample_review.review()
    log = json.loads(review_to_sarif(review))
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    (run,) = log["runs"]
    harm = [c for c in review.changes if c.kind in (ChangeKind.BREAKING, ChangeKind.BEHAVIOUR)]
    assert len(run["results"]) == len(harm) > 0
    for result, change in zip(run["results"], harm, strict=True):
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] == ("error" if change.kind is ChangeKind.BREAKING else "warning")
        if change.new_place is not None:
            (where,) = result["locations"]
            artifact = where["physicalLocation"]["artifactLocation"]
            assert artifact["uriBaseId"] == "SRCROOT"


def test_a_place_that_is_gone_lies_in_the_old_version() -> None:
    change = replace(
        sample_review.review().changes[0],
        kind=ChangeKind.BREAKING,
        old_place=Place("sglang/a.py", 7),
        new_place=None,
    )
    review = replace(sample_review.review(), changes=(change,))
    log = json.loads(review_to_sarif(review, "python/"))
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    (where,) = log["runs"][0]["results"][0]["locations"]
    artifact = where["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "sglang/a.py", "uriBaseId": "OLDROOT"}
    moved = replace(change, old_place=Place("sglang/a.py", 57))
    assert fingerprint(moved) == fingerprint(change)


def test_annotations_are_one_command_a_line() -> None:
    lines = review_to_annotations(sample_review.review()).splitlines()
    assert lines[-1].startswith("sgl-audit: ")
    assert all(re.fullmatch(r"::(error|warning) [^:]*::.*", line) for line in lines[:-1])
