"""What is plain about a launch though its source never asks for it while arguments are resolved."""

from __future__ import annotations

from collections.abc import Sequence

from sgl_audit.model.resolution import Resolution

_NODES = "--nnodes"


def machine_remarks(resolution: Resolution) -> tuple[str, ...]:
    """A remark where the launch starts more workers on a node than it is taken to have GPUs.

    SGLang accepts such arguments: a worker without a GPU fails when it starts.
    """
    values = {v.name: v.value for v in resolution.options if v.decided}
    tp, pp = values.get("tp_size"), values.get("pp_size", 1)
    assumed = next((a.value for a in resolution.assumptions if a.name == "gpu_count"), "")
    nodes = _nodes(resolution.launch.argv)
    if values.get("device", "cuda") != "cuda" or not assumed.isdigit() or nodes is None:
        return ()
    if type(tp) is not int or type(pp) is not int:
        return ()
    needed, there = -(-tp * pp // nodes), int(assumed)
    if needed <= there:
        return ()
    sizes = f"tp_size {tp}" + (f" and pp_size {pp}" if pp > 1 else "")
    where = "one node" if nodes == 1 else f"each of {nodes} nodes"
    return (
        f"{sizes} start {needed} workers on {where}, and gpu_count is taken to be {there}: "
        f"a worker without a GPU cannot start (--assume gpu_count={needed}, or more nodes)",
    )


def _nodes(argv: Sequence[str]) -> int | None:
    """The nodes that the arguments name; None where they cannot be read."""
    for index, word in enumerate(argv):
        name, sign, value = word.partition("=")
        if name == _NODES:
            text = value if sign else argv[index + 1] if index + 1 < len(argv) else ""
            return int(text) if text.isdigit() and int(text) > 0 else None
    return 1
