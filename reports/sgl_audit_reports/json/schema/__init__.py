"""The JSON Schemas of format 1, shipped with the package."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Literal

SchemaName = Literal["audit", "checks", "facts", "resolution", "review"]


def schema(name: SchemaName) -> dict[str, Any]:
    """The schema that a report of that name satisfies."""
    text = files(__package__).joinpath(f"{name}-1.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
