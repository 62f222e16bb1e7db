"""ModelOpt checkpoints: NVFP4 linear and expert layers."""

from sglang.srt.layers.moe import MoeRunnerBackend, get_moe_runner_backend
from sglang.srt.layers.quantization.base_config import QuantizationConfig
from sglang.srt.layers.quantization.fp4_utils import get_fp4_gemm_runner_backend
from sglang.srt.utils import is_blackwell_supported


class ModelOptFp8Config(QuantizationConfig):
    name = "modelopt_fp8"
    min_capability = 89

    @classmethod
    def override_quantization_method(cls, hf_quant_cfg, user_quant):
        algorithm = hf_quant_cfg.get("quant_algo") or ""
        if hf_quant_cfg.get("quant_method") == "modelopt" and algorithm == "FP8":
            return cls.name
        return None


class ModelOptFp4Config(QuantizationConfig):
    name = "modelopt_fp4"
    min_capability = 100

    @classmethod
    def override_quantization_method(cls, hf_quant_cfg, user_quant):
        algorithm = hf_quant_cfg.get("quant_algo") or ""
        if hf_quant_cfg.get("quant_method") == "modelopt" and "FP4" in algorithm:
            return cls.name
        return None


class ModelOptFp4LinearMethod:
    def apply(self, layer, x):
        from flashinfer import mm_fp4

        backend = get_fp4_gemm_runner_backend()
        return mm_fp4(x, layer.weight, backend=backend.get_flashinfer_backend())


class ModelOptNvFp4FusedMoEMethod:
    def __init__(self, quant_config):
        if not is_blackwell_supported():
            raise ValueError("NVFP4 experts need a Blackwell GPU.")
        self.quant_config = quant_config
        chosen = get_moe_runner_backend()
        self.enable_flashinfer_trtllm_moe = chosen.is_flashinfer_trtllm()
        self.enable_flashinfer_cutlass_moe = chosen.is_flashinfer_cutlass()
        self.runner = None

    def create_moe_runner(self, layer, moe_runner_config):
        """Two runners are known here; `auto` gets none."""
        if self.enable_flashinfer_trtllm_moe:
            self.runner = (MoeRunnerBackend.FLASHINFER_TRTLLM, moe_runner_config)
        elif self.enable_flashinfer_cutlass_moe:
            self.runner = (MoeRunnerBackend.FLASHINFER_CUTLASS, moe_runner_config)

    def apply(self, layer, x):
        if self.runner is None:
            from sgl_kernel import cutlass_fp4_group_mm

            return cutlass_fp4_group_mm(x, layer.w13_weight)
        return self.runner
