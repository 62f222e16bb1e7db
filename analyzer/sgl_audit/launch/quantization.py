"""How a checkpoint's quantization is called in reports. A display name; it decides nothing.

Sources of the forms: `quantization_config` as ModelOpt, compressed-tensors, AutoAWQ, GPTQModel,
Quark and transformers write it, and ModelOpt's hf_quant_config.json.
"""

from __future__ import annotations

from collections.abc import Mapping

from sgl_audit.launch.text import shown

_PACKED = {
    "nvfp4-pack-quantized": "NVFP4",
    "mxfp4-pack-quantized": "MXFP4",
    "mxfp8-quantized": "MXFP8",
    "float-quantized": "FP8",
    "naive-quantized": "",
    "int-quantized": "INT8",
    "marlin-24": "INT4 2:4",
}
_METHODS = {
    "fp8": "FP8",
    "fbgemm_fp8": "FP8",
    "mxfp4": "MXFP4",
    "mxfp8": "MXFP8",
    "modelopt_fp4": "NVFP4",
    "modelopt_fp8": "FP8",
    "w8a8_int8": "INT8",
    "w8a8_fp8": "FP8",
    "gguf": "GGUF",
}
_INTEGER_METHODS = {"awq": "AWQ", "gptq": "GPTQ", "auto-round": "AutoRound", "awq_marlin": "AWQ"}


def describe_quantization(
    config: Mapping[str, object], hf_quant: Mapping[str, object] | None = None
) -> str | None:
    """The display name of a model's quantization ("NVFP4", "INT4 AWQ"), or None for none.

    Args:
        config: config.json.
        hf_quant: hf_quant_config.json, which is looked at where config.json declares nothing.
    """
    declared = _declared(config)
    if declared is None and hf_quant is not None:
        declared = _mapping(hf_quant.get("quantization")) or hf_quant
    if not declared:
        return None
    method = str(declared.get("quant_method") or "").lower()
    if "quant_algo" in declared or method == "modelopt":
        return _modelopt(declared)
    if method == "compressed-tensors":
        return f"compressed-tensors {_compressed(declared)}".strip()
    if method in _INTEGER_METHODS:
        return f"INT{_bits(declared)} {_INTEGER_METHODS[method]}"
    if method == "bitsandbytes":
        return f"bitsandbytes {'4-bit' if declared.get('load_in_4bit') else '8-bit'}"
    if method == "quark":
        return f"Quark {_quark(declared)}".strip()
    return _METHODS.get(method) or (shown(method, 40) if method else "quantized")


def _declared(config: Mapping[str, object]) -> Mapping[str, object] | None:
    for holder in (config, _mapping(config.get("text_config")) or {}):
        for key in ("quantization_config", "compression_config"):
            declared = _mapping(holder.get(key))
            if declared is not None:
                return declared
    return None


def _modelopt(declared: Mapping[str, object]) -> str:
    algorithm = str(declared.get("quant_algo") or "").upper()
    if algorithm == "MIXED_PRECISION":
        layers = _mapping(declared.get("quantized_layers")) or {}
        kinds = {str((_mapping(layer) or {}).get("quant_algo", "")) for layer in layers.values()}
        named = ", ".join(sorted(shown(kind, 20) for kind in kinds if kind))
        return f"mixed precision ({named})" if named else "mixed precision"
    if "AWQ" in algorithm and "NVFP4" not in algorithm:
        return "INT4 AWQ"
    return shown(algorithm, 40) if algorithm else "modelopt"


def _compressed(declared: Mapping[str, object]) -> str:
    groups = _mapping(declared.get("config_groups")) or {}
    names: dict[str, None] = {}
    for group in groups.values():
        group_map = _mapping(group) or {}
        packing = str(group_map.get("format") or declared.get("format") or "")
        name = _PACKED.get(packing) or _number(_mapping(group_map.get("weights")) or {})
        names[name] = None
    if not names:
        names[_PACKED.get(str(declared.get("format")), "")] = None
    return " and ".join(sorted(name for name in names if name))


def _quark(declared: Mapping[str, object]) -> str:
    weight = _mapping((_mapping(declared.get("global_quant_config")) or {}).get("weight")) or {}
    kind = str(weight.get("dtype", "")).lower()
    if kind == "fp4":
        return "MXFP4"
    return "FP8" if kind.startswith("fp8") else shown(kind.upper(), 20)


def _number(weights: Mapping[str, object]) -> str:
    bits = weights.get("num_bits")
    if not isinstance(bits, int):
        return ""
    return f"{'FP' if weights.get('type') == 'float' else 'INT'}{bits}"


def _bits(declared: Mapping[str, object]) -> str:
    bits = declared.get("bits", declared.get("w_bit", 4))
    return str(bits) if isinstance(bits, int) else "4"


def _mapping(value: object) -> Mapping[str, object] | None:
    return value if isinstance(value, Mapping) else None
