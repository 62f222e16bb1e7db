"""Our answer beside SGLang's own, value by value; the child as far as it needs no SGLang."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sgl_audit.cli.output import Target
from sgl_audit.cli.probing.differences import Verification, compare, exit_code, render
from sgl_audit.cli.root import evidence_last
from sgl_audit.model.resolution import Launch, Outcome, Refusal, Resolution, ResolvedValue
from sgl_audit.model.source import Place
from sgl_audit.probe import verify_child
from sgl_audit.probe.verifying import Real, roots_of

LAUNCH = Launch("one", "sm120", ("--model-path", "/m"))


def ours(*values: ResolvedValue, refusal: Refusal | None = None) -> Resolution:
    outcome = Outcome.OK if refusal is None else Outcome.REJECTED
    return Resolution(LAUNCH, outcome, options=values, rejection=refusal)


def test_values_are_compared_one_by_one() -> None:
    mine = ours(
        ResolvedValue("attention_backend", True, "triton"),
        ResolvedValue("page_size", True, 1),
        ResolvedValue("tp_size", False, reason="unread"),
        ResolvedValue("not_there", True, 1),
    )
    real = Real("ok", {"attention_backend": "fa3", "page_size": 1, "tp_size": 2})
    found = compare(LAUNCH, mine, real)
    assert (found.same, found.unknown) == (1, ("tp_size",))
    assert [(d.what, d.ours, d.real) for d in found.differences] == [
        ("attention_backend", "triton", "fa3")
    ]
    assert exit_code(Verification("x", (found,), ())) == 1


@pytest.mark.parametrize(("mine", "real"), [(1, True), (0, False), ("1", 1), (None, "None")])
def test_equal_looking_values_of_other_kinds_differ(mine: object, real: object) -> None:
    value = ResolvedValue("x", True, mine)  # type: ignore[arg-type]
    assert compare(LAUNCH, ours(value), Real("ok", {"x": real})).differences


def test_refusals_agree_in_type_and_place() -> None:
    refusal = Refusal("ValueError", "no", Place("sglang/srt/a.py", 7))
    same = Real("rejected", {}, "ValueError", "no", "sglang/srt/a.py", 7)
    other = Real("rejected", {}, "ValueError", "no", "sglang/srt/a.py", 8)
    assert not compare(LAUNCH, ours(refusal=refusal), same).differences
    assert compare(LAUNCH, ours(refusal=refusal), other).differences
    assert compare(LAUNCH, ours(refusal=refusal), Real("ok", {})).differences[0].what == "outcome"
    parser = Refusal("SystemExit", "unrecognized arguments", None)
    refused = Real("rejected", {}, "SystemExit", "2", "x", 1)
    assert not compare(LAUNCH, ours(refusal=parser), refused).differences


def test_no_answer_is_no_agreement() -> None:
    failed = compare(LAUNCH, ours(), Real("failed", {}, message="it broke"))
    unknown = compare(LAUNCH, Resolution(LAUNCH, Outcome.UNKNOWN), Real("ok", {}))
    for item in (failed, unknown):
        found = Verification("x", (item,), ())
        assert exit_code(found) == 3
        assert "0 of 1 launches agree" in render(found, Target("terminal", "-"))


def test_modules_of_a_distribution() -> None:
    assert roots_of("sglang-kernel") == ("sgl_kernel", "triton_kernels")
    assert roots_of("openai-harmony") == ("openai_harmony",)


PACKAGE = """
import dataclasses, os
@dataclasses.dataclass
class Args:
    backend: str = "auto"
    def check_server_args(self):
        pass
def prepare_server_args(argv):
    import missing_kernels
    os.environ["LEFT"] = os.environ.get("LEFT", "") + "x"
    if "--bad" in argv:
        raise ValueError("not here")
    if "--flag" in argv:
        raise SystemExit(2)
    return Args(os.environ["LEFT"])
"""


def test_the_child_answers_each_launch_in_a_fork_of_its_own(tmp_path: Path) -> None:
    package = tmp_path / "sglang" / "srt"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("")
    (package / "server_args.py").write_text(PACKAGE)
    (tmp_path / "missing_kernels.py").write_text("")
    launches = [
        {"id": name, "argv": argv, "environment": {}}
        for name, argv in (("a", []), ("b", []), ("c", ["--bad"]), ("d", ["--flag"]))
    ]
    request, answers = tmp_path / "in.json", tmp_path / "out.jsonl"
    request.write_text(json.dumps({"launches": launches, "names": ["backend"], "fake": None}))
    subprocess.run(
        [sys.executable, verify_child.__file__, str(request), str(answers)],
        env={"PYTHONPATH": str(tmp_path)},
        check=True,
    )
    a, b, c, d, end = [json.loads(line) for line in answers.read_text().splitlines()]
    assert a["options"] == b["options"] == {"backend": "x"}
    assert (c["type"], c["file"], c["line"]) == ("ValueError", "sglang/srt/server_args.py", 12)
    assert (d["outcome"], d["type"]) == ("rejected", "SystemExit")
    assert end == {"stubbed": [], "called": []}


def test_evidence_may_stand_before_the_command() -> None:
    assert evidence_last(["--evidence", "D", "matrix", "x"]) == ["matrix", "--evidence", "D", "x"]
    assert evidence_last(["--evidence=D", "resolve"]) == ["resolve", "--evidence=D"]
    assert evidence_last(["--evidence", "D", "tree"]) == ["--evidence", "D", "tree"]
