"""JSON reports: the fixed form, the schemas, determinism."""

from __future__ import annotations

import json
from dataclasses import replace

import jsonschema
import pytest
from syrupy.assertion import SnapshotAssertion

from sgl_audit.model.capability import BY_NAME
from sgl_audit.model.resolution import Outcome, Resolution, ResolvedValue
from sgl_audit_reports.json import (
    audit_to_json,
    dump,
    facts_to_json,
    resolution_to_json,
    schema,
)

from . import sample


def test_audit_satisfies_its_schema(snapshot: SnapshotAssertion) -> None:
    text = audit_to_json(sample.audit())
    jsonschema.validate(json.loads(text), schema("audit"))
    assert text == snapshot


def test_facts_satisfy_their_schema(snapshot: SnapshotAssertion) -> None:
    text = facts_to_json(sample.FACTS, "0.5.9")
    jsonschema.validate(json.loads(text), schema("facts"))
    assert text == snapshot


@pytest.mark.parametrize("resolution", [sample.resolution(), sample.refused()])
def test_resolution_satisfies_its_schema(resolution: Resolution) -> None:
    value = json.loads(dump(resolution_to_json(resolution)))
    jsonschema.validate(value, schema("resolution"))


def test_facts_have_the_fixed_form() -> None:
    found = json.loads(facts_to_json(sample.FACTS, "0.5.9"))
    assert found["format"] == 1
    assert found["sglang"] == {"version": "0.5.9"}
    choices = found["choice_lists"]["FP4_GEMM_RUNNER_BACKEND_CHOICES"]
    assert choices["values"][:3] == ["auto", "flashinfer_cudnn", "flashinfer_cutlass"]
    assert choices["where"] == {"file": sample.ARGS, "line": 169, "column": 0}
    option = found["options"]["fp4_gemm_runner_backend"]
    assert option["default"] == "flashinfer_cutlass"
    assert option["flags"] == ["--fp4-gemm-backend", "--fp4"]
    assert found["options"]["page_size"]["choices"] is None
    assert found["enums"]["MoeRunnerBackend"] == {"AUTO": "auto", "MARLIN": "marlin"}
    assert found["gates"] == {"is_sm100_supported": {"sm90": False, "sm100": True, "sm120": False}}
    assert found["platform"] == {}


def test_a_name_defined_twice_keeps_both() -> None:
    first = sample.FACTS.options[0]
    facts = replace(sample.FACTS, options=(first, replace(first, default="auto")))
    option = json.loads(facts_to_json(facts, None))["options"]["fp4_gemm_runner_backend"]
    assert option["default"] == "flashinfer_cutlass"
    assert [other["default"] for other in option["also"]] == ["auto"]


def test_resolution_has_the_fixed_form() -> None:
    found = resolution_to_json(sample.resolution())
    assert found["outcome"] == "ok"
    assert found["rejection"] is None
    options = json.loads(dump(found["options"]))
    assert options["attention_backend"]["status"] == "decided"
    assert options["attention_backend"]["value"] == "flashinfer"
    runtime = json.loads(dump(found["runtime"]))
    assert runtime["moe_runner_backend"]["status"] == "undecided"
    assert "value" not in runtime["moe_runner_backend"]
    refusals = json.loads(dump(found["late"]))["refusals"]
    assert refusals[0]["stage"] == "attention"
    assert refusals[0]["line"] == 205


def test_a_parser_refusal_has_no_place() -> None:
    found = json.loads(dump(resolution_to_json(sample.refused())))
    assert found["rejection"]["type"] == "SystemExit"
    assert found["rejection"]["file"] is None
    assert found["rejection"]["line"] is None
    assert found["late"] == {"status": "unknown"}


def test_without_trace_nothing_of_it_is_left() -> None:
    assert '"trace"' not in dump(resolution_to_json(sample.resolution(), trace=False))


def test_one_launch_is_one_line_of_ascii() -> None:
    text = dump(resolution_to_json(sample.resolution()), indent=None)
    assert "\n" not in text
    assert text.isascii()


def test_infinity_is_still_json() -> None:
    values = (ResolvedValue("ratio", True, [float("inf"), {"a": float("nan")}]),)
    resolution = replace(sample.refused(), outcome=Outcome.UNKNOWN, options=values)
    found = json.loads(dump(resolution_to_json(resolution)))
    assert found["options"]["ratio"]["value"] == ["inf", {"a": "nan"}]


def test_same_bytes_every_time() -> None:
    audit = sample.audit(*BY_NAME)
    assert audit_to_json(audit) == audit_to_json(audit)
    assert audit_to_json(audit) == audit_to_json(
        replace(audit, findings=tuple(reversed(audit.findings)))
    )
