"""Which code of a tree concerns the server, its arguments and its devices; reading it."""

from __future__ import annotations

import ast
import re

from sgl_audit.errors import SourceError
from sgl_audit.model.source import SourceTree
from sgl_audit.syntax import parse_source

# Files in which the arguments of a launch are resolved.
_ARGUMENTS = re.compile(r"/srt/(?:server_args\.py$|arg_groups/)")
# Functions that hand the resolved arguments to the running server; each runs once, always.
_HANDS_OVER = re.compile(r"(?:^|\.)initialize_\w+$")
# Files and classes of devices that have no compute capability.
_FOREIGN = re.compile(r"/(?:npu|xpu|mps|cpu|hpu|musa|mlx|tpu)(?:/|_\w*\.py$|\.py$)")
_FOREIGN_OWNER = re.compile(r"Ascend|NPU|Npu|XPU|Xpu|MLX|Hpu|HPU|IntelAMX|Mps[A-Z]|Musa")
# What a layer's method is asked to do where it makes or runs its kernel.
_METHOD = re.compile(r"(?:^|[._])(?:create_\w+|apply|process_weights_after_loading|\w*resolve\w*)$")


def resolves_arguments(file: str) -> bool:
    """Whether a file is one in which the arguments of a launch are resolved."""
    return _ARGUMENTS.search(file) is not None


def in_server(file: str) -> bool:
    """Whether a file belongs to the language-model server."""
    parts = file.split("/")
    return len(parts) > 1 and parts[1] == "srt"


def makes_kernel(function: str) -> bool:
    """Whether a function is one in which a layer makes or prepares its kernel."""
    return _METHOD.search(function) is not None


def hands_over(function: str) -> bool:
    """Whether a function sets up the running server from the resolved arguments."""
    return _HANDS_OVER.search(function) is not None


def concerns_gpu(file: str, function: str = "") -> bool:
    """Whether code of the server can run where there is a compute capability."""
    owner = function.rpartition(".")[0]
    return in_server(file) and not (_FOREIGN.search(file) or _FOREIGN_OWNER.search(owner))


def parsed_file(tree: SourceTree, file: str) -> ast.Module | None:
    """One file as syntax, or None where it cannot be read."""
    try:
        return parse_source(tree.read(file))
    except (KeyError, SourceError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def bytes_of(tree: SourceTree, file: str) -> bytes:
    """One file as bytes, empty where it cannot be read."""
    try:
        return tree.read(file)
    except (KeyError, SourceError):
        return b""
