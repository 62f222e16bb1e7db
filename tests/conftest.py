"""Fixtures for every test."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# A kept answer would be compared with itself where two runs must agree.
os.environ["SGL_AUDIT_NO_CACHE"] = "1"


@pytest.fixture(scope="session")
def real_cache() -> Path:
    """The git-ignored folder into which `real` tests fetch distributions once."""
    cache = Path(__file__).resolve().parents[1] / ".cache"
    cache.mkdir(exist_ok=True)
    return cache
