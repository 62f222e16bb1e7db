"""A stranger's path: the job of the README fails, and names the flag to change."""

from __future__ import annotations

import json
import os
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
def test_the_job_as_written_fails_and_names_the_flag(tmp_path: Path, real_cache: Path) -> None:
    """Both steps as a runner has them: an environment and a repository with nothing in them."""
    workspace, built = tmp_path / "workspace", tmp_path / "built"
    wheel = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(built), str(ROOT)]
    subprocess.run(wheel, check=True, timeout=600)
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True, timeout=600)
    subprocess.run(["git", "init", "-q", str(workspace)], check=True, timeout=60)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SGL_AUDIT")}
    environment = kept | {
        "PATH": f"{tmp_path / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        # What a release would be fetched from.
        "PIP_FIND_LINKS": str(built),
        "SGL_AUDIT_CACHE_DIR": str(real_cache),
    }
    *before, last = [
        subprocess.run(
            ["bash", "-e", "-c", step],
            capture_output=True,
            text=True,
            cwd=workspace,
            env=environment,
            timeout=1200,
        )
        for step in steps()
    ]
    assert [done.returncode for done in before] == [0], before[0].stderr
    assert last.returncode == 1, last.stderr
    errors = [line for line in last.stdout.splitlines() if line.startswith("::error ")]
    assert any(line.endswith("do: --attention-backend triton") for line in errors)
