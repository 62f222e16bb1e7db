"""`sgl-audit resolve`: the words of a launch, the model, the answer and its exit code."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sgl_audit.cli.remarks import machine_remarks
from sgl_audit.model.resolution import Assumption, Launch, Outcome, Resolution, ResolvedValue

from .conftest import FIXTURES, MODELS, TREE, Done, Run

DENSE = str(MODELS / "dense_bf16")
PLAIN = ("--transformers", "none")
EXPECTED: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))
ROWS = EXPECTED["trees"]["dataclass_2026"]["launches"]


def resolved(done: Done) -> dict[str, Any]:
    """The one answer of `--format json`."""
    answer: dict[str, Any] = json.loads(done.out)
    return answer


def value(answer: dict[str, Any], name: str) -> Any:
    """A decided value."""
    assert answer["options"][name]["status"] == "decided", answer["options"][name]
    return answer["options"][name]["value"]


def test_an_accepted_launch(run: Run) -> None:
    done = run(
        "resolve", TREE, "--arch", "sm120", *PLAIN, "--format", "json", "--",
        "python", "-m", "sglang.launch_server", "--model-path", DENSE, "--tp", "2",
    )  # fmt: skip
    assert done.code in (0, 3)
    answer = resolved(done)
    assert (answer["outcome"], answer["arch"], answer["id"]) == ("ok", "sm120", "launch")
    assert value(answer, "attention_backend") == "flashinfer"


def test_a_launch_in_the_terminal_and_as_files(run: Run, tmp_path: Path) -> None:
    page, text = tmp_path / "a.html", tmp_path / "a.md"
    done = run(
        "resolve", TREE, "--arch", "sm120", *PLAIN, "-o", "-", "-o", page, "-o", text, "--",
        "--model-path", DENSE,
    )  # fmt: skip
    assert done.out.startswith("accepted on sm120")
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert "accepted" in text.read_text("utf-8")


def test_several_capabilities_make_one_table(run: Run) -> None:
    model = str(MODELS / "nvfp4_moe_hybrid")
    words = ("resolve", TREE, "--arch", "sm120,b200", *PLAIN)
    done = run(*words, "--", "--model-path", model)
    assert "*  moe_runner_backend" in done.out
    answers = json.loads(run(*words, "--format", "json", "--", "--model-path", model).out)
    assert [item["arch"] for item in answers] == ["sm120", "sm100"]


def test_a_refused_launch_is_exit_code_1(run: Run) -> None:
    done = run(
        "resolve", TREE, "--arch", "sm120", *PLAIN, "--format", "json", "--",
        "--model-path", DENSE, "--attention-backend", "nonsense",
    )  # fmt: skip
    assert done.code == 1
    assert resolved(done)["rejection"]["type"] == "SystemExit"


def test_an_unknown_flag_gets_the_nearest_one(run: Run) -> None:
    done = run(
        "resolve", TREE, "--arch", "sm120", *PLAIN, "--format", "json", "--",
        "--model-path", DENSE, "--moe-runer-backend", "auto",
    )  # fmt: skip
    assert done.code == 1
    message = resolved(done)["rejection"]["message"]
    assert message.startswith("unrecognized arguments: --moe-runer-backend")
    assert "nearest to --moe-runer-backend is --moe-runner-backend" in message


def test_the_positional_model_of_serve_is_a_flag(run: Run) -> None:
    done = run(
        "resolve", TREE, "--arch", "sm120", *PLAIN, "--format", "json", "--",
        "sglang", "serve", DENSE, "--tp", "2",
    )  # fmt: skip
    assert resolved(done)["outcome"] == "ok"


def test_a_relative_model_folder_is_found(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(MODELS)
    for word in (("--model-path", "dense_bf16"), ("--model-path=./dense_bf16",)):
        done = run("resolve", TREE, "--arch", "sm120", *PLAIN, "--format", "json", "--", *word)
        assert resolved(done)["outcome"] == "ok"


def test_the_environment_of_the_launch_counts(run: Run) -> None:
    row = next(row for row in ROWS if row["env"])
    prefix = [f"{name}={text}" for name, text in row["env"].items()]
    done = run(
        "resolve", TREE, "--arch", row["arch"], *PLAIN, "--format", "json", "--",
        *prefix, "python", "-m", "sglang.launch_server",
        "--model-path", MODELS / row["model"], *row["flags"],
    )  # fmt: skip
    assert resolved(done)["outcome"] == row["outcome"]


def test_a_launch_file_with_two_servers_needs_a_name(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "launches.yaml"
    lines = [f"- name: {n}\n  arch: {a}\n  argv: [--model-path, {DENSE}]\n" for n, a in
             (("one", "sm90"), ("two", "sm120"))]  # fmt: skip
    file.write_text("".join(lines))
    words = ("resolve", TREE, *PLAIN, "--format", "json", "--launch-file", file)
    done = run(*words)
    assert done.code == 2
    assert "2 servers" in done.err
    answer = resolved(run(*words, "--name", "two"))
    assert (answer["id"], answer["arch"]) == ("two", "sm120")
    assert run(*words, "--name", "three").code == 2


def test_a_model_that_is_only_named(run: Run) -> None:
    words = ("resolve", TREE, "--arch", "sm120", *PLAIN, "--format", "json")
    answer = resolved(run(*words, "--", "--model-path", "somebody/something"))
    assert answer["outcome"] != "rejected"
    assert "nothing is known of model somebody/something" in answer["notes"][0]
    assert answer["reason"].startswith(
        "the model's configuration is not at hand: give --model-config, or --model-arch"
    )
    kinds = {
        case["when"] for value in answer["options"].values() for case in value.get("cases", ())
    }
    assert any("NVFP4" in kind for kind in kinds)
    said = run(*words[:-2], "--", "--model-path", "somebody/something").out
    assert "model configuration of" not in said


def test_a_model_path_that_should_be_here(run: Run, tmp_path: Path) -> None:
    words = ("resolve", TREE, "--arch", "sm120", *PLAIN)
    gone = str(tmp_path / "gone")
    done = run(*words, "--", "--model-path", gone)
    assert done.code == 2
    assert f"model path {gone} does not exist" in done.err
    assert run(*words, "--model-arch", "LlamaForCausalLM", "--", "--model-path", gone).code != 2
    # A file of launches was written for another machine.
    script = tmp_path / "serve.sh"
    script.write_text(f"python -m sglang.launch_server --model-path {gone}\n")
    assert run(*words, "--launch-file", script).code == 3


def test_a_config_file_stands_for_its_folder(run: Run) -> None:
    words = ("resolve", TREE, "--arch", "sm90", *PLAIN, "--format", "json", "--", "--model-path")
    whole, file = resolved(run(*words, DENSE)), resolved(run(*words, f"{DENSE}/config.json"))
    assert whole["outcome"] == file["outcome"] == "ok"
    assert whole["runtime"] == file["runtime"]
    assert any("what a server takes" in note for note in file["notes"])


def test_an_unset_variable_as_model(run: Run) -> None:
    words = ("resolve", TREE, "--arch", "sm90", *PLAIN, "--format", "json", "--")
    answer = resolved(run(*words, "--model-path", "$MODEL"))
    assert "holds a variable that is not set" in answer["notes"][0]


def test_a_described_model(run: Run, tmp_path: Path) -> None:
    words = ("resolve", TREE, "--arch", "sm120", *PLAIN, "--format", "json")
    answer = resolved(
        run(*words, "--model-arch", "Qwen3MoeForCausalLM", "--quantization-of", "FP8")
    )
    assert answer["outcome"] == "ok"
    assert answer["notes"][0].startswith("the model is assumed: Qwen3MoeForCausalLM FP8")
    config = tmp_path / "mine.json"
    config.write_bytes((Path(DENSE) / "config.json").read_bytes())
    answer = resolved(run(*words, "--model-config", config, "--", "--model-path", "my/model"))
    assert answer["outcome"] == "ok"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "there is no launch; give it after --"),
        (["--quantization-of", "FP8", "--", "--tp", "2"], "--quantization-of needs --model-arch"),
        (["--model-arch", "A", "--model-config", DENSE], "give one"),
        (["--model-config", "/nowhere/model"], "check the path"),
        (["--name", "one", "--", "--tp", "2"], "--name chooses a launch of --launch-file"),
        (["--launch-file", "a", "--", "--tp", "2"], "two launches; give one"),
        (["--", "--model-path", str(FIXTURES)], "has no config.json"),
        (["--", "bash", "-c", "ls"], "starts no SGLang server"),
        (["--arch", "sm999", "--", "--tp", "2"], "'sm999' is no compute capability"),
        (["python", "-m", "sglang.launch_server"], "The launch must stand after --."),
        (["--assume", "cuda=x", "--", "--model-path", DENSE], "cannot be x"),
        (["--option", "nonsense", "--", "--model-path", DENSE], "no server argument 'nonsense'"),
        (["--format", "html", "-o", "a.json", "--", "--tp", "2"], "drop one of the two"),
    ],
)
def test_nonsense_is_one_clear_sentence(run: Run, words: list[str], sentence: str) -> None:
    done = run("resolve", TREE, *([] if "--arch" in words else ["--arch", "sm120"]), *PLAIN, *words)
    assert done.code == 2
    assert sentence in done.err
    assert done.err.count("\n") == 1
    assert done.out == ""


def batch(folder: Path, *rows: dict[str, Any]) -> Path:
    """A batch file of the rows."""
    file = folder / "batch.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_a_batch_answers_in_order(run: Run, tmp_path: Path) -> None:
    launches = [
        {
            "id": row["id"],
            "arch": row["arch"],
            "argv": ["--model-path", str(MODELS / row["model"]), *row["flags"]],
            "env": row["env"],
            "assume": row["assume"],
        }
        for row in ROWS
    ]
    done = run("resolve", TREE, *PLAIN, "--batch", batch(tmp_path, *launches), "--format", "jsonl")
    assert done.code == 0
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert [item["id"] for item in answers] == [row["id"] for row in ROWS]
    assert [item["outcome"] for item in answers] == [row["outcome"] for row in ROWS]
    assert set(answers[0]) >= {"id", "outcome", "options", "runtime", "late", "rejection"}


def test_one_wrong_model_does_not_end_a_batch(run: Run, tmp_path: Path) -> None:
    rows = [
        {"id": str(n), "arch": "sm120", "argv": ["--model-path", path]}
        for n, path in enumerate((str(FIXTURES), DENSE, "some/where"))
    ]
    target = tmp_path / "answers.jsonl"
    done = run("resolve", TREE, *PLAIN, "--batch", batch(tmp_path, *rows), "-o", target)
    assert done.code == 0
    outcomes = [json.loads(line)["outcome"] for line in target.read_text().splitlines()]
    assert outcomes[1] == "ok"
    assert outcomes[2] != "rejected"
    reason = json.loads(target.read_text().splitlines()[2])["reason"]
    assert reason is None or "give --model-config" in reason


def test_a_batch_takes_assumptions_for_all(run: Run, tmp_path: Path) -> None:
    rows = [
        {"id": "a", "arch": "sm120", "argv": ["--model-path", DENSE]},
        {"id": "b", "arch": "sm120", "argv": ["--model-path", DENSE], "assume": {"cuda": "12.4"}},
    ]
    words = ("resolve", TREE, *PLAIN, "--batch", batch(tmp_path, *rows), "--assume", "cuda=12.8")
    answers = [json.loads(line) for line in run(*words).out.splitlines()]
    cuda = [next(a["value"] for a in one["assumptions"] if a["name"] == "cuda") for one in answers]
    assert cuda == ["12.8", "12.4"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--format", "json"], "answers in jsonl"),
        (["--arch", "sm120"], "drop the ones beside it"),
        (["--", "--tp", "2"], "drop the ones beside it"),
    ],
)
def test_a_batch_refuses_what_its_lines_say(
    run: Run, tmp_path: Path, words: list[str], sentence: str
) -> None:
    done = run("resolve", TREE, "--batch", batch(tmp_path), *words)
    assert done.code == 2
    assert sentence in done.err


def test_a_batch_that_is_no_batch(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text('{"id": "a"\n')
    done = run("resolve", TREE, *PLAIN, "--batch", file)
    assert done.code == 2
    assert "bad.jsonl, line 1 is no JSON" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--tp", "16"), "tp_size 16 start 16 workers on one node, and gpu_count is taken to be 8"),
        (("--tp", "16", "--nnodes", "2"), ""),
        (("--tp", "8"), ""),
    ],
)
def test_more_workers_than_gpus_are_remarked(words: tuple[str, ...], said: str) -> None:
    names = {"tp_size": int(words[1]), "pp_size": 1, "device": "cuda"}
    found = Resolution(
        Launch("launch", "sm120", words),
        Outcome.OK,
        tuple(ResolvedValue(name, True, value) for name, value in names.items()),
        assumptions=(Assumption("gpu_count", "8", "default"),),
    )
    (*remarks,) = machine_remarks(found)
    assert [said in item for item in remarks] == ([True] if said else [])
    more = replace(found, assumptions=(Assumption("gpu_count", "16", "--assume"),))
    assert machine_remarks(more) == ()
