"""The data model of Python, on interpreter values."""

from __future__ import annotations

from typing import Any

from sgl_audit.evaluate.attributes import Attributes
from sgl_audit.evaluate.items import Items
from sgl_audit.evaluate.operators import Operators


class Objects(Attributes, Items, Operators):
    """Attributes, items and operators."""

    def __init__(self) -> None:
        self.methods: dict[type, dict[str, Any]] = {}
        self.hosts: dict[type, Any] = {}
        super().__init__()
