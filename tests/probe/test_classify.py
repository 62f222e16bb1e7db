"""The class of a failure from log, exit code and phase, and the lines that prove it.

Texts of launches on a CPU are what SGLang 0.5.9 to 0.5.23 print. Texts that only a GPU produces
are taken from public reports and marked `gpu`.
"""

from __future__ import annotations

import pytest

from sgl_audit.model.evidence import FailureClass as F
from sgl_audit.model.evidence import Phase
from sgl_audit.probe.causes import causes, last_cause
from sgl_audit.probe.classify import End, classify, said_by_log
from sgl_audit.probe.logs import from_lines

PACKAGES = "/venv/lib/python3.11/site-packages"
GONE = "[2026-11-29 17:25:43] Received sigquit from a child process. It usually means ..."


def died(message: str, *frames: tuple[str, int, str], gone: bool = True) -> list[str]:
    """The log of a scheduler that raised."""
    lines = ["[2026-11-29 17:25:40] Load weight begin.", "", "[2026-11-29 17:25:43] Scheduler hit "
             "an exception: Traceback (most recent call last):"]  # fmt: skip
    for file, line, source in frames:
        lines += [f'  File "{PACKAGES}/{file}", line {line}, in run', f"    {source}"]
    return [*lines, message, "", *([GONE] if gone else [])]


def class_of(lines: list[str], code: int | None = -9, phase: Phase = Phase.LOAD) -> F:
    return classify(from_lines(lines), End(code, phase)).failure


ATTENTION = ("sglang/srt/layers/attention/attention_registry.py", 243, "assert (major == 8")
RUNNER = ("sglang/srt/model_executor/model_runner.py", 715, "self.load_model()")


@pytest.mark.parametrize(
    ("message", "failure"),
    [
        ("AssertionError: FlashAttention v3 Backend requires SM>=80 and SM<=90.", F.NO_KERNEL),
        ("AssertionError: Torch not compiled with CUDA enabled", F.NO_DEVICE),
        ("AttributeError: module 'torch._C' has no attribute '_cuda_setDevice'", F.NO_DEVICE),
        ("RuntimeError: 0 active drivers ([]). There should only be one.", F.NO_DEVICE),
        ("ModuleNotFoundError: No module named 'flashinfer'", F.MISSING_PACKAGE),
        ("AssertionError: the number of ranks should be smaller", F.REFUSED_LOADING),
    ],
)
def test_deaths_while_loading(message: str, failure: F) -> None:
    found = classify(from_lines(died(message, RUNNER, ATTENTION)), End(-9, Phase.LOAD))
    assert found.failure is failure
    assert found.grounds[0].text == message
    assert found.grounds[0].line == 8
    assert found.place is not None
    assert str(found.place) == "sglang/srt/layers/attention/attention_registry.py:243"


# gpu: from public reports.
@pytest.mark.parametrize(
    ("message", "failure"),
    [
        ("RuntimeError: No supported CUDA architectures found for majors [10].", F.NO_KERNEL),
        (
            "flashinfer.utils.BackendSupportedError: mm_fp4 does not support backend 'trtllm' with "
            "capability 120",
            F.NO_KERNEL,
        ),
        ("torch.AcceleratorError: CUDA error: no kernel image is available for execution on the "
         "device", F.NO_KERNEL),
        ("RuntimeError: ptxas fatal : Value 'sm_121a' is not defined for option", F.NO_KERNEL),
        ("AssertionError: Only SM100 GPUs are supported by this kernel", F.NO_KERNEL),
        ("torch.AcceleratorError: CUDA error: an illegal memory access was encountered",
         F.ILLEGAL_ACCESS),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB.", F.OUT_OF_MEMORY),
        ("RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
         F.OUT_OF_MEMORY),
    ],
)  # fmt: skip
def test_deaths_that_need_a_gpu(message: str, failure: F) -> None:
    frame = ("sglang/srt/layers/quantization/fp4_utils.py", 12, "out = mm_fp4(a, b)")
    assert class_of(died(message, frame)) is failure
    assert class_of(died(message, frame), phase=Phase.SMOKE) is failure


def test_a_wrong_flag() -> None:
    usage = ["usage: sglang serve [-h]", "sglang serve: error: argument --attention-backend: "
             "invalid choice: 'nonsense' (choose from 'triton', 'fa3')"]  # fmt: skip
    found = classify(from_lines(usage), End(2, Phase.START))
    assert found.failure is F.REFUSED_FLAG
    assert found.summary.startswith("argument --attention-backend")
    assert found.grounds[0].line == 2


def launcher(message: str, *frames: tuple[str, int, str]) -> list[str]:
    lines = ["[2026-11-29 17:28:33] kill_process_tree called: parent_pid=27224",
             "Traceback (most recent call last):"]  # fmt: skip
    for file, line, source in frames:
        lines += [f'  File "{PACKAGES}/{file}", line {line}, in run', f"    {source}"]
    return [*lines, message]


LAUNCH = ("sglang/launch_server.py", 29, "server_args.resolve_once()")
HOOK = ("sglang/srt/arg_groups/moe_hook.py", 89, "assert view.ep_size in [")


def test_a_refusal_in_resolution_even_if_it_speaks_of_a_capability() -> None:
    told = "ValueError: TRTLLM MLA backend is only supported on Blackwell GPUs (SM100/SM12x)."
    raising = ("sglang/srt/arg_groups/overrides.py", 1211, "raise ValueError(")
    for message, frame in ((told, raising), ("AssertionError: The expert parallel size", HOOK)):
        found = classify(from_lines(launcher(message, LAUNCH, frame)), End(1, Phase.START))
        assert found.failure is F.REFUSED_RESOLUTION
        assert found.place is not None
        assert found.place.file == frame[0]


def test_a_package_that_is_too_old_and_a_model_that_is_not_there() -> None:
    check = ("sglang/srt/utils/common.py", 2434, "raise Exception(")
    old = "Exception: flashinfer_python with minimum required version 0.7.2 is not installed."
    assert class_of(launcher(old, LAUNCH, check), 1, Phase.START) is F.MISSING_PACKAGE
    hub = ("transformers/utils/hub.py", 595, 'raise OSError(f"{e}") from e')
    absent = "OSError: Repo id must be in the form 'repo_name' or 'namespace/repo_name'"
    assert class_of(launcher(absent, LAUNCH, hub), 1, Phase.START) is F.NO_MODEL


def test_the_cause_is_what_was_raised_before_the_child_was_gone() -> None:
    first = died("RuntimeError: the first", RUNNER)
    after = ["Traceback (most recent call last):", f'  File "{PACKAGES}/x.py", line 1, in y',
             "    z()", "KeyError: 'later'"]  # fmt: skip
    cause = last_cause([*first, *after])
    assert cause is not None
    assert cause.message == "the first"
    assert [item.name for item in causes([*first, *after])] == ["RuntimeError", "KeyError"]


def test_of_chained_exceptions_the_last_is_the_cause() -> None:
    lines = ["Traceback (most recent call last):", f'  File "{PACKAGES}/a.py", line 1, in b',
             "    c()", "KeyError: 'a'", "",
             "During handling of the above exception, another exception occurred:", "",
             "Traceback (most recent call last):", f'  File "{PACKAGES}/a.py", line 2, in b',
             "    d()", "ValueError: really this"]  # fmt: skip
    cause = last_cause(lines)
    assert cause is not None
    assert cause.text == "ValueError: really this"


def test_death_in_the_warm_up_and_on_a_prompt() -> None:
    frame = ("sglang/srt/layers/attention/torch_native_backend.py", 160, "sdpa(")
    lines = died("RuntimeError: Expected size for first two dimensions of batch2", frame)
    assert class_of(lines, phase=Phase.WARMUP) is F.DIED_WARMUP
    found = classify(from_lines(lines), End(-9, Phase.SMOKE, prompt="chat sum"))
    assert found.failure is F.DIED_PROMPT
    assert "'chat sum'" in found.summary


def test_nan_in_the_log() -> None:
    frame = ("sglang/srt/layers/sampler.py", 838, "torch.multinomial(")
    end = "RuntimeError: probability tensor contains either `inf`, `nan` or element < 0"
    assert class_of(died(end, frame), phase=Phase.SMOKE) is F.NAN
    warned = from_lines(["ok", "[2026] Detected errors during sampling! NaN in the logits."])
    found = said_by_log(warned)
    assert found is not None
    assert (found.failure, found.grounds[0].line) == (F.NAN, 2)
    assert said_by_log(from_lines(["all is well"])) is None


def test_what_the_user_wrote_is_no_failure() -> None:
    path = "[2026] server_args={'model_path': '/models/NaN detected!/CUDA out of memory'}"
    assert said_by_log(from_lines([path])) is None
    assert class_of([path], 1) is F.UNKNOWN
    warned = [path, "/a.py:7: RuntimeWarning: NaN detected! in the logits"]
    assert said_by_log(from_lines(warned)) is not None


def test_a_known_text_after_a_harmless_one_counts() -> None:
    lines = ["x.py:1: UserWarning: CUDA out of memory is near", "CUDA out of memory. Tried 2 GiB"]
    assert class_of(lines, 1) is F.OUT_OF_MEMORY
    assert class_of(lines[:1], 1) is F.UNKNOWN


def test_an_exception_of_its_own_is_not_the_oom_killers_doing() -> None:
    own = died("KeyError: 'novel'", RUNNER)
    assert classify(from_lines(own), End(-9, Phase.LOAD, oom_kills=1)).failure is F.UNKNOWN
    after = [GONE, *died("KeyError: 'novel'", RUNNER, gone=False)]
    found = classify(from_lines(after), End(-9, Phase.LOAD, oom_kills=1))
    assert found.failure is F.OOM_KILLED


def test_a_taken_port_that_only_the_server_notices() -> None:
    lines = ["INFO: Application startup complete.", "ERROR: [Errno 98] error while attempting to "
             "bind on address ('127.0.0.1', 57541): address already in use"]  # fmt: skip
    assert class_of(lines, None) is F.PORT_TAKEN


def test_sigkill_is_the_oom_killer_only_where_the_kernel_counted_it() -> None:
    lines = ["[2026] Load weight begin."]
    assert classify(from_lines(lines), End(-9, Phase.LOAD, oom_kills=1)).failure is F.OOM_KILLED
    assert classify(from_lines(lines), End(-9, Phase.LOAD)).failure is F.UNKNOWN
    # Another program was killed; this one ended by its own exception.
    own = died("ValueError: something new", RUNNER)
    found = classify(from_lines(own), End(1, Phase.LOAD, oom_kills=0))
    assert found.failure is F.UNKNOWN


def test_what_fits_nothing_is_unknown_and_keeps_the_end_of_the_log() -> None:
    frame = ("sglang/srt/managers/scheduler.py", 5, "x = table[key]")
    found = classify(from_lines(died("KeyError: 'novel'", frame)), End(-9, Phase.LOAD))
    assert found.failure is F.UNKNOWN
    texts = [ground.text for ground in found.grounds]
    assert "KeyError: 'novel'" in texts
    assert "exit code -9 in phase load" in texts


def test_models_that_are_left_out_are_no_missing_package() -> None:
    lines = ["[2026] Ignore import error when loading sglang.srt.models.x: No module named "
             "'cutlass'", "[2026] all else is well"]  # fmt: skip
    assert class_of(lines, 1) is F.UNKNOWN


def test_a_fault_while_resolving_is_no_refusal() -> None:
    hook = (
        "sglang/srt/arg_groups/quantization_hook.py",
        7,
        "import sglang.srt.layers.quantization",
    )
    fault = ("sglang/srt/layers/quantization/utils.py", 521, "scalar_types.uint4b8")
    told = "AttributeError: type object 'scalar_types' has no attribute 'uint4b8'"
    assert class_of(launcher(told, LAUNCH, hook, fault), 1, Phase.START) is F.UNKNOWN
