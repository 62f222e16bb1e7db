"""Finding model files, naming quantizations, and configurations made up from names."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pytest

from sgl_audit.errors import UsageError
from sgl_audit.launch import (
    QUANTIZATIONS,
    assumed_attributes,
    describe_quantization,
    find_model,
    hub_cache,
    load_config,
    synthetic_config,
)


def _cached(cache: Path, name: str, *commits: str, main: str | None = None) -> Path:
    repository = cache / f"models--{name.replace('/', '--')}"
    (repository / "refs").mkdir(parents=True)
    (repository / "blobs").mkdir()
    for commit in commits:
        blob = repository / "blobs" / f"blob-{commit}"
        blob.write_text(json.dumps({"architectures": [commit]}))
        snapshot = repository / "snapshots" / commit
        snapshot.mkdir(parents=True)
        (snapshot / "config.json").symlink_to(f"../../blobs/blob-{commit}")
    if main:
        (repository / "refs" / "main").write_text(main)
    return repository


def test_folder_and_file(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"architectures": ["A"], "x": NaN, "y": Infinity}')
    (tmp_path / "model.safetensors").write_text("")
    (tmp_path / "hf_quant_config.json").write_text("{}")
    for given in (tmp_path, tmp_path / "config.json"):
        files = find_model(str(given))
        assert files is not None
        assert files.names == ("config.json", "hf_quant_config.json")
        assert files.has("model.safetensors") and not files.has("absent")
        config = load_config(files)
        assert math.isnan(config["x"]) and config["y"] == math.inf  # type: ignore[arg-type]
    named = tmp_path / "other.json"
    named.write_text('{"architectures": ["B"]}')
    alone = find_model(str(named))
    assert alone is not None and alone.names == ("config.json",) and alone.source == "file"
    assert load_config(alone) == {"architectures": ["B"]}


def test_hub_cache_layout(tmp_path: Path) -> None:
    _cached(tmp_path, "org/two", "c1", "c2", main="c2\n")
    _cached(tmp_path, "org/one", "c3")
    _cached(tmp_path, "gpt2", "c4", main="c4")
    _cached(tmp_path, "org/many", "c5", "c6")

    def architecture(name: str, revision: str | None = None) -> object:
        files = find_model(name, revision=revision, hf_cache=tmp_path)
        return files and load_config(files)["architectures"]

    assert architecture("org/two") == ["c2"]
    assert architecture("org/two", "c1") == ["c1"]
    assert architecture("org/two", "c9") is None
    assert architecture("org/one") == ["c3"]
    assert architecture("gpt2") == ["c4"]
    assert architecture("org/many") is None
    assert architecture("org/absent") is None
    snapshot = tmp_path / "models--org--two" / "snapshots" / "c1"
    direct = find_model(str(snapshot / "config.json"))
    assert direct is not None and load_config(direct)["architectures"] == ["c1"]


@pytest.mark.parametrize(
    "name",
    ["", "../x", "a/b/c", "org/..", "/abs/ent", "s3://b/k", "a\0b", "~no-such-user/m", "\ud800"],
)
def test_names_that_are_no_model_here(tmp_path: Path, name: str) -> None:
    assert find_model(name, hf_cache=tmp_path) is None


def test_revisions_cannot_leave_the_cache(tmp_path: Path) -> None:
    repository = _cached(tmp_path, "org/m", "c1", "c2", main="../../../etc")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "config.json").write_text("{}")
    for revision in (None, "../../outside", "..", "/etc", "a/../../.."):
        assert find_model("org/m", revision=revision, hf_cache=tmp_path) is None
    (repository / "snapshots" / "c1" / "config.json").unlink()
    (repository / "snapshots" / "c1" / "config.json").symlink_to(outside / "config.json")
    files = find_model("org/m", revision="c1", hf_cache=tmp_path)
    assert files is not None
    with pytest.raises(UsageError, match="link out of the model folder"):
        files.read("config.json")


def test_model_errors_are_one_sentence(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UsageError, match=r"has no config\.json; give the folder"):
        find_model(str(empty))
    weights = tmp_path / "model.gguf"
    weights.write_text("")
    with pytest.raises(UsageError, match="a file but no JSON"):
        find_model(str(weights))
    folder = tmp_path / "m"
    folder.mkdir()
    config = folder / "config.json"
    for text, words in (
        ("[1]", "not a JSON object"),
        ("{", "no JSON"),
        ('{"a": ' + "[" * 5000 + "]" * 5000 + "}", "nested more than 60"),
        ("\udcff", "no UTF-8"),
    ):
        config.write_text(text, errors="surrogateescape")
        files = find_model(str(folder))
        assert files is not None
        with pytest.raises(UsageError, match=words):
            load_config(files)
        with pytest.raises(UsageError, match="has no text file"):
            files.read("../secret.json")
    with config.open("wb") as file:
        file.truncate(200 * 2**20)
    with pytest.raises(UsageError, match="larger than 32 MB"):
        load_config(files)
    config.unlink()
    os.mkfifo(config)
    with pytest.raises(UsageError, match="no regular file"):
        load_config(files)
    config.unlink()
    config.symlink_to(weights)
    with pytest.raises(UsageError, match="link out of the model folder"):
        load_config(files)


def test_where_the_cache_is() -> None:
    assert hub_cache({"HF_HUB_CACHE": "/a", "HF_HOME": "/b"}) == Path("/a")
    assert hub_cache({"HF_HOME": "/b"}) == Path("/b/hub")
    assert hub_cache({"XDG_CACHE_HOME": "/c"}) == Path("/c/huggingface/hub")
    assert hub_cache({}) == Path("~/.cache/huggingface/hub").expanduser()


def _group(bits: int, kind: str, **more: object) -> dict[str, object]:
    return {"config_groups": {"g": {"weights": {"num_bits": bits, "type": kind}}}, **more}


@pytest.mark.parametrize(
    ("declared", "hf_quant", "name"),
    [
        (None, None, None),
        ({}, None, None),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, None, "NVFP4"),
        ({"quant_algo": "NVFP4"}, None, "NVFP4"),
        ({"quant_method": "modelopt"}, None, "modelopt"),
        (None, {"quantization": {"quant_algo": "FP8"}}, "FP8"),
        (None, {"quantization": {"quant_algo": "W4A16_AWQ"}}, "INT4 AWQ"),
        (
            {
                "quant_method": "modelopt",
                "quant_algo": "MIXED_PRECISION",
                "quantized_layers": {"a": {"quant_algo": "NVFP4"}, "b": {"quant_algo": "FP8"}},
            },
            None,
            "mixed precision (FP8, NVFP4)",
        ),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, None, "FP8"),
        ({"quant_method": "mxfp4"}, None, "MXFP4"),
        ({"quant_method": "mxfp8"}, None, "MXFP8"),
        ({"quant_method": "awq", "bits": 4}, None, "INT4 AWQ"),
        ({"quant_method": "gptq", "bits": 8}, None, "INT8 GPTQ"),
        ({"quant_method": "auto-round", "bits": 4}, None, "INT4 AutoRound"),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, None, "bitsandbytes 4-bit"),
        (
            _group(4, "float", quant_method="compressed-tensors", format="nvfp4-pack-quantized"),
            None,
            "compressed-tensors NVFP4",
        ),
        (
            _group(4, "int", quant_method="compressed-tensors", format="pack-quantized"),
            None,
            "compressed-tensors INT4",
        ),
        ({"quant_method": "compressed-tensors"}, None, "compressed-tensors"),
        (
            {"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4"}}},
            None,
            "Quark MXFP4",
        ),
        ({"quant_method": "new\x1b[31m"}, None, "new\\x1b[31m"),
        ({"quant_method": 3, "config_groups": [1]}, None, "3"),
        ({"bits": 4}, None, "quantized"),
    ],
)
def test_display_names(
    declared: dict[str, object] | None, hf_quant: dict[str, object] | None, name: str | None
) -> None:
    config: dict[str, object] = {} if declared is None else {"quantization_config": declared}
    assert describe_quantization(config, hf_quant) == name
    assert describe_quantization({"text_config": config}, hf_quant) == name


@pytest.mark.parametrize("quantization", QUANTIZATIONS)
def test_synthetic_forms_are_named_as_asked(quantization: str) -> None:
    config = synthetic_config("Qwen3MoeForCausalLM", quantization.lower().replace(" ", "_"))
    assert describe_quantization(config, None) == quantization.removeprefix("modelopt ")
    json.dumps(config)


def test_synthetic_config_says_what_it_assumes() -> None:
    config = synthetic_config("Qwen3_5MoeForConditionalGeneration", "NVFP4")
    assert config["architectures"] == ["Qwen3_5MoeForConditionalGeneration"]
    assert config["model_type"] == "qwen3_5_moe"
    assumed = assumed_attributes(config)
    assert {"hidden_size", "model_type", "num_experts"} <= set(assumed)
    assert not {"architectures", "quantization_config"} & set(assumed)
    dense = synthetic_config("LlamaForCausalLM", "bf16")
    assert dense["model_type"] == "llama"
    assert "quantization_config" not in dense and "num_experts" not in dense
    assert synthetic_config("DeepseekV3ForCausalLM")["model_type"] == "deepseek_v3"
    first, second = synthetic_config("A", "FP8"), synthetic_config("A", "FP8")
    first["quantization_config"]["fmt"] = "x"  # type: ignore[index]
    assert second != first


@pytest.mark.parametrize(
    ("architecture", "quantization", "words"),
    [
        ("", None, "--model-arch"),
        ("Qwen3 Moe", None, "no class name"),
        ("[red]", None, "no class name"),
        ("A", "NVFP5", r"did you mean nvfp4\?"),
        ("A", "zzzz", "known are NVFP4"),
        ("A", "", "empty text"),
    ],
)
def test_wrong_names(architecture: str, quantization: str | None, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        synthetic_config(architecture, quantization)
