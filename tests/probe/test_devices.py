"""Which device a run is on, with GPUs that need not be here."""

from __future__ import annotations

from pathlib import Path

import pytest

from sgl_audit.cli.probing import device
from sgl_audit.errors import UsageError
from sgl_audit.probe import gpus, machine, stopping
from sgl_audit.probe.gpus import Gpu

PRO = Gpu("sm120", "NVIDIA RTX PRO 6000", 97887, 400, "580.65")


def test_the_memory_of_each_numa_node(tmp_path: Path) -> None:
    assert machine.numa_memory(tmp_path) == ()
    for number, size in enumerate((16_777_216, 8_388_608)):
        (tmp_path / f"node{number}").mkdir()
        text = f"Node {number} MemTotal:       {size} kB\nNode {number} MemFree: 1 kB\n"
        (tmp_path / f"node{number}" / "meminfo").write_text(text)
    assert machine.numa_memory(tmp_path) == (16384, 8192)
    (tmp_path / "node1" / "meminfo").write_text("something else\n")
    assert machine.numa_memory(tmp_path) == (16384,)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> list[Gpu]:
    found: list[Gpu] = []
    monkeypatch.setattr(device, "gpus", lambda: tuple(found))
    return found


def test_the_gpu_of_the_machine(here: list[Gpu]) -> None:
    here += [PRO, PRO]
    found = device.find_device(None, None)
    assert (found.kind, found.capability, found.count) == ("cuda", "sm120", 2)
    assert device.find_device("cuda", "sm120").name == PRO.name


def test_a_run_proves_nothing_for_another_gpu(here: list[Gpu]) -> None:
    here.append(PRO)
    with pytest.raises(UsageError, match="proves nothing"):
        device.find_device(None, "sm90")
    with pytest.raises(UsageError, match="differ"):
        device.find_device("cpu", "sm120")


def test_without_a_gpu_the_cpu_must_be_asked_for(here: list[Gpu]) -> None:
    with pytest.raises(UsageError, match="--device cpu"):
        device.find_device(None, None)
    assert device.find_device("cpu", None).capability == "cpu"
    assert device.find_device("cuda", "sm120").capability == "sm120"


def test_a_gpu_of_a_capability_that_is_not_known(here: list[Gpu]) -> None:
    here.append(Gpu("", "NVIDIA Something New", 1, 0, ""))
    with pytest.raises(UsageError, match="does not know"):
        device.find_device(None, None)


def test_memory_of_the_gpu_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter([90_000, 40_000, 500])
    monkeypatch.setattr(stopping, "used_mib", lambda: next(readings))
    monkeypatch.setattr(stopping, "_TICK_S", 0.0)
    assert stopping._wait_gpu(400) is True
    monkeypatch.setattr(stopping, "used_mib", lambda: 90_000)
    monkeypatch.setattr(stopping, "_FREE_S", 0.0)
    assert stopping._wait_gpu(400) is False
    assert stopping._wait_gpu(None) is None


def test_without_nvml_and_without_the_program_there_is_no_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gpus.shutil, "which", lambda name: None)
    monkeypatch.setattr(gpus, "_by_nvml", lambda: (_ for _ in ()).throw(OSError("no driver")))
    assert gpus.gpus() == ()
    assert gpus.used_mib() is None
