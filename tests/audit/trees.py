"""A small server, written for these tests, of which each test changes one part."""

from __future__ import annotations

from collections.abc import Mapping

UTILS = """
import functools
import torch


@functools.lru_cache(maxsize=1)
def is_sm100_supported():
    return torch.cuda.get_device_capability()[0] == 10


def is_sm120_supported():
    return torch.cuda.get_device_capability()[0] == 12
"""
RUNNERS = """
from enum import Enum


class MoeRunnerBackend(Enum):
    AUTO = "auto"
    TRITON = "triton"
    FLASHINFER_TRTLLM = "flashinfer_trtllm"
    MARLIN = "marlin"

    def is_auto(self):
        return self == MoeRunnerBackend.AUTO

    def is_triton(self):
        return self == MoeRunnerBackend.TRITON

    def is_flashinfer_trtllm(self):
        return self == MoeRunnerBackend.FLASHINFER_TRTLLM


def get_moe_runner_backend():
    return MoeRunnerBackend.AUTO
"""
LAYERS = """
from sglang.srt.layers.moe.utils import MoeRunnerBackend, get_moe_runner_backend


class Fp8MoEMethod:
    def create_moe_runner(self, layer):
        moe_runner_backend = get_moe_runner_backend()
        if moe_runner_backend.is_auto():
            moe_runner_backend = MoeRunnerBackend.TRITON
        self.runner = moe_runner_backend


class NvFp4MoEMethod:
    def create_moe_runner(self, layer):
        if get_moe_runner_backend().is_flashinfer_trtllm():
            self.runner = make("trtllm")


class MxFp4MoEMethod:
    def create_moe_runner(self, layer):
        if get_moe_runner_backend().is_flashinfer_trtllm():
            self.runner = make("trtllm")
        else:
            self.runner = make("triton")
"""
ARGS = """
import argparse
from dataclasses import dataclass
from typing import Optional

from sglang.srt.utils import is_sm100_supported, is_sm120_supported

MOE_RUNNER_BACKEND_CHOICES = ["auto", "triton", "flashinfer_trtllm", "forgotten"]
ATTENTION_BACKEND_CHOICES = ["triton", "fa3", "trtllm_mha", "slow", "ascend"]


@dataclass
class ServerArgs:
    model_path: str
    device: Optional[str] = None
    quantization: Optional[str] = None
    moe_runner_backend: str = "auto"
    attention_backend: Optional[str] = None
    kv_cache_dtype: str = "auto"
    enable_deterministic: bool = False

    def __post_init__(self):
        if self.model_path == "dummy":
            return
        self._handle_npu()
        self._handle_moe()
        self._handle_attention()

    def _handle_npu(self):
        if self.device == "npu":
            self._npu_defaults()

    def _npu_defaults(self):
        self.attention_backend = "ascend"

    def _handle_moe(self):
        if self.quantization is None:
            self.quantization = read_quantization(self.model_path)
        if self.quantization == "modelopt_fp4" and is_sm100_supported():
            self.moe_runner_backend = "flashinfer_trtllm"

    def _handle_attention(self):
        if self.attention_backend is None:
            if is_sm100_supported():
                self.attention_backend = "trtllm_mha"
            else:
                self.attention_backend = "triton"
        if self.attention_backend == "trtllm_mha" and not is_sm100_supported():
            raise ValueError("trtllm_mha needs SM100")
        if self.attention_backend == "fa3" and self.kv_cache_dtype == "fp8_e5m2":
            raise ValueError("fa3 has no fp8_e5m2")
        if self.enable_deterministic and self.attention_backend == "slow":
            raise ValueError("slow is not deterministic")

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--model-path", type=str)
        parser.add_argument("--device", type=str, default=None)
        parser.add_argument("--quantization", type=str, default=None)
        parser.add_argument(
            "--moe-runner-backend",
            type=str,
            default=ServerArgs.moe_runner_backend,
            choices=MOE_RUNNER_BACKEND_CHOICES,
        )
        parser.add_argument(
            "--attention-backend", type=str, default=None, choices=ATTENTION_BACKEND_CHOICES
        )
        parser.add_argument(
            "--kv-cache-dtype", type=str, default="auto", choices=["auto", "fp8_e5m2"]
        )
        parser.add_argument("--enable-deterministic", action="store_true")
"""


def server(**changed: str) -> Mapping[str, str]:
    """The tree, with the parts named `args`, `layers`, `runners`, `utils` replaced."""
    return {
        "sglang/__init__.py": "",
        "sglang/srt/__init__.py": "",
        "sglang/srt/server_args.py": changed.get("args", ARGS),
        "sglang/srt/utils.py": changed.get("utils", UTILS),
        "sglang/srt/layers/moe/utils.py": changed.get("runners", RUNNERS),
        "sglang/srt/layers/quantization/methods.py": changed.get("layers", LAYERS),
    }
