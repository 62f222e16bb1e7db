"""The batch form and `--assume`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sgl_audit.errors import UsageError
from sgl_audit.launch import parse_assumptions, read_batch

ROW = {
    "id": "0.5.9/sm120/x",
    "arch": "sm120",
    "argv": ["--model-path", "/m", "--tp", 8],
    "assume": {
        "cuda": "13.0",
        "gpu_count": 8,
        "gpu_memory_mib": 97887,
        "device_name": "NVIDIA L40S",
        "cudnn": "9.16.0",
        "env.SGLANG_X": 1,
    },
    "env": {"A": 1, "B": "x"},
    "model_config": "/m/config.json",
}


def test_rows_keep_order_and_may_repeat(tmp_path: Path) -> None:
    path = tmp_path / "batch.jsonl"
    rows = [ROW, {"id": "b", "arch": "rtx-5090", "argv": []}, ROW]
    path.write_text("\n\n".join(json.dumps(row) for row in rows) + "\r\n")
    first, second, third = read_batch(path)
    assert first == third
    assert (first.id, first.capability, first.card) == ("0.5.9/sm120/x", "sm120", None)
    assert first.argv == ("--model-path", "/m", "--tp", "8")
    assert first.environment == (("A", "1"), ("B", "x"))
    assert dict(first.assume) == {
        "cuda": "13.0",
        "gpu_count": "8",
        "gpu_memory_mib": "97887",
        "device_name": "NVIDIA L40S",
        "cudnn": "9.16.0",
        "env.SGLANG_X": "1",
    }
    assert first.model_config == "/m/config.json"
    assert (second.capability, second.card, second.assume) == ("sm120", "rtx-5090", ())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", ["no JSON", "column"]),
        ("3", ["not a JSON object"]),
        ("[" * 100_000, ["no JSON"]),
        ('{"id": "a", "arch": "sm120"}', ["lacks argv"]),
        ("{}", ["lacks id and arch and argv"]),
        ('{"id": 1, "arch": "sm120", "argv": []}', ["id is 1"]),
        ('{"id": "a", "arch": 120, "argv": []}', ["arch is 120"]),
        ('{"id": "a", "arch": "sm999", "argv": []}', ["sm999"]),
        ('{"id": "a", "arch": "sm120", "argv": "--x"}', ["argv", "not a list"]),
        ('{"id": "a", "arch": "sm120", "argv": [null]}', ["argv", "element 0"]),
        ('{"id": "a", "arch": "sm120", "argv": [["x"]]}', ["argv", "no text"]),
        ('{"id": "a", "arch": "sm120", "argv": [], "asume": {}}', ["asume", "did you mean assume"]),
        ('{"id": "a", "arch": "sm120", "argv": [], "assume": []}', ["assume", "not an object"]),
        ('{"id": "a", "arch": "sm120", "argv": [], "env": ["A=1"]}', ["env", "not an object"]),
        ('{"id": "a", "arch": "sm120", "argv": [], "assume": {"cuda": NaN}}', ["NaN"]),
        ('{"id": "a", "arch": "sm120", "argv": [], "assume": {"cuda": {}}}', ["assume", "no text"]),
        (
            '{"id": "a", "arch": "sm120", "argv": [], "assume": {"gpu_count": 0}}',
            ["gpu_count", "0"],
        ),
        ('{"id": "a", "arch": "sm120", "argv": [], "assume": {"gpus": 1}}', ["gpus"]),
        ('{"id": "a", "arch": "sm120", "argv": [], "model_config": 3}', ["model_config is 3"]),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, text: str, words: list[str]) -> None:
    path = tmp_path / "batch.jsonl"
    path.write_text(json.dumps(ROW) + "\n\n" + text + "\n")
    rows = read_batch(path)
    assert next(rows).id == ROW["id"]
    with pytest.raises(UsageError) as caught:
        next(rows)
    message = str(caught.value)
    assert message.startswith(f"{path}, line 3") and all(word in message for word in words), message
    assert message.isprintable() and len(message) < 500


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([], {}),
        (["cuda=12.8", "gpu_count=8"], {"cuda": "12.8", "gpu_count": "8"}),
        (["cuda=12.8 gpu_count=8"], {"cuda": "12.8", "gpu_count": "8"}),
        (["cuda=12.8,gpu_count=8"], {"cuda": "12.8", "gpu_count": "8"}),
        (["device_name=NVIDIA L40S cuda=13.0"], {"device_name": "NVIDIA L40S", "cuda": "13.0"}),
        (["flashinfer=none", "torch=2.9.1+cu130"], {"flashinfer": "none", "torch": "2.9.1+cu130"}),
        (["package.sgl-kernel=0.3.21"], {"package.sgl-kernel": "0.3.21"}),
        (["package.flashinfer_python=0.6.7.post2"], {"package.flashinfer_python": "0.6.7.post2"}),
        (["env.SGLANG_X=1", "env.Y="], {"env.SGLANG_X": "1", "env.Y": ""}),
        (["env.X=a=b c"], {"env.X": "a=b c"}),
        (["env.X=a=1, b=2 cuda=13"], {"env.X": "a=1, b=2", "cuda": "13"}),
        (["cuda=13.0", "cuda=13.0"], {"cuda": "13.0"}),
        (["driver=595.12.01"], {"driver": "595.12.01"}),
        (
            ["numa_memory_mib=24105,24105,cuda=13.0"],
            {"numa_memory_mib": "24105,24105", "cuda": "13.0"},
        ),
    ],
)
def test_assumptions(items: list[str], expected: dict[str, str]) -> None:
    assert dict(parse_assumptions(items)) == expected


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("cuda", ["cuda is no NAME=VALUE"]),
        ("cudda=12", ["cudda", "did you mean cuda?"]),
        ("zzzzzz=12", ["zzzzzz", "known are cuda", "env.NAME"]),
        ("cuda=new", ["cuda cannot be new", "version"]),
        ("gpu_count=0", ["gpu_count cannot be 0", "gpu_count=8"]),
        ("gpu_count=eight", ["gpu_count cannot be eight"]),
        ("numa_memory_mib=1,,2", ["numa_memory_mib cannot be 1,,2", "list of counts"]),
        ("device_name=", ["device_name cannot be empty"]),
        ("device_name=\x1b[31m", ["device_name"]),
        ("env.=1", ["environment variable"]),
        ("env.A-B=1", ["environment variable"]),
        ("package.=1", ["distribution"]),
        ("cuda=12 cuda=13", ["twice", "12 and 13"]),
        ("=1", ["no name in front of ="]),
        ("[red]=1", ["[red]"]),
    ],
)
def test_wrong_assumptions(item: str, words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        parse_assumptions([item])
    message = str(caught.value)
    assert all(word in message for word in words), message
    assert message.isprintable() and message.startswith("--assume")
