"""`sgl-audit check`: each launch at its file and line, in every form."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as Xml

import jsonschema
import pytest

from sgl_audit_reports.json import schema

from .conftest import MODELS, TREE, Run

MODEL = MODELS / "nvfp4_moe_hybrid"


@pytest.fixture(autouse=True)
def launches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A list of launches of which one is refused on sm120, one mistyped, one without a model."""
    monkeypatch.chdir(tmp_path)
    start = "python -m sglang.launch_server --model-path"
    path = Path("launches.yaml")
    path.write_text(
        f"- name: plain\n  command: {start} {MODEL}\n  arch: sm120\n"
        f"- name: with triton\n  command: {start} {MODEL} --attention-backend triton\n"
        f"- name: typo\n  command: {start} {MODEL} --atention-backend triton\n"
        f"- name: far\n  command: {start} some/where\n",
        "utf-8",
    )
    Path("other.sh").write_text("echo hello\n", "utf-8")
    return path


def words(*more: str | Path) -> tuple[str | Path, ...]:
    """A check of the list against the fixture tree."""
    return ("check", "--source", TREE, "--arch", "sm120", "--transformers", "none", *more)


def test_each_launch_is_told_at_its_line(run: Run, launches: Path) -> None:
    done = run(*words(launches, "other.sh"))
    assert done.code == 1
    assert "launches.yaml:1  plain  sm120  REFUSED" in done.out
    assert "--attention-backend triton" in done.out
    assert "launches.yaml:4  with triton  sm120  accepted" in done.out
    assert "launches.yaml:6  typo  sm120  REFUSED" in done.out
    assert "nearest to --atention-backend is --attention-backend" in " ".join(done.out.split())
    assert "launches.yaml:8  far  sm120  UNKNOWN" in done.out
    assert "passed over: other.sh starts no SGLang server" in done.out
    assert "4 launches: 2 refused, 1 unknown, 1 accepted" in done.out


def test_annotations_stand_at_the_launch(run: Run, launches: Path) -> None:
    lines = run(*words(launches, "--format", "github")).out.splitlines()
    assert lines[0].startswith(
        "::error file=launches.yaml,line=1,title=launch plain refused on sm120 by sglang 0.5.90::"
    )
    assert [line.partition(" ")[0] for line in lines] == [
        "::error",
        "::error",
        "::warning",
        "sgl-audit:",
    ]


def test_junit_and_json(run: Run, launches: Path) -> None:
    suite = Xml.fromstring(run(*words(launches, "--format", "junit")).out)
    assert [suite.get(key) for key in ("tests", "failures", "skipped")] == ["4", "2", "1"]
    whole = json.loads(run(*words(launches, "--format", "json")).out)
    jsonschema.validate(whole, schema("checks"))
    standings = {item["name"]: item["standing"] for item in whole["launches"]}
    assert standings == {
        "plain": "refused",
        "with triton": "accepted",
        "typo": "refused",
        "far": "unknown",
    }


def test_markdown_has_what_is_refused_first(run: Run, launches: Path) -> None:
    lines = run(*words(launches, "--format", "markdown")).out.splitlines()
    assert lines[0].startswith("## sgl-audit check: sglang 0.5.90")
    rows = [line for line in lines if line.startswith("| `launches.yaml")]
    assert [row.split("|")[3].split()[-1] for row in rows] == [
        "refused",
        "refused",
        "unknown",
        "accepted",
    ]
    assert "nearest to --atention-backend is --attention-backend" in rows[1]


def test_a_launch_file_cannot_write_into_a_report(run: Run) -> None:
    name = "x | <b>y</b> ::error::z [link](http://evil.example) \\u2028"
    Path("odd.yaml").write_text(
        f'- name: "{name}"\n  command: python -m sglang.launch_server --model-path a\n', "utf-8"
    )
    text = run(*words("odd.yaml", "--format", "markdown")).out
    assert "<b>" not in text
    assert "[link](" not in text.replace("\\[", "")
    annotations = run(*words("odd.yaml", "--format", "github")).out.splitlines()
    assert len(annotations) == 2
    Xml.fromstring(run(*words("odd.yaml", "--format", "junit")).out)


def test_the_threshold_decides(run: Run, launches: Path) -> None:
    Path("far.sh").write_text("python -m sglang.launch_server --model-path some/where\n", "utf-8")
    assert run(*words("far.sh")).code == 0
    assert run(*words("far.sh", "--fail-on", "unknown")).code == 3
    assert run(*words(launches, "--fail-on", "never")).code == 0


def test_the_settings_name_source_capabilities_and_files(run: Run, launches: Path) -> None:
    Path("sgl-audit.toml").write_text(
        f'source = "{TREE}"\narch = "sm120"\nlaunches = ["launches.yaml", "other.sh"]\n'
        'transformers = "none"\n',
        "utf-8",
    )
    assert "4 launches: 2 refused" in run("check").out


def test_nothing_to_check_and_a_broken_file_are_one_sentence(run: Run) -> None:
    done = run(*words())
    assert done.code == 2
    assert "there is no file with launches" in done.err
    Path("broken.yaml").write_text("a: [", "utf-8")
    done = run(*words("broken.yaml"))
    assert (done.code, done.err.count("\n")) == (2, 1)
    done = run(*words("other.sh"))
    assert done.code == 0
    assert "0 launches" in done.out
