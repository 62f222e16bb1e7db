"""Which server settings concern backends: they select one or change which one is legal."""

from __future__ import annotations

import re

_PARTS = re.compile(
    r"backend|quant|dtype|attention|moe|gemm|mamba|linear_attn|nsa|dsa|speculative_algorithm"
    r"|cuda_graph|radix_cache|overlap_schedule|fusion|allreduce|page_size|hybrid_swa|kernel"
    r"|deterministic|chunked_prefill_size|mem_fraction|tp_size|dp_size|ep_size|pp_size|all_reduce"
    r"|flashinfer|triton|torch_compile|deepep|dp_attention|sampling|grammar|load_format|device$"
)


def is_relevant(name: str) -> bool:
    """Whether a field belongs to the answer when not every field is asked for.

    The rule looks at the words SGLang names its settings with; it errs on the side of more.
    """
    return _PARTS.search(name) is not None
