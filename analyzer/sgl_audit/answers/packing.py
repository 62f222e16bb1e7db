"""Answers as bytes. Reading them back can make values of this package's model and nothing else.

A cache folder may be writable by others: what lies in it must not be able to run anything, as an
ordinary pickle can.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import importlib
import io
import pickle
from typing import Any

_MAGIC = b"sgl-audit answer 1\n"
_DIGEST = 32
_OWN = "sgl_audit."
_BUILTINS = {"frozenset": frozenset, "set": set}
# Values that stand for themselves and a text with a meaning: no dataclasses, and harmless.
_VALUES = "sgl_audit.extract.machine.values"
_PLAIN = frozenset({(_VALUES, "UNKNOWN"), (_VALUES, "UNBOUND"), (_VALUES, "VersionText")})


class DamagedError(Exception):
    """The bytes are no answer that this package wrote."""


def pack(answer: object) -> bytes:
    """An answer as bytes."""
    body = pickle.dumps(answer, protocol=5)
    return _MAGIC + hashlib.sha256(body).digest() + body


def unpack(data: bytes) -> Any:
    """The answer in some bytes.

    Raises:
        DamagedError: they are cut off, altered, or hold anything but values of the model.
    """
    start = len(_MAGIC) + _DIGEST
    body = data[start:]
    if data[: len(_MAGIC)] != _MAGIC or data[len(_MAGIC) : start] != hashlib.sha256(body).digest():
        raise DamagedError
    try:
        return _ModelUnpickler(io.BytesIO(body)).load()
    except Exception as error:
        # What a forged pickle can raise has no bounds.
        raise DamagedError from error


class _ModelUnpickler(pickle.Unpickler):
    """Finds dataclasses and enums of this package, and containers."""

    def find_class(self, module: str, name: str) -> Any:
        """The class of a value.

        Raises:
            UnpicklingError: any other name.
        """
        if module == "builtins" and name in _BUILTINS:
            return _BUILTINS[name]
        if (module, name) in _PLAIN:
            return getattr(importlib.import_module(module), name)
        if module.startswith(_OWN) and "." not in name:
            found = getattr(importlib.import_module(module), name, None)
            if isinstance(found, type) and found.__module__ == module and _is_data(found):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no value of an answer")


def _is_data(found: type) -> bool:
    return dataclasses.is_dataclass(found) or issubclass(found, enum.Enum)
