"""However many jobs are asked for, no more processes start than have work and a CPU."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sgl_audit import workers
from sgl_audit.evaluate import batch
from sgl_audit.extract import pool
from sgl_audit.model.resolution import Launch


@pytest.fixture(autouse=True)
def four_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "usable_cpus", lambda: 4)


def test_no_more_than_have_work_and_a_cpu() -> None:
    assert workers.worker_count(99_999, 1_000) == 4
    assert workers.worker_count(99_999, 2) == 2
    assert workers.worker_count(3, 1_000) == 3
    assert workers.worker_count(3, 0) == 1


def test_pools_are_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []

    def executor(count: int, **given: Any) -> ThreadPoolExecutor:
        started.append(count)
        # Threads in place of processes: what they do does not matter here.
        return ThreadPoolExecutor(1)

    monkeypatch.setattr(pool, "ProcessPoolExecutor", executor)
    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", executor)
    monkeypatch.setattr(pool, "_chunk", lambda chunk: [])
    monkeypatch.setattr(batch, "_work", lambda launches: ([None for _ in launches], {}))
    files = [(f"sglang/{number}.py", b"") for number in range(pool.CHUNK * 9)]
    pool.read_files(files, None, (), 99_999)  # type: ignore[arg-type]
    launches = tuple(Launch(str(number), "sm120", ()) for number in range(batch.CHUNK * 9))
    assert len(list(batch.resolve_many(None, (), launches, 99_999))) == len(launches)  # type: ignore[arg-type]
    assert started == [4, 3]
