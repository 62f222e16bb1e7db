from sglang.srt.layers.moe.utils import (
    MoeRunnerBackend,
    get_moe_runner_backend,
    initialize_moe_config,
)

__all__ = ["MoeRunnerBackend", "get_moe_runner_backend", "initialize_moe_config"]
