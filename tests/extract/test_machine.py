"""The small interpreter: (definition of a gate -> where it holds)."""

from __future__ import annotations

import textwrap

import pytest

from sgl_audit.extract.machine.values import RAISES, UNKNOWN, join, truth
from sgl_audit.model.facts import Gate

HEAD = """
import importlib.metadata
import importlib.util
import os
import platform
import subprocess
import sys
from functools import lru_cache, partial
from typing import NamedTuple

import pynvml
import torch
import triton
from packaging import version as pkg_version

from sglang.srt.environ import envs
from sglang.srt.utils.common import is_cuda, is_hip


"""
ENVIRON = """
class Envs:
    SGLANG_ON = EnvBool(True)
    SGLANG_TEXT = EnvStr("sm")


envs = Envs()


def get_bool_env_var(name, default="false"):
    return os.getenv(name, default).lower() in ("true", "1")
"""
NVIDIA = frozenset("sm75 sm80 sm86 sm87 sm89 sm90 sm100 sm103 sm110 sm120 sm121".split())
AMD = frozenset("gfx942 gfx950 gfx1100 gfx1201".split())
SINCE_HOPPER = NVIDIA - {"sm75", "sm80", "sm86", "sm87", "sm89"}
SM12 = frozenset({"sm120", "sm121"})

DEFINITIONS = [
    ("return is_cuda() and envs.SGLANG_ON.get()", NVIDIA),
    ("return is_cuda() and not envs.SGLANG_ON.is_set()", NVIDIA),
    ('return is_cuda() and os.getenv("X", "0") == "1"', frozenset()),
    ('return is_cuda() and os.environ.get("X") is None', NVIDIA),
    ('return is_hip() and get_bool_env_var("X", default="true")', AMD),
    ("if not is_cuda():\n    return False\nmajor, minor = CAP()\nreturn major == 12", SM12),
    ("cap = CAP()\nif cap is None or unknown():\n    return False\nreturn cap[0] >= 9", None),
    (
        "for major in (9, 12):\n    if is_cuda() and CAP()[0] == major:\n        return True\n"
        "return False",
        SM12 | {"sm90"},
    ),
    (
        "for major in [8, 9]:\n    if major == 8:\n        continue\n    break\n"
        "return is_cuda() and CAP()[0] == major",
        frozenset({"sm90"}),
    ),
    (
        "try:\n    import flashinfer\nexcept ImportError:\n    return False\nreturn is_cuda()",
        NVIDIA,
    ),
    ("try:\n    import nowhere\nexcept ImportError:\n    return False\nreturn is_cuda()", None),
    ("try:\n    raise ValueError\nexcept ValueError:\n    return is_cuda()", NVIDIA),
    ("with torch.no_grad():\n    return is_cuda()", NVIDIA),
    ("assert is_cuda()\nreturn True", None),
    (
        "def inner(a, *, b=8):\n    return a >= b\nreturn is_cuda() and inner(CAP()[0], b=10)",
        SINCE_HOPPER - {"sm90"},
    ),
    ("check = lambda major: CAP()[0] == major\nreturn is_cuda() and check(12)", SM12),
    ("check = partial(min, 12)\nreturn is_cuda() and check(CAP()[0]) == 12", SM12),
    ("return is_cuda() and any(CAP()[0] == m for m in (9, 12) if m > 9)", SM12),
    ("return is_cuda() and all([CAP()[0] >= 12, CAP()[1] >= 0])", SM12),
    ("return is_cuda() and CAP() in {(12, 0): 1, (12, 1): 2}", SM12),
    ("return is_cuda() and {9: True}.get(CAP()[0], False)", frozenset({"sm90"})),
    ("return is_cuda() and CAP() in [*[(9, 0)], *((12, 0),)]", frozenset({"sm90", "sm120"})),
    ("return is_cuda() and f'sm{CAP()[0]}{CAP()[1]}' == envs.SGLANG_TEXT.get() + '90'", {"sm90"}),
    ("return is_cuda() and (CAP()[0] * 10 + CAP()[1]) % 10 == 3", frozenset({"sm103"})),
    ("return is_cuda() and -CAP()[0] < -11", SM12),
    ("return is_cuda() and (True if CAP()[0] == 9 else False)", frozenset({"sm90"})),
    ("return is_cuda() and max(CAP()) == 12 and len(CAP()) == 2 and abs(-1) == 1", SM12),
    ("return is_cuda() and bool(CAP()[1]) and sorted(CAP())[0] == 3", frozenset({"sm103"})),
    ("return is_cuda() and CAP()[:1] == (12,) and int('1') in range(3)", SM12),
    ("return is_cuda() and (cap := CAP())[0] == 12", SM12),
    ("return getattr(torch, 'npu', None) is None and is_cuda()", NVIDIA),
    ("return hasattr(torch, 'npu') and torch.npu.is_available()", frozenset()),
    ("return hasattr(torch, 'mps') and torch.mps.is_available()", frozenset()),
    ("return hasattr(torch, 'xpu') and torch.xpu.is_available()", frozenset()),
    ("return torch.cuda.is_available() and torch.version.musa is None", NVIDIA | AMD),
    ("return is_hip() and torch.version.hip.startswith('7')", AMD),
    ("return torch.version.cuda >= '12.8'", NVIDIA),
    ("return is_cuda() and pkg_version.parse(torch.__version__).release >= (2, 7)", NVIDIA),
    ("return is_cuda() and importlib.metadata.version('torch') == '2.9.1'", NVIDIA),
    ("return is_cuda() and importlib.util.find_spec('flashinfer.x') is not None", NVIDIA),
    ("return is_cuda() and platform.machine() == 'x86_64' and sys.platform == 'linux'", NVIDIA),
    (
        "target = triton.runtime.driver.active.get_current_target()\n"
        "return target.backend == 'cuda' and target.arch >= 90",
        SINCE_HOPPER,
    ),
    ("return is_cuda() and 'H100' in torch.cuda.get_device_name(0)", frozenset({"sm90"})),
    (
        "out = subprocess.run(['nvidia-smi', '--query-gpu=compute_cap'], text=True)\n"
        "return is_cuda() and tuple(map(int, out.stdout.strip().split('.')))[0] == 12",
        SM12,
    ),
    ("handle = pynvml.x(0)\nreturn is_cuda() and NVML(handle)[0] == 12", SM12),
    ("return is_cuda() and Pair(*CAP()).to_int() == 90", frozenset({"sm90"})),
    ("return is_cuda() and Pair(*CAP()) >= (12, 0)", SM12),
    ("return is_cuda() and Box(CAP()).major == 12", SM12),
    ("while is_cuda():\n    return True", None),
    ("return is_cuda() and recursive()", None),
]
EXTRA = """

CAP = torch.cuda.get_device_capability
NVML = pynvml.nvmlDeviceGetCudaComputeCapability


class Pair(NamedTuple):
    major: int
    minor: int

    def to_int(self):
        return self.major * 10 + self.minor


class Box:
    def __init__(self, cap, *rest, name="box"):
        self.cap = cap
        self.name = name

    @property
    def major(self):
        return self.cap[0]


def recursive():
    return recursive() and is_cuda()


def get_bool_env_var(name, default="false"):
    value = os.getenv(name, default)
    return value.lower() in ("true", "1")
"""


@pytest.fixture
def gate(make_tree):
    """The gate `is_it` with that body."""
    from sgl_audit.extract import extract

    def run(body: str) -> Gate | None:
        code = f"{HEAD}\n\n@lru_cache(maxsize=1)\ndef is_it():\n{textwrap.indent(body, '    ')}\n"
        files = {
            "utils/x.py": code + EXTRA + "\n# attention_backend\n",
            "environ.py": ENVIRON,
        }
        tree = make_tree(files, "flashinfer-python")
        pins = tree.info.distribution.requires
        object.__setattr__(pins[0], "version", "0.6.3")
        requires = (*pins, type(pins[0])("torch", "==2.9.1", "2.9.1"))
        object.__setattr__(tree.info.distribution, "requires", requires)
        found = [item for item in extract(tree).facts.gates if item.name == "is_it"]
        return found[0] if found else None

    return run


@pytest.mark.parametrize(("body", "holds"), DEFINITIONS)
def test_definitions(gate, body, holds):
    found = gate(body)
    if holds is None:
        assert found is None or not found.understood
    else:
        assert found is not None
        assert found.capabilities == frozenset(holds)


def test_kleene():
    assert truth(UNKNOWN) is None
    assert truth("") is False
    assert join(1, 1) == 1
    assert join(1, True) is UNKNOWN
    assert join(RAISES, 2) == 2
    assert join(2, RAISES) == 2
    assert join(UNKNOWN, 1) is UNKNOWN
    assert repr(UNKNOWN) == "UNKNOWN"
    with pytest.raises(TypeError):
        bool(UNKNOWN)
