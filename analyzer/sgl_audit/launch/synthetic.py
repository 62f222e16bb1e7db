"""A config.json for a model of which only the architecture and the quantization are named.

Every attribute besides `architectures` and `quantization_config` is an assumption: a dense decoder
of ordinary size. `assumed_attributes` lists them, so that a report can.
"""

from __future__ import annotations

import copy
import re

from sgl_audit.errors import UsageError
from sgl_audit.launch.text import did_you_mean, shown

_ARCHITECTURE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
_TASK = re.compile(r"(?:For[A-Z][A-Za-z0-9]*|LMHeadModel|Model)$")
_EXPERTS = re.compile(r"Moe(?=[A-Z0-9]|$)|MoE|MOE")

_SHAPE: dict[str, object] = {
    "attention_bias": False,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "head_dim": 128,
    "hidden_act": "silu",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "max_position_embeddings": 131072,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "rms_norm_eps": 1e-05,
    "rope_theta": 1000000,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "vocab_size": 131072,
}
# Only where the name itself says so: an architecture is never looked up in a list of models.
_MIXTURE: dict[str, object] = {
    "moe_intermediate_size": 1536,
    "num_experts": 128,
    "num_experts_per_tok": 8,
}


def _modelopt(algorithm: str, bits: int, group_size: int | None) -> dict[str, object]:
    number: dict[str, object] = {"dynamic": False, "num_bits": bits, "type": "float"}
    if group_size is not None:
        number["group_size"] = group_size
    group = {"input_activations": dict(number), "weights": number, "targets": ["Linear"]}
    return {
        "config_groups": {"group_0": group},
        "ignore": ["lm_head"],
        "quant_algo": algorithm,
        "quant_method": "modelopt",
    }


def _compressed(form: str, weights: dict[str, object], inputs: object) -> dict[str, object]:
    group = {
        "format": form,
        "input_activations": inputs,
        "output_activations": None,
        "targets": ["Linear"],
        "weights": weights,
    }
    return {
        "config_groups": {"group_0": group},
        "format": form,
        "ignore": ["lm_head"],
        "kv_cache_scheme": None,
        "quant_method": "compressed-tensors",
        "quantization_status": "compressed",
    }


def _numbers(bits: int, kind: str, strategy: str, **more: object) -> dict[str, object]:
    return {
        "dynamic": False,
        "num_bits": bits,
        "strategy": strategy,
        "symmetric": True,
        "type": kind,
        **more,
    }


_INTEGER = {"bits": 4, "group_size": 128}
_FORMS: dict[str, dict[str, object]] = {
    "NVFP4": _modelopt("NVFP4", 4, 16),
    "FP8": {
        "activation_scheme": "dynamic",
        "fmt": "e4m3",
        "quant_method": "fp8",
        "weight_block_size": [128, 128],
    },
    "modelopt FP8": _modelopt("FP8", 8, None),
    "MXFP4": {
        "modules_to_not_convert": ["lm_head", "model.embed_tokens"],
        "quant_method": "mxfp4",
    },
    "MXFP8": {
        "activation_scheme": "dynamic",
        "quant_method": "mxfp8",
        "scale_fmt": "ue8m0",
        "weight_block_size": [1, 32],
    },
    "INT4 AWQ": {**_INTEGER, "quant_method": "awq", "version": "gemm", "zero_point": True},
    "INT4 GPTQ": {**_INTEGER, "quant_method": "gptq", "desc_act": False, "sym": True},
    "compressed-tensors NVFP4": _compressed(
        "nvfp4-pack-quantized",
        _numbers(4, "float", "tensor_group", group_size=16),
        _numbers(4, "float", "tensor_group", group_size=16) | {"dynamic": "local"},
    ),
    "compressed-tensors FP8": _compressed(
        "float-quantized",
        _numbers(8, "float", "channel"),
        _numbers(8, "float", "token") | {"dynamic": True},
    ),
    "compressed-tensors INT4": _compressed(
        "pack-quantized", _numbers(4, "int", "group", group_size=32), None
    ),
}
_ALIASES = {"awq": "INT4 AWQ", "gptq": "INT4 GPTQ", "ct nvfp4": "compressed-tensors NVFP4"}
_UNQUANTIZED = ("bf16", "none", "fp16")
QUANTIZATIONS: tuple[str, ...] = tuple(_FORMS)


def synthetic_config(architecture: str, quantization: str | None = None) -> dict[str, object]:
    """A config.json-like mapping for an architecture.

    Args:
        architecture: class name as in `architectures` ("Qwen3MoeForCausalLM").
        quantization: one of `QUANTIZATIONS`, in any case and with blanks, dashes or underscores;
            None, "BF16" or "none" for an unquantized checkpoint.

    Raises:
        UsageError: the architecture is no class name, or the quantization is unknown.
    """
    if not _ARCHITECTURE.fullmatch(architecture):
        raise UsageError(
            f"--model-arch {shown(architecture) or 'with an empty text'} is no class name; write "
            f"one like Qwen3MoeForCausalLM."
        )
    config: dict[str, object] = {
        "architectures": [architecture],
        "model_type": _model_type(architecture),
        **_SHAPE,
    }
    if _EXPERTS.search(architecture):
        config |= _MIXTURE
    declared = _quantization_config(quantization)
    if declared is not None:
        config["quantization_config"] = declared
    return config


def assumed_attributes(config: dict[str, object]) -> tuple[str, ...]:
    """The attributes of a `synthetic_config` that nobody named, sorted."""
    return tuple(sorted(config.keys() - {"architectures", "quantization_config"}))


def _quantization_config(quantization: str | None) -> dict[str, object] | None:
    if quantization is None:
        return None
    key = _key(quantization)
    if key in _UNQUANTIZED:
        return None
    by_key = {_key(name): name for name in _FORMS} | _ALIASES
    if key not in by_key:
        known = ", ".join(_FORMS)
        near = did_you_mean(key, by_key)
        raise UsageError(
            f"--quantization-of {shown(quantization) or 'with an empty text'} is no quantization "
            f"that sgl-audit can declare{near or f'; known are {known}.'}"
        )
    return copy.deepcopy(_FORMS[by_key[key]])


def _key(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name.strip().lower())


def _model_type(architecture: str) -> str:
    """`Qwen3MoeForCausalLM` -> `qwen3_moe`, the way transformers names most of its models."""
    stem = _TASK.sub("", architecture) or architecture
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", stem).lower().replace("__", "_")
