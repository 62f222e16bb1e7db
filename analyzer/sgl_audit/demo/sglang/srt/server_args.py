"""Server arguments: choices, fields, resolution in steps, command line (early 2026)."""

import argparse
import dataclasses
import logging
from typing import List, Optional

from sglang.srt.utils import (
    is_flashinfer_available,
    is_hip,
    is_hopper_with_cuda_12_3,
    is_sm100_supported,
    is_sm120_supported,
)

logger = logging.getLogger(__name__)

QUANTIZATION_CHOICES = ["modelopt_fp8", "modelopt_fp4"]

ATTENTION_BACKEND_CHOICES = [
    "triton",
    "torch_native",
    "flashinfer",
    "fa3",  # Hopper (SM90) only
    "trtllm_mha",
    "aiter",
]

MOE_RUNNER_BACKEND_CHOICES = [
    "auto",
    "deep_gemm",
    "triton",
    "triton_kernel",
    "flashinfer_trtllm",
    "flashinfer_cutlass",
    "cutlass",
]

FP4_GEMM_RUNNER_BACKEND_CHOICES = [
    "auto",
    "flashinfer_cudnn",
    "flashinfer_cutlass",
    "flashinfer_trtllm",
]


# Other packages add their own choices through these.
def add_attention_backend_choices(choices):
    ATTENTION_BACKEND_CHOICES.extend(choices)


def add_moe_runner_backend_choices(choices):
    MOE_RUNNER_BACKEND_CHOICES.extend(choices)


def add_fp4_gemm_runner_backend_choices(choices):
    FP4_GEMM_RUNNER_BACKEND_CHOICES.extend(choices)


@dataclasses.dataclass
class ServerArgs:
    model_path: str
    trust_remote_code: bool = False
    quantization: Optional[str] = None
    tp_size: int = 1
    ep_size: int = 1
    sampling_backend: Optional[str] = None
    attention_backend: Optional[str] = None
    moe_runner_backend: str = "auto"
    fp4_gemm_runner_backend: str = "flashinfer_cutlass"
    disable_flashinfer_cutlass_moe_fp4_allgather: bool = False
    enable_flashinfer_allreduce_fusion: bool = False

    def __post_init__(self):
        if self.model_path in ("dummy", "none"):
            return
        self._handle_missing_default_values()
        self._handle_model_specific_adjustments()
        self._handle_attention_backend_compatibility()
        self._handle_moe_kernel_config()

    def _handle_missing_default_values(self):
        if self.sampling_backend is None:
            self.sampling_backend = "flashinfer" if is_flashinfer_available() else "pytorch"

    def _handle_model_specific_adjustments(self):
        hf_config = self.get_model_config().hf_config
        model_arch = hf_config.architectures[0]
        if model_arch in ["MiniGdnMoeForCausalLM", "Qwen3MoeForCausalLM"]:
            if is_sm100_supported():
                if self.quantization is None:
                    self.quantization = self.get_model_config().quantization
                if (
                    self.quantization in ["modelopt_fp8", "modelopt_fp4"]
                    and self.moe_runner_backend == "auto"
                ):
                    self.moe_runner_backend = "flashinfer_trtllm"
                    logger.info("flashinfer_trtllm runs the experts of %s.", model_arch)
                if model_arch == "MiniGdnMoeForCausalLM" and self.attention_backend is None:
                    self.attention_backend = "triton"
            if (is_sm100_supported() or is_sm120_supported()) and self.tp_size > 1:
                self.enable_flashinfer_allreduce_fusion = self.tp_size <= 8

    def _handle_attention_backend_compatibility(self):
        if self.attention_backend is None:
            self.attention_backend = self._get_default_attn_backend()
            logger.info("Attention backend by default: %s.", self.attention_backend)

        if self.attention_backend == "trtllm_mha":
            if not is_sm100_supported():
                raise ValueError(
                    "The trtllm_mha attention backend runs on data center Blackwell (SM100) only."
                )

    def _get_default_attn_backend(self) -> str:
        if is_hopper_with_cuda_12_3():
            return "fa3"
        if self.use_mla_backend():
            return "flashinfer" if is_sm100_supported() else "triton"
        if is_sm100_supported():
            return "trtllm_mha"
        if is_hip():
            return "aiter"
        return "flashinfer" if is_flashinfer_available() else "triton"

    def _handle_moe_kernel_config(self):
        runner = self.moe_runner_backend
        if runner == "flashinfer_cutlass":
            assert self.quantization in [
                "modelopt_fp8",
                "modelopt_fp4",
                None,
            ], f"{runner} does not run {self.quantization}."
            assert self.ep_size in [1, self.tp_size], "--ep-size must be 1 or equal --tp-size."
        elif runner == "flashinfer_trtllm":
            assert self.quantization in (
                None,
                "modelopt_fp8",
                "modelopt_fp4",
            ), f"{runner} does not run {self.quantization}."

    def get_model_config(self):
        from sglang.srt.configs.model_config import ModelConfig

        known = getattr(self, "_known_model_config", None)
        if known is None:
            known = self._known_model_config = ModelConfig.from_server_args(self)
        return known

    def use_mla_backend(self) -> bool:
        from sglang.srt.configs.model_config import AttentionArch

        return self.get_model_config().attention_arch == AttentionArch.MLA

    def get_attention_backends(self):
        return self.attention_backend, self.attention_backend

    @staticmethod
    def add_cli_args(parser: argparse.ArgumentParser):
        parser.add_argument("--model-path", "--model", type=str, required=True)
        parser.add_argument("--trust-remote-code", action="store_true")
        parser.add_argument(
            "--quantization",
            type=str,
            choices=QUANTIZATION_CHOICES,
            default=ServerArgs.quantization,
            help="How the weights are quantized.",
        )
        parser.add_argument(
            "--tensor-parallel-size", "--tp-size", "--tp", type=int, default=ServerArgs.tp_size
        )
        parser.add_argument(
            "--expert-parallel-size", "--ep-size", "--ep", type=int, default=ServerArgs.ep_size
        )
        parser.add_argument("--sampling-backend", choices={"flashinfer", "pytorch"}, default=None)
        parser.add_argument(
            "--attention-backend",
            type=str,
            choices=ATTENTION_BACKEND_CHOICES,
            default=ServerArgs.attention_backend,
            help="The kernels of the attention layers.",
        )
        parser.add_argument(
            "--moe-runner-backend",
            type=str,
            choices=MOE_RUNNER_BACKEND_CHOICES,
            default=ServerArgs.moe_runner_backend,
            help="The kernels of the expert layers.",
        )
        parser.add_argument(
            "--fp4-gemm-backend",
            type=str,
            choices=FP4_GEMM_RUNNER_BACKEND_CHOICES,
            default=ServerArgs.fp4_gemm_runner_backend,
            dest="fp4_gemm_runner_backend",
            help="The kernels of NVFP4 linear layers. The default is flashinfer_cutlass on every "
            "GPU. It replaces the deprecated variable SGLANG_FLASHINFER_FP4_GEMM_BACKEND.",
        )
        parser.add_argument("--disable-flashinfer-cutlass-moe-fp4-allgather", action="store_true")
        parser.add_argument("--enable-flashinfer-allreduce-fusion", action="store_true")

    @classmethod
    def from_cli_args(cls, args: argparse.Namespace):
        args.tp_size = args.tensor_parallel_size
        args.ep_size = args.expert_parallel_size
        return cls(**{f.name: getattr(args, f.name) for f in dataclasses.fields(cls)})


def prepare_server_args(argv: List[str]) -> ServerArgs:
    parser = argparse.ArgumentParser()
    ServerArgs.add_cli_args(parser)
    return ServerArgs.from_cli_args(parser.parse_args(argv))
