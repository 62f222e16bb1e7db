"""Attention back ends by name, and what each refuses."""

import logging

from sglang.srt.layers.attention.backends import (
    AttentionBackend,
    GDNAttnBackend,
    HybridLinearAttnBackend,
)

logger = logging.getLogger(__name__)

ATTENTION_BACKENDS = {}


def register_attention_backend(name):
    def decorator(factory):
        ATTENTION_BACKENDS[name] = factory
        return factory

    return decorator


@register_attention_backend("triton")
def create_triton_backend(runner):
    return AttentionBackend("triton", runner)


@register_attention_backend("torch_native")
def create_torch_native_backend(runner):
    return AttentionBackend("torch_native", runner)


@register_attention_backend("flashinfer")
def create_flashinfer_backend(runner):
    return AttentionBackend("flashinfer", runner)


@register_attention_backend("fa3")
def create_flashattention_v3_backend(runner):
    import torch

    major = torch.cuda.get_device_capability()[0]
    assert major == 9 or (
        major == 8 and not runner.use_mla_backend
    ), "fa3 runs on SM80 to SM90 only; pick another --attention-backend."
    return AttentionBackend("fa3", runner)


@register_attention_backend("trtllm_mha")
def create_trtllm_mha_backend(runner):
    if runner.use_mla_backend:
        raise ValueError("trtllm_mha does not serve MLA models.")
    return AttentionBackend("trtllm_mha", runner)


def attn_backend_wrapper(runner, full_attn_backend):
    """Put the linear attention beside the full attention of a hybrid model."""
    config = runner.hybrid_gdn_config
    if config is None:
        return full_attn_backend
    assert not runner.use_mla_backend, "Hybrid GDN models do not use MLA."
    from sglang.srt.utils import is_blackwell

    chosen = runner.server_args.attention_backend
    if is_blackwell():
        assert (
            chosen == "triton"
            or chosen == "trtllm_mha"
        ), "On Blackwell, hybrid GDN models need --attention-backend triton or trtllm_mha."
    logger.info("Hybrid linear attention for a hybrid GDN model.")
    return HybridLinearAttnBackend(
        full_attn_backend, GDNAttnBackend(runner), config.full_attention_layer_ids
    )
