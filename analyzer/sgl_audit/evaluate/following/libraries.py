"""Which calls outside the tree are kernels, and of which library.

Facts: import names of the kernel packages that SGLang's distributions depend on, and the torch
functions that start a GEMM or an attention kernel themselves.
"""

from __future__ import annotations

PACKAGES = frozenset(
    (
        "flashinfer",
        "sgl_kernel",
        "sglang_kernel",
        "deep_gemm",
        "flash_attn",
        "flash_attn_interface",
        "flash_mla",
        "triton_kernels",
        "cutlass",
        "tilelang",
        "aiter",
        "xformers",
        "vllm",
        "fla",
        "causal_conv1d",
        "mamba_ssm",
        "deep_ep",
        "quack",
        "humming",
        "fbgemm_gpu",
    )
)
TORCH = frozenset(
    (
        "torch._scaled_mm",
        "torch._grouped_mm",
        "torch._scaled_grouped_mm",
        "torch.mm",
        "torch.bmm",
        "torch.matmul",
        "torch.addmm",
        "torch.nn.functional.linear",
        "torch.nn.functional.scaled_dot_product_attention",
    )
)
OPERATORS = "torch.ops."
DECORATED = " decorated by "


def kernel_of(name: str, root: str) -> tuple[str, str] | None:
    """(library, function) for the name of something outside the tree, or None.

    Args:
        root: the package of the tree; operators under its name are its own functions.
    """
    if DECORATED in name:
        own, _, by = name.partition(DECORATED)
        return ("triton", own) if "triton" in by and ")." not in by else None
    if "(" in name:
        name = method_of_class(name)
    elif name.rpartition(".")[2][:1].isupper():
        # Making an object starts no kernel; its methods do.
        return None
    if name.startswith(OPERATORS):
        space, _, operator = name.removeprefix(OPERATORS).partition(".")
        if not operator or space in (root, "aten"):
            return None
        return space, f"{space}.{operator}"
    if name in TORCH:
        return "torch", name
    package = name.partition(".")[0]
    return (package, name) if package in PACKAGES else None


def method_of_class(name: str) -> str:
    """A method of an object of a library, by the name of the unknown value; "" for anything else.

    What a kernel returned has methods too, but those start no kernel of the library.
    """
    made, _, rest = name.partition("(")
    method = rest.rpartition(").")[2]
    simple = rest.count("(") == 0 and method.isidentifier()
    return f"{made}.{method}" if simple and made.rpartition(".")[2][:1].isupper() else ""
