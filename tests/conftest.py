"""Fixtures for every test."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

# A kept answer would be compared with itself where two runs must agree.
os.environ["SGL_AUDIT_NO_CACHE"] = "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with tests of real releases first: they take longest, each on one worker."""
    slow = {item.path for item in items if item.get_closest_marker("real") is not None}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(scope="session", autouse=True)
def interrupted_as_usual() -> None:
    """What a shell starts in the background ignores Ctrl-C, and so would all that tests start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def real_cache() -> Path:
    """The git-ignored folder into which `real` tests fetch distributions once."""
    cache = Path(__file__).resolve().parents[1] / ".cache"
    cache.mkdir(exist_ok=True)
    return cache
