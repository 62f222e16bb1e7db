from sglang.srt.configs.model_config import ModelConfig
from sglang.srt.layers.moe import initialize_moe_config
from sglang.srt.layers.quantization.fp4_utils import initialize_fp4_gemm_config


class Scheduler:
    def __init__(self, server_args):
        self.server_args = server_args
        self.model_config = ModelConfig.from_server_args(server_args)
        self.init_moe_gemm_config()

    def init_moe_gemm_config(self):
        config = self.model_config.hf_config
        if hasattr(getattr(config, "text_config", config), "num_experts_per_tok"):
            initialize_moe_config(self.server_args)
        initialize_fp4_gemm_config(self.server_args)
