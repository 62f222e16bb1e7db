"""What a server resolved to, beside what was predicted."""

from __future__ import annotations

from sgl_audit.model.evidence import (
    Agreement,
    FailureClass,
    ObservedValue,
    Phase,
    PredictedRefusal,
    PredictedValue,
    Prediction,
)
from sgl_audit.model.source import Place
from sgl_audit.probe.classify import Failure
from sgl_audit.probe.compare import compare
from sgl_audit.probe.logs import from_lines
from sgl_audit.probe.observe import identity, logged_arguments, observe

NEW = (
    "[2026-11-29 17:39:52] server_args={'model_path': '/m', 'attention_backend': None, "
    "'moe_runner_backend': 'auto', 'random_seed': 5656, 'page_size': 1, 'cuda_graph_bs': [1, 2]}"
)
OLD = (
    "[2026-11-29 17:23:01] server_args=ServerArgs(model_path='/m', attention_backend=None, "
    "moe_runner_backend='auto', random_seed=5656, page_size=1, cuda_graph_bs=[1, 2])"
)
ODD = OLD.replace("page_size=1", "mode=<Mode.A: 0>, page_size=1")
INFO = {
    "attention_backend": None,
    "prefill_attention_backend": None,
    "moe_runner_backend": "auto",
    "random_seed": 5656,
    "internal_states": [{"prefill_attention_backend": "torch_native", "attention_backend": None}],
}


def test_both_forms_of_the_arguments_line_say_the_same() -> None:
    new, old = logged_arguments(from_lines([NEW])), logged_arguments(from_lines(["x", OLD]))
    assert new == old
    assert new["cuda_graph_bs"] == [1, 2]


def test_a_value_that_is_no_python_spoils_no_other() -> None:
    found = logged_arguments(from_lines([ODD]))
    assert (found["random_seed"], found["page_size"]) == (5656, 1)
    assert "mode" not in found


def test_the_schedulers_view_wins_and_auto_is_not_reported() -> None:
    seen = {v.name: v for v in observe(INFO, from_lines([NEW]), ()).values}
    prefill = seen["prefill_attention_backend"]
    assert (prefill.value, prefill.differs, prefill.resolved) == ("torch_native", True, None)
    assert seen["moe_runner_backend"].reported is False


def test_the_log_alone_serves_where_no_endpoint_answered() -> None:
    log = from_lines([NEW, "KV Cache is allocated. dtype: torch.bfloat16, #tokens: 8192"])
    seen = {v.name: v for v in observe(None, log, ()).values}
    assert seen["moe_runner_backend"].value == "auto"
    assert seen["KV cache dtype in use"].value == "bfloat16"


def test_identity_is_the_random_seed() -> None:
    logged = {"random_seed": 5656}
    assert identity(INFO, logged).startswith("random_seed 5656")
    assert identity({"random_seed": 1}, logged).startswith("NOT THE SAME")
    assert identity({}, logged) == ""


def test_lines_that_name_what_was_chosen_are_kept() -> None:
    said = "The current platform does not support Intel AMX, will fallback to torch_native backend."
    log = from_lines([NEW, f"[2026-11-29 17:39:50] {said}", "Load weight begin."])
    assert [ground.line for ground in observe(None, log, ()).said] == [2]


def ok(*values: PredictedValue, late: tuple[PredictedRefusal, ...] = ()) -> Prediction:
    return Prediction("ok", "cpu", values=values, late=late)


def of(
    prediction: Prediction,
    *values: ObservedValue,
    failure: Failure | None = None,
    phase: Phase = Phase.SMOKE,
    asked: dict[str, str] | None = None,
) -> dict[str, tuple[str, str]]:
    from sgl_audit.model.evidence import Observation

    found = compare(prediction, Observation(values), failure, phase, asked or {})
    return {item.subject: (item.agreement.value, item.observed) for item in found}


def test_each_value_is_confirmed_contradicted_or_not_exercised() -> None:
    found = of(
        ok(
            PredictedValue("attention_backend", True, "fa3"),
            PredictedValue("sampling_backend", True, "pytorch"),
            PredictedValue("moe_runner_backend", True, "triton"),
            PredictedValue("page_size", False, text="1 or 64"),
            PredictedValue("fp4_gemm_runner_backend", True, "cutlass", layer="run time"),
        ),
        ObservedValue("attention_backend", "triton", "/server_info"),
        ObservedValue("sampling_backend", "pytorch", "/server_info"),
        ObservedValue("moe_runner_backend", "auto", "/server_info", reported=False),
        ObservedValue("page_size", 64, "/server_info"),
    )
    assert found["resolution"] == ("confirmed", "accepted")
    assert found["attention_backend"] == ("contradicted", "triton")
    assert found["sampling_backend"] == ("confirmed", "pytorch")
    assert found["moe_runner_backend"] == ("not exercised", "not reported")
    assert found["page_size"] == ("not exercised", "64")
    assert found["fp4_gemm_runner_backend (run time)"] == ("not exercised", "not reported")


def test_what_the_scheduler_changed_later_does_not_contradict_the_resolution() -> None:
    seen = ObservedValue("attention_backend", "torch_native", "x", differs=True, resolved=None)
    assert of(ok(PredictedValue("attention_backend", True, None)), seen)["attention_backend"] == (
        "confirmed",
        "None",
    )


REFUSAL = PredictedRefusal(
    "ValueError", "TRTLLM MLA is not for this", "resolution", Place("sglang/srt/a.py", 10)
)


def failed(kind: FailureClass, place: Place | None, text: str = "ValueError: x") -> Failure:
    return Failure(kind, text, (), place)


def test_a_predicted_refusal_is_matched_by_its_place_or_its_words() -> None:
    refused = Prediction("rejected", "cpu", rejection=REFUSAL)
    same = failed(FailureClass.REFUSED_RESOLUTION, Place("sglang/srt/a.py", 12))
    words = failed(FailureClass.REFUSED_RESOLUTION, None, "ValueError: TRTLLM MLA is not for this")
    other = failed(FailureClass.REFUSED_RESOLUTION, Place("sglang/srt/b.py", 12))
    for failure, wanted in ((same, "confirmed"), (words, "confirmed"), (other, "contradicted")):
        found = of(refused, failure=failure, phase=Phase.START)
        assert found["resolution"][0] == wanted
    assert of(refused)["resolution"] == ("contradicted", "accepted")


def test_a_late_refusal_is_confirmed_contradicted_or_not_reached() -> None:
    late = ok(late=(REFUSAL,))
    hit = failed(FailureClass.NO_KERNEL, REFUSAL.place)
    name = "loading (resolution)"
    assert of(late, failure=hit, phase=Phase.LOAD)[name][0] == "confirmed"
    assert of(late)[name] == ("contradicted", "loaded")
    early = failed(FailureClass.REFUSED_FLAG, None)
    assert of(late, failure=early, phase=Phase.START)[name][0] == "not exercised"


def test_a_value_asked_for_and_silently_replaced() -> None:
    seen = ObservedValue("attention_backend", "torch_native", "/server_info")
    found = of(ok(), seen, asked={"attention_backend": "intel_amx"})
    assert found["attention_backend (asked for)"] == ("contradicted", "torch_native")
    assert Agreement.CONTRADICTED.value == "contradicted"
