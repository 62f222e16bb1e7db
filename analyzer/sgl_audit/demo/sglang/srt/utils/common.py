"""Questions about the machine."""

import importlib.util
from functools import lru_cache, partial
from typing import Tuple

import torch

from sglang.srt.environ import envs


@lru_cache(maxsize=1)
def is_hip() -> bool:
    return torch.version.hip is not None


@lru_cache(maxsize=1)
def is_cuda() -> bool:
    return torch.version.cuda is not None and torch.cuda.is_available()


def get_device_capability() -> Tuple[int, int]:
    return torch.cuda.get_device_capability()


def _major_among(majors: Tuple[int, ...], since_cuda: Tuple[int, int]) -> bool:
    """One of these major capabilities, with a CUDA that knows it."""
    if not is_cuda():
        return False
    major, _ = get_device_capability()
    release = tuple(int(part) for part in torch.version.cuda.split(".")[:2])
    return major in majors and release >= since_cuda


_cached = lru_cache(maxsize=1)

is_hopper_with_cuda_12_3 = _cached(partial(_major_among, majors=(9,), since_cuda=(12, 3)))
is_sm100_supported = _cached(partial(_major_among, majors=(10,), since_cuda=(12, 8)))
is_sm120_supported = _cached(partial(_major_among, majors=(12,), since_cuda=(12, 8)))
is_blackwell_supported = is_blackwell = _cached(
    partial(_major_among, majors=(10, 11, 12), since_cuda=(12, 8))
)


def is_flashinfer_available() -> bool:
    wanted = envs.SGLANG_IS_FLASHINFER_AVAILABLE.get()
    return wanted and is_cuda() and bool(importlib.util.find_spec("flashinfer"))
