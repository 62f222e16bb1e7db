"""Files that other programs read: checked by those programs, or by their published schemas."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml

from sgl_audit.cli.root import root
from sgl_audit.settings.reading import read_settings

from .action import ROOT

EXAMPLES = ROOT / "examples"


def checked(*words: str) -> None:
    """A program of this environment ends with 0."""
    done = subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        ("vendor.github-actions", "action.yml"),
        ("vendor.github-workflows", "examples/github.yml"),
        ("vendor.gitlab-ci", "examples/gitlab-ci.yml"),
    ],
)
def test_schemas(schema: str, file: str) -> None:
    checked("check_jsonschema", "--builtin-schema", schema, str(ROOT / file))


def test_the_schema_would_object(tmp_path: Path) -> None:
    broken = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    del broken["runs"]["using"]
    path = tmp_path / "action.yml"
    path.write_text(yaml.safe_dump(broken), "utf-8")
    with pytest.raises(AssertionError):
        checked("check_jsonschema", "--builtin-schema", "vendor.github-actions", str(path))


def test_pre_commit_takes_its_files() -> None:
    checked("pre_commit", "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml"))
    checked("pre_commit", "validate-config", str(EXAMPLES / "pre-commit-config.yaml"))


def parsed(words: list[str]) -> None:
    """The command line takes the words; nothing is run."""
    assert words[0] == "sgl-audit"
    context = click.Context(root, info_name="sgl-audit")
    name, command, rest = root.resolve_command(context, words[1:])
    assert command is not None
    with command.make_context(name, rest, parent=context):
        pass


def test_hooks_are_commands_that_there_are() -> None:
    for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")):
        parsed(shlex.split(hook["entry"]))


def test_the_gitlab_job_runs_commands_that_there_are() -> None:
    job = yaml.safe_load((EXAMPLES / "gitlab-ci.yml").read_text("utf-8"))["sgl-audit"]
    for line in job["script"]:
        parsed(shlex.split(line))
    written = [word for line in job["script"] for word in shlex.split(line)]
    assert job["artifacts"]["reports"]["junit"] in written
    assert set(job["artifacts"]["paths"]) <= set(written)


def test_the_example_workflow_uses_inputs_that_there_are() -> None:
    inputs = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["inputs"]
    jobs = yaml.safe_load((EXAMPLES / "github.yml").read_text("utf-8"))["jobs"]
    for job in jobs.values():
        step = job["steps"][-1]
        assert step["uses"].startswith("OWNER/sgl-audit@")
        assert set(step["with"]) <= set(inputs)


def test_the_example_configuration_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)
    settings = read_settings(EXAMPLES / "sgl-audit.toml")
    assert settings.value("arch") == ("sm120", "h100")
    assert settings.suppressions


def test_click_refuses_what_there_is_not() -> None:
    with pytest.raises(click.UsageError):
        parsed(["sgl-audit", "audit", "--no-such-option"])
