"""The steps of the composite action, run as GitHub's runner runs them, with stand-ins for it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
# `bash` of a step: https://docs.github.com/actions, "defaults.run.shell".
_SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
_GH = """#!/usr/bin/env bash
printf '%s\\n' "$*" >> "$GH_CALLS"
case "$*" in
  *--paginate*) printf '%s' "$GH_FOUND" ;;
  *) for word in "$@"; do
       case "$word" in body=@*) cat "${word#body=@}" > "$GH_CALLS.body" ;; esac
     done
     exit "${GH_EXIT:-0}" ;;
esac
"""


@dataclass(frozen=True)
class Ran:
    """How a step ended, and what it told the runner."""

    code: int
    out: str
    outputs: dict[str, str]
    summary: str


class Runner:
    """A folder with the programs that the steps call."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls = folder / "gh-calls"
        bin_folder = folder / "bin"
        bin_folder.mkdir()
        for name, text in (
            ("gh", _GH),
            ("sgl-audit", f'#!/usr/bin/env bash\nexec "{sys.executable}" -m sgl_audit "$@"\n'),
        ):
            (bin_folder / name).write_text(text, "utf-8")
            (bin_folder / name).chmod(0o755)

    def run(self, name: str, given: Mapping[str, str], **environment: str) -> Ran:
        """Run one step.

        Args:
            given: values of expressions such as `inputs.arch` and `github.repository`.
            environment: further variables, as the runner or the stand-ins need them.
        """
        step = step_of(name)
        values = defaults() | dict(given)
        told, summary = self.folder / "outputs", self.folder / "summary"
        told.write_text("", "utf-8")
        summary.write_text("", "utf-8")
        env = {key: evaluated(str(value), values) for key, value in step.get("env", {}).items()}
        done = subprocess.run(
            [*_SHELL, step["run"]],
            cwd=self.folder / evaluated(step.get("working-directory", "."), values),
            env={
                **{key: value for key, value in os.environ.items() if not key.startswith("SGL_")},
                "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
                "SGL_AUDIT_CACHE_DIR": str(self.folder / "cache"),
                "SGL_AUDIT_OFFLINE": "1",
                "GITHUB_OUTPUT": str(told),
                "GITHUB_STEP_SUMMARY": str(summary),
                "GH_CALLS": str(self.calls),
                "GH_FOUND": "",
                **env,
                **environment,
            },
            capture_output=True,
            text=True,
            timeout=120,
        )
        pairs = (line.partition("=") for line in told.read_text("utf-8").splitlines())
        return Ran(
            done.returncode,
            done.stdout + done.stderr,
            {key: value for key, _, value in pairs},
            summary.read_text("utf-8"),
        )


def step_of(name: str) -> dict[str, Any]:
    """The step of that name."""
    (found,) = [step for step in ACTION["runs"]["steps"] if step["name"] == name]
    step: dict[str, Any] = found
    return step


def defaults() -> dict[str, str]:
    """The inputs as they are when nothing is given."""
    return {f"inputs.{key}": str(item["default"]) for key, item in ACTION["inputs"].items()}


def evaluated(text: str, values: Mapping[str, str]) -> str:
    """The text with its expressions replaced; an unknown one is an error."""
    return _EXPRESSION.sub(lambda found: values[found[1]], text)
