"""The GitHub Action: its schema, its shell, and its steps run on a fixture."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from sgl_audit.cli.root import COMMANDS

from . import action
from .action import Runner

FIXTURE = action.ROOT / "fixtures" / "dataclass_2026"
ON = {
    "github.repository": "team/serving",
    "github.event.pull_request.number": "7",
    "github.token": "t",
    "inputs.token": "t",
}


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A workspace whose `tree` is the fixture."""
    shutil.copytree(FIXTURE, tmp_path / "tree")
    return Runner(tmp_path)


def audited(runner: Runner, **inputs: str) -> action.Ran:
    """The step that runs sgl-audit."""
    given = {"source": "tree", "arch": "sm120"} | inputs
    return runner.run("Run", {f"inputs.{key}": value for key, value in given.items()})


def test_an_audit_writes_every_report_and_keeps_the_exit_code(runner: Runner) -> None:
    ran = audited(runner)
    assert ran.code == 0, ran.out
    assert ran.outputs == {"exit-code": "1", "reports": "sgl-audit-reports"}
    assert "::error file=tree/sglang/srt/" in ran.out or "::error file=sglang/srt/" in ran.out
    assert "--attention-backend triton" in ran.out
    assert ran.summary.startswith("## sgl-audit: sglang 0.5.90")
    reports = runner.folder / "sgl-audit-reports"
    assert {path.name for path in reports.iterdir()} == {
        f"sgl-audit.{suffix}" for suffix in ("sarif", "xml", "md", "html")
    }
    assert json.loads((reports / "sgl-audit.sarif").read_text("utf-8"))["version"] == "2.1.0"
    assert runner.run("Verdict", {"steps.run.outputs.exit-code": "1"}).code == 1
    assert runner.run("Verdict", {"steps.run.outputs.exit-code": "0"}).code == 0
    # A step that did not come to its end is no success.
    assert runner.run("Verdict", {"steps.run.outputs.exit-code": ""}).code == 2


def test_inputs_reach_the_command_as_one_word_each(runner: Runner) -> None:
    ran = audited(runner, args="--assume 'device_name=A B' cuda=12.8", **{"fail-on": "never"})
    assert ran.outputs["exit-code"] == "0", ran.out
    hostile = audited(runner, source="$(touch owned); `touch owned`", arch="sm120")
    assert hostile.outputs["exit-code"] == "2"
    assert not (runner.folder / "owned").exists()


def test_without_inputs_the_configuration_decides(runner: Runner) -> None:
    (runner.folder / "sgl-audit.toml").write_text(
        'source = "tree"\narch = "sm120"\nfail-on = "never"\n', "utf-8"
    )
    ran = audited(runner, source="", arch="")
    assert ran.outputs["exit-code"] == "0", ran.out


def test_a_check_of_launches_fails_at_their_line(runner: Runner) -> None:
    model = action.ROOT / "fixtures" / "models" / "nvfp4_moe_hybrid"
    (runner.folder / "serve it.sh").write_text(
        f"#!/bin/sh\npython -m sglang.launch_server --model-path {model}\n", "utf-8"
    )
    ran = audited(runner, command="check", launches="serve it.sh\n", args="--transformers none")
    assert ran.outputs["exit-code"] == "1", ran.out
    assert "::error file=serve it.sh,line=2," in ran.out
    assert (runner.folder / "sgl-audit-reports" / "sgl-audit.xml").is_file()
    assert ran.summary.startswith("## sgl-audit check: sglang 0.5.90")


@pytest.mark.skipif("diff" not in COMMANDS, reason="there is no diff")
def test_a_comparison_writes_its_reports(runner: Runner) -> None:
    ran = audited(
        runner, command="diff", old="tree", launches="a.yaml\n", args="--transformers none"
    )
    assert ran.outputs["exit-code"] == "2", "a file of launches that is not there"
    ran = audited(runner, command="diff", old="tree", args="--transformers none")
    assert ran.outputs["exit-code"] == "0", ran.out
    reports = runner.folder / "sgl-audit-reports"
    assert {path.suffix for path in reports.iterdir()} == {".sarif", ".md", ".html"}
    assert ran.summary


def test_another_command_is_refused(runner: Runner) -> None:
    ran = audited(runner, command="rm")
    assert ran.code == 2
    assert "must be audit, diff or check" in ran.out


def commented(runner: Runner, **environment: str) -> tuple[action.Ran, list[str]]:
    """The step that comments, and the calls that it made."""
    reports = runner.folder / "sgl-audit-reports"
    reports.mkdir(exist_ok=True)
    (reports / "sgl-audit.md").write_text("## report\n", "utf-8")
    ran = runner.run("Comment on the pull request", ON, **environment)
    return ran, runner.calls.read_text("utf-8").splitlines()


def test_a_first_comment_is_made(runner: Runner) -> None:
    ran, calls = commented(runner)
    assert ran.code == 0, ran.out
    assert calls[0].startswith("api --paginate repos/team/serving/issues/7/comments --jq")
    assert "--method POST repos/team/serving/issues/7/comments" in calls[1]
    body = Path(f"{runner.calls}.body").read_text("utf-8")
    assert body == "<!-- sgl-audit audit -->\n\n## report\n"


def test_a_later_run_replaces_the_comment(runner: Runner) -> None:
    _, calls = commented(runner, GH_FOUND="41\n42\n")
    assert "--method PATCH repos/team/serving/issues/comments/41" in calls[1]


def test_a_token_that_may_not_comment_fails_nothing(runner: Runner) -> None:
    ran, _ = commented(runner, GH_EXIT="1")
    assert ran.code == 0
    assert "::warning::sgl-audit could not comment" in ran.out


def test_no_report_no_comment(runner: Runner) -> None:
    assert runner.run("Comment on the pull request", ON).code == 0
    assert not runner.calls.exists()


def test_no_input_is_part_of_a_script() -> None:
    for step in action.ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", ""), step["name"]


def test_shellcheck_has_nothing_to_say(tmp_path: Path) -> None:
    for number, step in enumerate(action.ACTION["runs"]["steps"]):
        if "run" not in step:
            continue
        script = tmp_path / f"{number}.sh"
        variables = "".join(f"{name}=${{{name}-}}\n" for name in step.get("env", {}))
        script.write_text(f"#!/bin/bash\n{variables}{step['run']}", "utf-8")
        # The variables of a step come from the runner, and some are for other programs alone.
        done = subprocess.run(
            ["shellcheck", "--exclude=SC2034", str(script)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout
