"""Every quantization method by its name."""

from sglang.srt.layers.quantization.modelopt_quant import ModelOptFp4Config, ModelOptFp8Config

QUANTIZATION_METHODS = {
    "modelopt_fp8": ModelOptFp8Config,
    "modelopt_fp4": ModelOptFp4Config,
}


def get_quantization_config(quantization: str):
    if quantization not in QUANTIZATION_METHODS:
        raise ValueError(f"Unknown quantization method: {quantization}.")
    return QUANTIZATION_METHODS[quantization]
