"""SGA118: tile made for a card with more shared memory."""

from __future__ import annotations

from collections.abc import Iterator

from sgl_audit.model.report import Finding, Severity
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.findings import finding, link, ordered
from sgl_audit.rules.tiles import SHARED_KIB, Tile, tiles

# What a tile needs is an estimate: within a twentieth of the limit it does not fit either.
_NEAR = 0.95
_ARGS = "class ServerArgs:\n    attention_backend: str = None\n"
_KERNEL = """
import torch

CUDA_CAPABILITY = torch.cuda.get_device_capability()


def extend_attention(q, Lq):
    if CUDA_CAPABILITY[0] >= 9:
        BLOCK_M, BLOCK_N = (64, 64)
    elif CUDA_CAPABILITY[0] >= 8{more}:
        if Lq <= 128:
            BLOCK_M, BLOCK_N = (128, 128)
        else:
            BLOCK_M, BLOCK_N = (32, 64)
    else:
        BLOCK_M, BLOCK_N = (64, 64)
    return BLOCK_M, BLOCK_N
"""


class TileTooLarge(Rule):
    """A kernel's tile is chosen by the generation, and a member of it has less shared memory.

    *What it does*
        Finds block sizes that are assigned under tests of the capability,
        estimates what query, key and score tiles need for the largest head
        size that the tests allow, and reports capabilities that get there and
        have less.

    *Why it is bad*
        SM80 has 163 KiB for a block, SM90 and SM100 have 227; SM86, SM89, SM120
        and SM121 have 99. The kernel stops at its first launch for want of
        shared memory.

    *Known limits*
        The estimate takes numbers of two bytes and no pipelining. Only tiles
        whose head size a test bounds are looked at.

    *What to do instead*
        Another attention back end.

    *Seen in*
        Triton attention on SM86 and SM89 with 0.4.4 (sgl-project/sglang#4797).
    """

    id = "SGA118"
    title = "tile too large for the shared memory of a capability"
    severity = Severity.WARNING
    INVALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/layers/attention/triton_ops/extend.py": _KERNEL.format(more=""),
        },
    )
    VALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/layers/attention/triton_ops/extend.py": _KERNEL.format(
                more=" and CUDA_CAPABILITY[1] == 0"
            ),
        },
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for tile in tiles(context):
            small = [name for name in tile.reached if tile.kib >= _NEAR * SHARED_KIB[name]]
            # Where every card that gets there is too small the estimate is what is wrong.
            if small and len(small) < len(tile.reached):
                yield self._report(context, tile, small)

    def _report(self, context: RuleContext, tile: Tile, small: list[str]) -> Finding:
        rows, columns = tile.sizes
        fits = ordered(set(tile.reached) - set(small))
        return finding(
            self,
            capabilities=small,
            place=tile.asked,
            function=tile.function,
            line=f"{rows} {columns} {tile.length}",
            value=f"{rows}x{columns}",
            message=f"{tile.function} takes a tile of {rows} by {columns} on {', '.join(small)} as "
            f"on {', '.join(fits)}; with heads of {tile.length} that is about {tile.kib:.0f} KiB "
            f"of shared memory, and a block there has {SHARED_KIB[small[0]]}",
            when=f"heads of more than {tile.length // 2}",
            chain=(
                link(context, "asks for the capability here", tile.asked),
                link(context, f"a tile of {rows} by {columns}", tile.place),
            ),
        )
