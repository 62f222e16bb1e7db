"""What the server knows of a model before its weights are there."""

import json
import os
from enum import IntEnum, auto
from typing import Optional

from sglang.srt.layers.quantization import QUANTIZATION_METHODS
from sglang.srt.utils.hf_transformers_utils import get_config, get_hf_text_config


class AttentionArch(IntEnum):
    MLA = auto()
    MHA = auto()


# What may be asked for although the checkpoint calls itself otherwise.
COMPATIBLE_METHODS = {"modelopt_fp4": ["modelopt"], "modelopt_fp8": ["modelopt"]}


class ModelConfig:
    def __init__(
        self, model_path: str, trust_remote_code: bool = False, quantization: Optional[str] = None
    ):
        self.model_path = model_path
        self.quantization = quantization
        self.hf_config = config = get_config(model_path, trust_remote_code)
        self.hf_text_config = text_config = get_hf_text_config(config)
        is_mla = getattr(text_config, "kv_lora_rank", None) is not None
        self.attention_arch = AttentionArch.MLA if is_mla else AttentionArch.MHA
        self._verify_quantization()

    @staticmethod
    def from_server_args(server_args):
        names = ["model_path", "trust_remote_code", "quantization"]
        return ModelConfig(**{name: getattr(server_args, name) for name in names})

    def _parse_quant_hf_config(self) -> Optional[dict]:
        declared = getattr(self.hf_config, "quantization_config", None)
        path = os.path.join(self.model_path, "hf_quant_config.json")
        if declared is None and os.path.exists(path):
            with open(path) as file:
                inner = json.load(file)["quantization"]
            declared = {"quant_method": "modelopt", "quant_algo": inner["quant_algo"]}
        return declared

    def _verify_quantization(self) -> None:
        declared = self._parse_quant_hf_config()
        if declared is None:
            return
        method = declared.get("quant_method", self.quantization or "").lower()
        for candidate in QUANTIZATION_METHODS.values():
            override = candidate.override_quantization_method(declared, self.quantization)
            if override:
                method = self.quantization = override
                break
        if self.quantization is None:
            self.quantization = method
        elif self.quantization != method:
            if method not in COMPATIBLE_METHODS.get(self.quantization, []):
                raise ValueError(
                    f"--quantization {self.quantization} contradicts the checkpoint ({method})."
                )
