"""Process-wide choice of the expert kernels."""

from enum import Enum


class MoeRunnerBackend(Enum):
    AUTO = "auto"
    DEEP_GEMM = "deep_gemm"
    TRITON = "triton"
    TRITON_KERNELS = "triton_kernel"
    FLASHINFER_TRTLLM = "flashinfer_trtllm"
    FLASHINFER_CUTLASS = "flashinfer_cutlass"
    CUTLASS = "cutlass"
    MARLIN = "marlin"

    def is_auto(self):
        return self is MoeRunnerBackend.AUTO

    def is_flashinfer_trtllm(self):
        return self is MoeRunnerBackend.FLASHINFER_TRTLLM

    def is_flashinfer_cutlass(self):
        return self is MoeRunnerBackend.FLASHINFER_CUTLASS

    def is_marlin(self):
        return self is MoeRunnerBackend.MARLIN


MOE_RUNNER_BACKEND: MoeRunnerBackend | None = None
FP4_ALLGATHER_DISABLED = False


def initialize_moe_config(server_args) -> None:
    global MOE_RUNNER_BACKEND, FP4_ALLGATHER_DISABLED
    chosen = server_args.moe_runner_backend
    MOE_RUNNER_BACKEND = MoeRunnerBackend(chosen)
    FP4_ALLGATHER_DISABLED = server_args.disable_flashinfer_cutlass_moe_fp4_allgather


def get_moe_runner_backend() -> MoeRunnerBackend:
    return MOE_RUNNER_BACKEND or MoeRunnerBackend.AUTO
