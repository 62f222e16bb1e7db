"""Reading a model's configuration."""

import contextlib

from transformers import AutoConfig

from sglang.srt.configs import MiniGdnConfig

for _cls in [MiniGdnConfig]:
    with contextlib.suppress(ValueError):
        AutoConfig.register(_cls.model_type, _cls)


def get_config(model: str, trust_remote_code: bool, revision=None, **kwargs):
    kwargs["trust_remote_code"] = trust_remote_code
    return AutoConfig.from_pretrained(model, revision=revision, **kwargs)


def get_hf_text_config(config):
    """The language part of a configuration; the configuration itself for text models."""
    return getattr(config, "text_config", None) or config
