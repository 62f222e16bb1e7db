"""A stranger's path: the job of the README fails, and names the flag to change."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from .pages import ROOT

WORKFLOW = re.search(r"^```yaml\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.S | re.M)


def steps() -> list[str]:
    """What the job runs."""
    assert WORKFLOW is not None
    workflow: dict[str, Any] = yaml.safe_load(WORKFLOW[1])
    (job,) = workflow["jobs"].values()
    return [step["run"] for step in job["steps"]]


def audited(source: str, *more: str) -> subprocess.CompletedProcess[str]:
    """The last step, with another source."""
    words = shlex.split(steps()[-1])
    assert words[0] == "sgl-audit"
    assert words[-1] == "sglang==0.5.9"
    return subprocess.run(
        [sys.executable, "-m", "sgl_audit", *words[1:-1], source, *more],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=600,
    )


def test_it_is_short_and_a_workflow() -> None:
    assert WORKFLOW is not None
    assert len(WORKFLOW[1].splitlines()) < 10
    assert steps()[0] == "pip install sgl-audit"
    path = "builtin_schemas/vendor/github-workflows.json"
    schema = json.loads(files("check_jsonschema").joinpath(path).read_text("utf-8"))
    # `on` is a truth value to YAML 1.1, and a text to GitHub.
    value = yaml.load(WORKFLOW[1], yaml.BaseLoader)
    jsonschema.Draft7Validator(schema).validate(value)


def test_the_job_fails_and_names_the_flag() -> None:
    done = audited(str(Path("analyzer/sgl_audit/demo")))
    assert done.returncode == 1, done.stderr
    first = done.stdout.splitlines()[0]
    assert first.startswith("::error ")
    assert "attention_backend=flashinfer" in first
    assert first.endswith("do: --attention-backend triton")


@pytest.mark.real
def test_the_job_as_written_fails_and_names_the_flag(real_cache: Path) -> None:
    done = audited("sglang==0.5.9", "--cache-dir", str(real_cache))
    assert done.returncode == 1, done.stderr
    errors = [line for line in done.stdout.splitlines() if line.startswith("::error ")]
    assert any(line.endswith("do: --attention-backend triton") for line in errors)
