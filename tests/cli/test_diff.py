"""`sgl-audit diff`: two versions, a team's launches, every form, exit codes, bad input."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from .conftest import FIXTURES, MODELS, Done, Run

OLD, NEW = str(FIXTURES / "flat_2025"), str(FIXTURES / "dataclass_2026")
PLAIN = ("--transformers", "none")
SM120 = ("--arch", "sm120", *PLAIN)
DENSE = MODELS / "dense_bf16"
HYBRID = MODELS / "nvfp4_moe_hybrid"


def loaded(done: Done) -> dict[str, Any]:
    """The review as JSON."""
    value: dict[str, Any] = json.loads(done.out)
    return value


def launches(run: Run, file: Path, *more: str) -> list[dict[str, Any]]:
    """What is said of the launches of a file."""
    words = ("diff", OLD, NEW, *SM120, "--launches", file, "--launches-only", "--format", "json")
    found: list[dict[str, Any]] = loaded(run(*words, *more))["launches"]
    return found


def test_every_form_at_once(run: Run, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.html", "a.md", "a.json")]
    outputs = [word for file in files for word in ("-o", file)]
    done = run("diff", OLD, NEW, *SM120, "-o", "-", *outputs)
    assert done.code == 1
    assert done.out.startswith("sgl-audit ")
    assert "What model families become" in done.out
    assert files[0].read_text("utf-8").startswith("<!doctype html>")
    assert files[1].read_text("utf-8").startswith("## sgl-audit diff")
    review = json.loads(files[2].read_text("utf-8"))
    assert {change["kind"] for change in review["changes"]} >= {"breaking", "additive"}


def test_details_hold_more(run: Run) -> None:
    short = run("diff", OLD, NEW, *SM120).out
    long = run("diff", OLD, NEW, *SM120, "--details").out
    assert "additive (" in long
    assert "additive (" not in short
    assert len(long) > len(short)


def test_the_same_tree_twice_is_an_empty_review(run: Run) -> None:
    done = run("diff", OLD, OLD, *SM120, "--fail-on", "behaviour")
    assert done.code == 0
    assert "the same code, so nothing changes" in done.out
    assert loaded(run("diff", OLD, OLD, *SM120, "--format", "json"))["changes"] == []


@pytest.mark.parametrize(("fail_on", "code"), [("breaking", 1), ("behaviour", 1), ("never", 0)])
def test_fail_on(run: Run, fail_on: str, code: int) -> None:
    assert run("diff", OLD, NEW, *SM120, "--fail-on", fail_on).code == code


def test_one_option(run: Run) -> None:
    done = run("diff", OLD, NEW, *SM120, "--option", "attention-backend", "--format", "json")
    options = {change["option"] for change in loaded(done)["changes"]}
    assert options == {"attention_backend"}
    assert run("diff", OLD, NEW, *SM120, "--option", "atention_backend").code == 2


def test_lines_of_arguments(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "launches.txt"
    file.write_text(
        f"# ours\n--model-path {DENSE} --attention-backend triton\n\n"
        f"--model-path {HYBRID} \\\n  --attention-backend flashinfer\n"
    )
    first, second = launches(run, file)
    assert first["verdict"] == "same"
    assert first["changes"] == []
    assert second["verdict"] == "refused by both"


def test_a_list_with_names_models_and_capabilities(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "launches.yaml"
    file.write_text(
        "launches:\n"
        f"- name: dense\n  command: python -m sglang.launch_server --model-path x\n"
        f"  model_config: {DENSE}\n  arch: sm100\n  environment:\n    SGLANG_X: '1'\n"
        f"- name: other\n  argv: [--model-path, {DENSE}]\n"
    )
    dense, other = launches(run, file)
    assert (dense["id"], dense["arch"]) == ("dense", "sm100")
    assert (other["id"], other["arch"]) == ("other", "sm120")
    changed = {change["name"]: (change["before"], change["after"]) for change in dense["changes"]}
    assert changed["attention_backend"] == (None, "trtllm_mha")


def test_a_flag_that_the_new_version_lacks(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "launches.sh"
    # The other way round the newer flags are the ones that are gone.
    file.write_text(f"python -m sglang.launch_server --model-path {DENSE} --tp 2\n")
    assert launches(run, file)[0]["verdict"] in ("same", "changes")
    gone = tmp_path / "gone.jsonl"
    argv = ["--model-path", str(DENSE), "--no-such-flag"]
    gone.write_text(json.dumps({"id": "a", "arch": "sm120", "argv": argv}) + "\n")
    assert launches(run, gone)[0]["verdict"] == "refused by both"


def test_an_unknown_model_is_unknown_not_safe(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "launches.txt"
    file.write_text("--model-path nobody/has-this\n")
    done = run("diff", OLD, NEW, *SM120, "--launches", file, "--launches-only")
    assert done.code == 3
    assert "NOT KNOWN" in done.out
    assert "give --model-config" in " ".join(done.out.split())


def test_launches_decide_the_exit_code(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "launches.txt"
    file.write_text(f"--model-path {DENSE} --attention-backend triton\n")
    done = run("diff", OLD, NEW, *SM120, "--launches", file)
    assert done.code == 0
    assert "SAFE TO UPGRADE: 1 launch: 1 same" in done.out


def test_a_broken_tree_is_said_and_not_compared(run: Run) -> None:
    broken = FIXTURES / "broken" / "syntax_error"
    done = run("diff", OLD, broken, *SM120, "--fail-on", "never")
    assert done.code == 3
    assert "could not be read" in " ".join(done.out.split())
    assert "Traceback" not in done.err


def test_git_refs(run: Run, tmp_path: Path) -> None:
    repository = tmp_path / "clone"
    (repository / "sglang").parent.mkdir()
    git = ("git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    subprocess.run(["cp", "-r", f"{OLD}/sglang", str(repository)], check=True)
    for words in (("add", "."), ("commit", "-qm", "one"), ("tag", "one")):
        subprocess.run([*git, *words], check=True)
    target = repository / "sglang" / "srt" / "server_args.py"
    text = target.read_text("utf-8")
    assert '"triton",' in text
    target.write_text(text.replace('"triton",', "", 1), "utf-8")
    subprocess.run([*git, "commit", "-qam", "two"], check=True)
    done = run("diff", f"{repository}@one", f"{repository}@HEAD", *SM120)
    assert done.code == 1
    assert "no longer takes triton" in " ".join(done.out.split())
    missing = run("diff", f"{repository}@one", f"{repository}@nowhere", *SM120)
    assert missing.code == 2
    assert "nowhere names no commit" in missing.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((OLD, "--arch", "sm120"), "Missing argument 'NEW'"),
        ((OLD, str(FIXTURES / "broken" / "not_sglang"), *SM120), "holds no sglang package"),
        ((OLD, NEW, *SM120, "--launches-only"), "needs --launches FILE"),
        ((OLD, NEW, *SM120, "--launches", "/nowhere.txt"), "cannot be read"),
        ((OLD, NEW, "--arch", "sm999"), "sm999"),
        ((OLD, NEW, *SM120, "-o", "x.dot"), "there is no dot of this"),
    ],
)
def test_bad_input_is_one_sentence(run: Run, words: tuple[str, ...], said: str) -> None:
    done = run("diff", *words)
    assert done.code == 2
    lines = [line for line in done.err.splitlines() if "transformers is not read" not in line]
    assert len(lines) == 1
    assert said in lines[0]


def test_a_launch_without_any_gpu(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "launches.txt"
    file.write_text(f"--model-path {DENSE}\n")
    done = run("diff", OLD, NEW, *PLAIN, "--launches", file, "--launches-only")
    assert done.code == 2
    assert "names no GPU" in done.err
