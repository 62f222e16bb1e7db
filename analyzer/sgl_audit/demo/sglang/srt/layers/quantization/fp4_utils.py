"""Process-wide choice of the NVFP4 GEMM."""

import logging
from enum import Enum
from typing import Optional

from sglang.srt.environ import envs

logger = logging.getLogger(__name__)

DEFAULT_FP4_GEMM_BACKEND = "flashinfer_cutlass"


class Fp4GemmRunnerBackend(Enum):
    AUTO = "auto"
    FLASHINFER_CUDNN = "flashinfer_cudnn"
    FLASHINFER_CUTLASS = "flashinfer_cutlass"
    FLASHINFER_TRTLLM = "flashinfer_trtllm"

    def is_auto(self) -> bool:
        return self is Fp4GemmRunnerBackend.AUTO

    def is_flashinfer_trtllm(self) -> bool:
        return self is Fp4GemmRunnerBackend.FLASHINFER_TRTLLM

    def get_flashinfer_backend(self) -> str:
        return self.value.removeprefix("flashinfer_")


FP4_GEMM_RUNNER_BACKEND: Optional[Fp4GemmRunnerBackend] = None


def initialize_fp4_gemm_config(server_args) -> None:
    """The deprecated variable beats `auto` and the default, but no other flag value."""
    global FP4_GEMM_RUNNER_BACKEND
    chosen = server_args.fp4_gemm_runner_backend
    variable = envs.SGLANG_FLASHINFER_FP4_GEMM_BACKEND
    if variable.is_set() and chosen in ("auto", DEFAULT_FP4_GEMM_BACKEND):
        chosen = variable.get()
        if not chosen.startswith("flashinfer_"):
            chosen = "flashinfer_" + chosen
        logger.warning(f"{variable.name} is deprecated; pass --fp4-gemm-backend {chosen}.")
    elif variable.is_set():
        logger.warning(f"{variable.name} is deprecated; --fp4-gemm-backend {chosen} wins.")
    FP4_GEMM_RUNNER_BACKEND = Fp4GemmRunnerBackend(chosen)


def get_fp4_gemm_runner_backend() -> Fp4GemmRunnerBackend:
    return FP4_GEMM_RUNNER_BACKEND or Fp4GemmRunnerBackend.AUTO
