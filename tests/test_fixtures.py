"""The fixture trees hold what `fixtures/expected.json` says of them."""

from __future__ import annotations

import ast
import json
from email.parser import Parser
from functools import cache
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
FIXTURES = REPOSITORY / "fixtures"
BROKEN = FIXTURES / "broken"
EXPECTED: dict[str, Any] = json.loads((FIXTURES / "expected.json").read_text("utf-8"))
TREES: dict[str, Any] = EXPECTED["trees"]
LAUNCHES = [
    pytest.param(name, row, id=row["id"])
    for name, tree in TREES.items()
    for row in tree["launches"]
]

each_tree = pytest.mark.parametrize("name", TREES)
each_launch = pytest.mark.parametrize(("name", "row"), LAUNCHES)


def root_of(name: str) -> Path:
    root: str = TREES[name]["root"]
    return REPOSITORY / root


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes(), str(path))


@cache
def refusing_lines(path: Path) -> frozenset[int]:
    """The lines of `path` that belong to a `raise` or an `assert`."""
    lines: set[int] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Raise | ast.Assert):
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return frozenset(lines)


def refusals_of(row: dict[str, Any]) -> list[dict[str, Any]]:
    own = [row["rejection"]] if "rejection" in row else []
    return [*own, *row.get("late", {}).get("refusals", [])]


@each_tree
def test_every_file_parses_and_is_readable(name: str) -> None:
    files = sorted(root_of(name).rglob("*.py"))
    assert len(files) >= 15
    for path in files:
        parsed(path)
        assert all(len(line) <= 100 for line in path.read_text("utf-8").splitlines()), path


@each_tree
def test_metadata_stands_beside_the_package(name: str) -> None:
    tree = TREES[name]
    folder = root_of(name) / f"sglang-{tree['version']}.dist-info"
    metadata = Parser().parsestr((folder / "METADATA").read_text("utf-8"))
    assert (metadata["Name"], metadata["Version"]) == ("sglang", tree["version"])
    assert "not SGLang" in metadata["Summary"]
    required = metadata.get_all("Requires-Dist") or []
    for distribution, version in tree["pins"].items():
        assert f"{distribution}=={version}" in required
    assert {"torch", "transformers", "flashinfer_python"} <= set(tree["pins"])
    assert f'"{tree["version"]}"' in (root_of(name) / "sglang/version.py").read_text("utf-8")


@each_tree
def test_every_part_of_the_story_has_its_line(name: str) -> None:
    for part, place in TREES[name]["story"].items():
        lines = (root_of(name) / place["file"]).read_text("utf-8").splitlines()
        assert lines[place["line"] - 1].strip(), (part, place)


@each_tree
def test_story_lines_hold_what_they_are_named_for(name: str) -> None:
    def text(part: str) -> str:
        place = TREES[name]["story"][part]
        file: Path = root_of(name) / place["file"]
        return file.read_text("utf-8").splitlines()[place["line"] - 1]

    assert "FP4_GEMM_RUNNER_BACKEND_CHOICES = [" in text("fp4_choice_list")
    assert "add_fp4_gemm_runner_backend_choices" in text("fp4_extension_point")
    assert "fp4_gemm_runner_backend" in text("fp4_default")
    assert "class Fp4GemmRunnerBackend" in text("fp4_enum")
    assert "SGLANG_FLASHINFER_FP4_GEMM_BACKEND" in text("deprecated_variable")
    assert "flashinfer_trtllm" in text("nvfp4_moe_decision")
    assert "MARLIN" in text("marlin_member")


@each_tree
def test_story_in_the_recorded_facts(name: str) -> None:
    facts = TREES[name]["facts"]
    four = ["auto", "flashinfer_cudnn", "flashinfer_cutlass", "flashinfer_trtllm"]
    assert facts["choice_lists"]["FP4_GEMM_RUNNER_BACKEND_CHOICES"] == four
    assert list(facts["enums"]["Fp4GemmRunnerBackend"].values()) == four
    assert "marlin" in facts["enums"]["MoeRunnerBackend"].values()
    assert "marlin" not in facts["choice_lists"]["MOE_RUNNER_BACKEND_CHOICES"]
    for holds in [*facts["gates"].values(), *facts["platform"].values()]:
        assert set(holds) <= set(EXPECTED["capabilities"])


@each_tree
def test_nobody_decides_the_nvfp4_runner_on_sm120(name: str) -> None:
    wanted = ["--quantization", "modelopt_fp4"]
    rows = {
        row["arch"]: row
        for row in TREES[name]["launches"]
        if row["model"] == "nvfp4_moe_hybrid"
        and row["flags"] == wanted
        and row["assume"]["cuda"] == EXPECTED["assumed"]["cuda"]
    }
    assert rows["sm100"]["runtime"]["moe_runner_backend"] == "flashinfer_trtllm"
    assert rows["sm120"]["runtime"]["moe_runner_backend"] == "auto"
    assert rows["sm120"]["late"]["moe_runner_created"] is None
    refused = {refusal["stage"] for refusal in rows["sm120"]["late"]["refusals"]}
    assert ("attention" in refused) == (name != "arg_groups_2026")


@each_launch
def test_launch_names_what_exists(name: str, row: dict[str, Any]) -> None:
    assert (FIXTURES / "models" / row["model"] / "config.json").is_file()
    assert row["arch"] in EXPECTED["capabilities"]
    assert (row["outcome"] == "rejected") == ("rejection" in row)
    options = TREES[name]["facts"]["options"]
    assert set(row.get("options", {})) <= set(options)
    assert set(row.get("runtime", {})) <= set(options)
    flags = {flag for option in options.values() for flag in option["flags"]}
    asked = {flag for flag in row["flags"] if flag.startswith("--")}
    if row.get("rejection", {}).get("message", "").startswith("--enable-"):
        return  # a flag that is gone belongs to no option
    assert asked <= flags


@each_launch
def test_refusals_stand_on_a_raise_or_an_assert(name: str, row: dict[str, Any]) -> None:
    for refusal in refusals_of(row):
        if refusal["type"] == "SystemExit":
            assert refusal["file"] is None
            continue
        assert refusal["line"] in refusing_lines(root_of(name) / refusal["file"]), refusal


def test_launch_ids_are_unique() -> None:
    ids = [row["id"] for tree in TREES.values() for row in tree["launches"]]
    assert len(ids) == len(set(ids))


def test_models_are_json() -> None:
    folders = sorted(path.name for path in (FIXTURES / "models").iterdir())
    assert folders == ["dense_bf16", "fp8_moe", "mxfp4_moe", "nvfp4_moe_hybrid"]
    for path in (FIXTURES / "models").rglob("*.json"):
        assert json.loads(path.read_text("utf-8"))


def unreadable(folder: Path) -> list[str]:
    faults = []
    for path in sorted(folder.rglob("*.py")):
        try:
            parsed(path)
        except (SyntaxError, UnicodeDecodeError):
            faults.append(path.relative_to(folder).as_posix())
    return faults


@pytest.mark.parametrize("name", ["syntax_error", "undecodable"])
def test_one_file_of_a_broken_tree_cannot_be_read(name: str) -> None:
    assert unreadable(BROKEN / name) == ["sglang/srt/layers/moe/utils.py"]


def test_the_two_unreadable_files_differ_in_kind() -> None:
    path = "sglang/srt/layers/moe/utils.py"
    (BROKEN / "syntax_error" / path).read_text("utf-8")
    with pytest.raises(UnicodeDecodeError):
        (BROKEN / "undecodable" / path).read_text("utf-8")


def imported(path: Path) -> set[str]:
    nodes = ast.walk(parsed(path))
    return {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}


def test_missing_file_is_imported() -> None:
    srt = BROKEN / "missing_file/sglang/srt"
    assert "sglang.srt.utils" in imported(srt / "server_args.py")
    assert not (srt / "utils.py").exists()
    assert not unreadable(BROKEN / "missing_file")


def test_cycle_is_closed() -> None:
    srt = BROKEN / "cyclic_import/sglang/srt"
    assert "sglang.srt.choices" in imported(srt / "server_args.py")
    assert "sglang.srt.server_args" in imported(srt / "choices.py")


def test_trees_without_sglang() -> None:
    assert not (BROKEN / "not_sglang/sglang").exists()
    assert unreadable(BROKEN / "not_sglang") == []
    assert not list((BROKEN / "empty").rglob("*.py"))


def test_the_demonstration_says_what_it_is() -> None:
    text = (root_of("demo") / "README.txt").read_text("utf-8")
    assert "demonstration" in text
    assert "It is not SGLang" in text
