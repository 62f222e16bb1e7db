"""The host of a launch without a GPU: its memory and its NUMA nodes."""

from __future__ import annotations

import pytest

from sgl_audit.evaluate.program import Program
from sgl_audit.evaluate.session import Session
from sgl_audit.evaluate.world import make_world

from .trees import MemoryTree

HOST = """
import subprocess, psutil
lines = subprocess.check_output(["lscpu", "-p=CPU,Core,Socket,Node"], text=True).splitlines()
nodes = sorted({int(line.split(",")[3]) for line in lines})
sizes = []
for node in nodes:
    with open(f"/sys/devices/system/node/node{node}/meminfo") as file:
        first = file.readline().split()
        sizes.append((int(first[1]), first[2], int(first[3]) // 1024))
        assert file.readline() == ""
try:
    open(f"/sys/devices/system/node/node{len(nodes)}/meminfo")
    more = True
except FileNotFoundError:
    more = False
total = psutil.virtual_memory().total >> 20
"""


@pytest.mark.parametrize(
    ("assume", "sizes", "used"),
    [
        ({"gpu_memory_mib": "24000"}, [24000], {"gpu_memory_mib"}),
        (
            {"gpu_memory_mib": "24000", "numa_memory_mib": "14000,9000"},
            [14000, 9000],
            {"gpu_memory_mib", "numa_memory_mib"},
        ),
    ],
)
def test_nodes_are_those_assumed(assume: dict[str, str], sizes: list[int], used: set[str]) -> None:
    tree = MemoryTree({"pkg/__init__.py": "", "pkg/m.py": HOST})
    world = make_world("cpu", tree.info.distribution, tuple(assume.items()))
    names = Session(Program(tree), world).imports.load("pkg.m").ns
    assert names["sizes"] == [(i, "MemTotal:", size) for i, size in enumerate(sizes)]
    assert names["total"] == 24000
    assert names["more"] is False
    assert used <= set(world.asked)


def test_the_memory_of_a_node_is_not_known_beside_a_gpu() -> None:
    text = "try:\n    found = open('/sys/devices/system/node/node0/meminfo')\n"
    text += "except FileNotFoundError:\n    found = None\n"
    tree = MemoryTree({"pkg/__init__.py": "", "pkg/m.py": text})
    world = make_world("sm120", tree.info.distribution)
    assert Session(Program(tree), world).imports.load("pkg.m").ns["found"] is None
