"""`sgl-audit [audit]` and the commands that show a part of an audit."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from sgl_audit import api
from sgl_audit.audit.verdicts.opening import bare_knowledge
from sgl_audit.cli import machine
from sgl_audit.model.report import Severity
from sgl_audit.model.source import Diagnostic, SourceTree

from . import samples
from .conftest import TREE, Run

FINDINGS = (
    samples.finding(Severity.WARNING, "moe_runner_backend"),
    samples.finding(Severity.NOTE, "attention_backend"),
)


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A stand-in for the audit that keeps what it was asked and finds a warning and a note."""
    seen: dict[str, Any] = {}

    def audit(tree: SourceTree, **given: Any) -> Any:
        seen.update(given, tree=tree)
        return samples.audit(
            tree,
            given["capabilities"],
            findings=seen.get("findings", FINDINGS),
            diagnostics=seen.get("diagnostics", ()),
            outcome=seen.get("outcome", "ok"),
        )

    monkeypatch.setattr(api, "audit", audit)
    monkeypatch.setattr(api, "open_libraries", lambda tree, **given: ((), ()))
    monkeypatch.setattr(api, "open_knowledge", lambda tree, **given: bare_knowledge(tree))
    return seen


def test_audit_is_the_command_when_none_is_named(run: Run, asked: dict[str, Any]) -> None:
    done = run("--arch", "sm120", TREE)
    assert done.code == 0
    assert "0.5.90" in done.out
    assert asked["capabilities"] == ("sm120",)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--arch", "12.0", "--arch", "b200"], ("sm120", "sm100")),
        (["--arch", "sm90,rtx-5090"], ("sm90", "sm120")),
        (["--arch", "rtx-5090", "--arch", "sm120"], ("sm120",)),
        (["--arch", "all"], api.ALL_CAPABILITIES),
        ([], api.ALL_CAPABILITIES),
    ],
)
def test_capabilities_come_in_every_form(
    run: Run, asked: dict[str, Any], words: list[str], expected: tuple[str, ...]
) -> None:
    assert run(TREE, *words).code == 0
    assert asked["capabilities"] == expected


def test_an_audit_is_for_one_card_of_a_capability(run: Run, asked: dict[str, Any]) -> None:
    done = run(TREE, "--arch", "rtx-5090", "--arch", "rtx-5080")
    assert (done.code, asked) == (2, {})
    assert "names two cards of sm120, rtx-5090 and rtx-5080" in done.err
    assert run(TREE, "--arch", "rtx-5090").code == 0
    assert asked["cards"] == {"sm120": "rtx-5090"}


def test_without_arch_the_gpu_of_this_machine_is_taken(
    run: Run, asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "local_gpus", lambda: (("sm90", "h200", "NVIDIA H200"),))
    done = run(TREE)
    assert asked["capabilities"] == ("sm90",)
    assert (
        done.err
        == "sgl-audit: no --arch given: taking the GPU of this machine, NVIDIA H200 (sm90)\n"
    )


def test_without_source_the_demonstration_tree_is_named(run: Run, asked: dict[str, Any]) -> None:
    done = run("--arch", "sm120")
    assert asked["tree"].info.kind == "demo"
    assert "no sglang is installed" in done.err


@pytest.mark.parametrize(
    ("threshold", "code"), [("error", 0), ("warning", 1), ("note", 1), ("never", 0)]
)
def test_exit_code_follows_the_threshold(run: Run, threshold: str, code: int) -> None:
    assert run(TREE, "--fail-on", threshold).code == code


def test_a_refused_family_counts_as_the_first_screen_counts_it(
    run: Run, asked: dict[str, Any]
) -> None:
    asked["findings"], asked["outcome"] = (), "refused"
    done = run(TREE, "--arch", "sm120")
    assert "NOT SAFE BY DEFAULT" in done.out
    assert done.code == 1
    assert run(TREE, "--arch", "sm120", "--option", "moe_runner_backend").code == 1
    assert run(TREE, "--arch", "sm120", "--fail-on", "never").code == 0
    asked["outcome"] = "unknown"
    assert run(TREE, "--arch", "sm120").code == 0


def test_a_tree_read_in_part_is_incomplete(run: Run, asked: dict[str, Any]) -> None:
    asked["diagnostics"] = (Diagnostic("not valid Python", samples.PLACE),)
    assert run(TREE).code == 3
    assert run(TREE, "--fail-on", "note").code == 1
    asked["diagnostics"] = (Diagnostic("a value could not be evaluated"),)
    assert run(TREE).code == 0


def test_every_form(run: Run) -> None:
    whole = json.loads(run(TREE, "--format", "json").out)
    assert [item["rule"] for item in whole["findings"]] == ["SGA101", "SGA101"]
    assert run(TREE, "--format", "html").out.startswith("<!doctype html>")
    assert run(TREE, "--format", "markdown").out.startswith("## ")
    assert "\x1b[" not in run(TREE).out
    assert "\x1b[" in run(TREE, "--color", "always").out


def test_forms_for_ci(run: Run) -> None:
    assert json.loads(run(TREE, "--format", "sarif").out)["version"] == "2.1.0"
    assert "::warning file=" in run(TREE, "--format", "github").out
    assert run(TREE, "--format", "junit").out.startswith("<?xml")
    assert run(TREE, "--format", "csv").out.startswith("option,choice,")
    assert run("matrix", TREE, "--format", "csv").out.startswith("option,choice,")


def test_junit_fails_what_the_exit_code_fails(run: Run) -> None:
    assert 'failures="0"' in run(TREE, "--format", "junit").out
    done = run(TREE, "--format", "junit", "--fail-on", "warning", "--arch", "sm120")
    assert done.code == 1
    assert '<testsuite name="sm120" tests="3" failures="1"' in done.out


def test_format_speaks_of_stdout_where_files_are_written_too(run: Run, tmp_path: Path) -> None:
    log, tests = tmp_path / "a.sarif.json", tmp_path / "a.xml"
    done = run(TREE, "--format", "github", "-o", "-", "-o", log, "-o", tests)
    assert done.out.startswith("::warning file=")
    assert json.loads(log.read_text("utf-8"))["version"] == "2.1.0"
    assert tests.read_text("utf-8").startswith("<?xml")


def test_paths_are_those_of_the_repository_around(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = tmp_path / "repository"
    shutil.copytree(TREE, repository / "third_party" / "python")
    (repository / ".git").mkdir()
    monkeypatch.chdir(repository)
    done = run("third_party/python", "--format", "github")
    assert "file=third_party/python/sglang/srt/server_args.py," in done.out
    monkeypatch.chdir(repository / "third_party")
    assert "file=third_party/python/sglang/" in run("python", "--format", "github").out
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert "file=sglang/srt/server_args.py," in run(TREE, "--format", "github").out


def test_files_are_written_in_the_form_of_their_names(run: Run, tmp_path: Path) -> None:
    page, data, text = (tmp_path / name for name in ("a.html", "a.json", "a.txt"))
    done = run(TREE, "-o", page, "-o", data, "-o", text, "-o", "-")
    assert done.code == 0
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert json.loads(data.read_text("utf-8"))["format"] == 1
    assert "0.5.90" in text.read_text("utf-8")
    assert "0.5.90" in done.out
    assert done.err.splitlines() == [f"sgl-audit: wrote {path}" for path in (page, data, text)]


def test_a_form_that_contradicts_the_name_is_refused(run: Run, tmp_path: Path) -> None:
    done = run(TREE, "--format", "json", "-o", tmp_path / "report.html")
    assert done.code == 2
    assert "is named as html and --format says json" in done.err
    assert run("matrix", TREE, "-o", tmp_path / "m.html").code == 2
    assert not list(tmp_path.glob("*.html"))


def test_a_file_that_cannot_be_written_is_one_sentence(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run(TREE, "-o", tmp_path / "file" / "report.json")
    assert done.code == 2
    assert "is a file, not a folder" in done.err
    assert done.err.count("\n") == 1


def test_one_option(run: Run) -> None:
    whole = json.loads(run(TREE, "--option", "--moe-runner-backend", "--format", "json").out)
    assert {item["option"] for item in whole["options"]} == {"moe_runner_backend"}
    assert {item["option"] for item in whole["findings"]} == {"moe_runner_backend"}
    done = run(TREE, "--option", "moe_runer_backend")
    assert done.code == 2
    assert "did you mean moe_runner_backend" in done.err


def test_assumptions_may_follow_one_another(run: Run, asked: dict[str, Any]) -> None:
    run("--assume", "cuda=12.8", "gpu_count=4", "env.SGLANG_X=1", TREE)
    assert asked["assume"] == (("cuda", "12.8"), ("gpu_count", "4"), ("env.SGLANG_X", "1"))
    assert run("--assume", "cuda", TREE).code == 2


def test_matrix_and_families_show_their_part(run: Run, asked: dict[str, Any]) -> None:
    assert "moe_runner_backend" in run("matrix", TREE).out
    assert asked["capabilities"] == api.ALL_CAPABILITIES
    matrix = json.loads(
        run("matrix", TREE, "--option", "moe_runner_backend", "--format", "json").out
    )
    assert {cell["option"] for cell in matrix["matrix"]} == {"moe_runner_backend"}
    assert "Tiny BF16" in run("families", TREE, "--arch", "sm120").out
    families = json.loads(run("families", TREE, "--format", "json").out)
    assert families["families"][0]["family"] == "Tiny BF16"
    page = run("families", TREE, "--arch", "sm120", "--format", "html").out
    assert page.startswith("<!doctype html>")
    assert "Tiny BF16" in page
    assert "findings" not in families


def test_settings_come_from_the_environment(
    run: Run, asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SGL_AUDIT_ARCH", "sm90")
    monkeypatch.setenv("SGL_AUDIT_FAIL_ON", "warning")
    monkeypatch.setenv("SGL_AUDIT_JOBS", "3")
    assert run(TREE).code == 1
    assert asked["capabilities"] == ("sm90",)
    assert asked["jobs"] == 3
