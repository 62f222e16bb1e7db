"""Trees built from inline code, and real ones opened once per session."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from sgl_audit.extract import Extraction, extract
from sgl_audit.model.source import Distribution, Pin, SourceInfo, SourceKind, SourceTree

SERVER = """
ATTENTION_BACKEND_CHOICES = ["triton", "flashinfer", "trtllm_mha", "fa3"]
MOE_RUNNER_BACKEND_CHOICES = ["auto", "flashinfer_cutlass", "flashinfer_trtllm", "triton"]


@dataclasses.dataclass
class ServerArgs:
    attention_backend: str | None = None
    moe_runner_backend: str = "auto"
    quantization: str | None = None
    page_size: int = 1
    enable_fusion: bool = False

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--attention-backend", choices=ATTENTION_BACKEND_CHOICES)
        parser.add_argument("--moe-runner-backend", choices=MOE_RUNNER_BACKEND_CHOICES)
"""
COMMON = """
import torch
from functools import lru_cache, partial


def is_cuda():
    return torch.cuda.is_available() and torch.version.cuda


def is_hip():
    return torch.version.hip is not None


def get_device_sm():
    major, minor = torch.cuda.get_device_capability()
    return major * 10 + minor


def _check(device_capability_majors, cuda_version):
    if not is_cuda():
        return False
    return torch.cuda.get_device_capability()[0] in device_capability_majors and tuple(
        map(int, torch.version.cuda.split(".")[:2])
    ) >= cuda_version


is_blackwell_supported = is_blackwell = lru_cache(maxsize=1)(
    partial(_check, device_capability_majors=[10, 11, 12], cuda_version=(12, 8))
)
is_sm100_supported = lru_cache(maxsize=1)(
    partial(_check, device_capability_majors=[10], cuda_version=(12, 8))
)
is_sm120_supported = lru_cache(maxsize=1)(lambda: _check([12], (12, 8)))
"""


@dataclass(frozen=True)
class InlineTree:
    """A source tree held in memory."""

    contents: Mapping[str, bytes]
    info: SourceInfo

    def files(self) -> tuple[str, ...]:
        return tuple(sorted(self.contents))

    def has(self, path: str) -> bool:
        return path in self.contents

    def read(self, path: str) -> bytes:
        return self.contents[path]


MakeTree = Callable[..., SourceTree]
Read = Callable[..., Extraction]


@pytest.fixture
def make_tree() -> MakeTree:
    """Builds a tree of {path: code}; paths are below `sglang/srt`."""

    def make(files: Mapping[str, str | bytes], *pins: str, base: bool = True) -> SourceTree:
        contents: dict[str, bytes] = {}
        if base:
            contents["sglang/srt/server_args.py"] = SERVER.encode()
            contents["sglang/srt/utils/common.py"] = COMMON.encode()
            contents["sglang/srt/utils/__init__.py"] = b"from .common import *\n"
        for path, code in files.items():
            data = code if isinstance(code, bytes) else textwrap.dedent(code).encode()
            contents[f"sglang/srt/{path}"] = data
        requires = tuple(Pin(pin, "==1.0", "1.0") for pin in pins)
        distribution = Distribution("sglang", None, requires)
        info = SourceInfo(SourceKind.CHECKOUT, "inline", "sglang", distribution)
        return InlineTree(contents, info)

    return make


@pytest.fixture
def read(make_tree: MakeTree) -> Read:
    """Extracts an inline tree."""

    def run(files: Mapping[str, str | bytes], *pins: str, base: bool = True) -> Extraction:
        return extract(make_tree(files, *pins, base=base))

    return run


@pytest.fixture(scope="session")
def real(real_cache: Path) -> Callable[[str], Extraction]:
    """Extracts a real release, once per session."""
    from sgl_audit.source import open_source

    known: dict[str, Extraction] = {}

    def run(version: str) -> Extraction:
        if version not in known:
            known[version] = extract(open_source(f"sglang=={version}", cache_dir=real_cache))
        return known[version]

    return run
