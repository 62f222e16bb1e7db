"""Runs the model on one GPU."""

from sglang.srt.configs import MiniGdnConfig
from sglang.srt.configs.model_config import AttentionArch
from sglang.srt.layers.attention.attention_registry import (
    ATTENTION_BACKENDS,
    attn_backend_wrapper,
)


class ModelRunner:
    def __init__(self, model_config, server_args):
        self.model_config = model_config
        self.server_args = server_args
        self.use_mla_backend = model_config.attention_arch == AttentionArch.MLA
        chosen, _ = server_args.get_attention_backends()
        self.attn_backend = self._get_attention_backend_from_str(chosen)

    @property
    def hybrid_gdn_config(self):
        config = self.model_config.hf_text_config
        return config if isinstance(config, MiniGdnConfig) else None

    def _get_attention_backend_from_str(self, name):
        factory = ATTENTION_BACKENDS.get(name)
        if factory is None:
            raise ValueError(f"No attention backend is registered as {name}.")
        return attn_backend_wrapper(self, factory(self))
