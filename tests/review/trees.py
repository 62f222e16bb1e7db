"""A small server, written for these tests; each test changes one part between two versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sgl_audit.model.source import Distribution, Pin, SourceInfo, SourceKind

UTILS = """
import torch


def is_sm100_supported():
    return torch.cuda.get_device_capability()[0] == 10
"""
ENVIRON = """
class EnvBool:
    def __init__(self, default):
        self.default = default


class Envs:
    SGLANG_FAST_MOE = EnvBool(False)


envs = Envs()
"""
ARGS = """
import argparse
from dataclasses import dataclass
from typing import Optional

from sglang.srt.utils import is_sm100_supported

MOE_RUNNER_BACKEND_CHOICES = ["auto", "triton", "cutlass", "flashinfer_trtllm"]


@dataclass
class ServerArgs:
    model_path: str
    moe_runner_backend: str = "auto"
    attention_backend: Optional[str] = None
    sparse_backend: str = "auto"
    page_size: int = 1

    def __post_init__(self):
        if self.moe_runner_backend == "auto":
            self.moe_runner_backend = "triton"
        if self.attention_backend is None:
            self.attention_backend = "trtllm_mha" if is_sm100_supported() else "triton"
        if self.attention_backend == "trtllm_mha" and not is_sm100_supported():
            raise ValueError("trtllm_mha needs SM100")
        if self.sparse_backend == "auto":
            self.sparse_backend = "flashmla"

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--model-path", type=str, required=True)
        parser.add_argument(
            "--moe-runner-backend", "--moe-runner", type=str,
            default=ServerArgs.moe_runner_backend, choices=MOE_RUNNER_BACKEND_CHOICES,
            help="Kernels for the experts.",
        )
        parser.add_argument(
            "--attention-backend", type=str, default=None,
            choices=["triton", "trtllm_mha", "flashinfer"], help="Kernels for attention.",
        )
        parser.add_argument(
            "--sparse-backend", type=str, default=ServerArgs.sparse_backend,
            choices=["auto", "flashmla", "tilelang", "fa3"], help="Kernels for sparse attention.",
        )
        parser.add_argument("--page-size", type=int, default=ServerArgs.page_size)

    @classmethod
    def from_cli_args(cls, args):
        return cls(
            model_path=args.model_path,
            moe_runner_backend=args.moe_runner_backend,
            attention_backend=args.attention_backend,
            sparse_backend=args.sparse_backend,
            page_size=args.page_size,
        )


def prepare_server_args(argv):
    parser = argparse.ArgumentParser()
    ServerArgs.add_cli_args(parser)
    return ServerArgs.from_cli_args(parser.parse_args(argv))
"""
PARTS = {"args": ARGS, "utils": UTILS, "environ": ENVIRON}
FILES = {
    "args": "sglang/srt/server_args.py",
    "utils": "sglang/srt/utils.py",
    "environ": "sglang/srt/environ.py",
}


@dataclass(frozen=True)
class MiniTree:
    """A SourceTree over texts."""

    texts: Mapping[str, str]
    info: SourceInfo

    def files(self) -> tuple[str, ...]:
        return tuple(sorted(self.texts))

    def has(self, path: str) -> bool:
        return path in self.texts

    def read(self, path: str) -> bytes:
        return self.texts[path].encode()


def tree(version: str = "0.0.1", pins: Mapping[str, str] | None = None, **parts: str) -> MiniTree:
    """The server with some parts (`args`, `utils`, `environ`) replaced."""
    texts = {"sglang/__init__.py": "", "sglang/srt/__init__.py": ""}
    texts |= {FILES[name]: parts.get(name, text) for name, text in PARTS.items()}
    requires = tuple(Pin(name, f"=={v}", v) for name, v in (pins or {}).items())
    distribution = Distribution("sglang", version, requires)
    return MiniTree(
        texts, SourceInfo(SourceKind.CHECKOUT, f"mini {version}", "sglang", distribution)
    )


def changed(text: str, *pairs: tuple[str, str]) -> str:
    """A text with parts replaced; each must be there."""
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text
