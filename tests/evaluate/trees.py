"""Trees in memory, and the interpreter on them, for tests."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sgl_audit.evaluate.program import Program
from sgl_audit.evaluate.session import RECURSION_LIMIT, Session
from sgl_audit.evaluate.values import (
    Class,
    Function,
    Instance,
    Unknown,
    is_instance,
)
from sgl_audit.evaluate.world import make_world
from sgl_audit.model.source import Distribution, SourceInfo, SourceKind

# Sessions raise the limit; doing it here keeps hypothesis from wondering about the change.
sys.setrecursionlimit(max(sys.getrecursionlimit(), RECURSION_LIMIT))


@dataclass(frozen=True)
class MemoryTree:
    """A SourceTree over a dict of path -> text; `pkg` is the package unless told otherwise."""

    texts: Mapping[str, str]
    package: str = "pkg"

    @property
    def info(self) -> SourceInfo:
        """A checkout of a distribution without requirements."""
        distribution = Distribution(self.package, "1.0")
        return SourceInfo(SourceKind.CHECKOUT, "memory", self.package, distribution)

    def files(self) -> tuple[str, ...]:
        """Every Python file, sorted."""
        return tuple(sorted(path for path in self.texts if path.endswith(".py")))

    def has(self, path: str) -> bool:
        """Whether the file exists."""
        return path in self.texts

    def read(self, path: str) -> bytes:
        """The bytes of one file."""
        return self.texts[path].encode()


def session_for(
    texts: Mapping[str, str],
    environment: Mapping[str, str] | None = None,
    capability: str = "sm120",
) -> Session:
    """A session over a tree in memory; packages get their `__init__.py`."""
    complete = {"pkg/__init__.py": "", **texts}
    tree = MemoryTree(complete)
    variables = tuple((environment or {}).items())
    return Session(
        Program(tree), make_world(capability, tree.info.distribution, environment=variables)
    )


def module_namespace(code: str) -> tuple[Session, dict[str, Any]]:
    """Load `pkg.m` with that code; every one of its statements must have run."""
    session = session_for({"pkg/m.py": code})
    module = session.imports.load("pkg.m")
    assert session.imports.gaps == []
    return session, module.ns


def plain(value: Any) -> Any:
    """A value of the interpreter or of CPython as tagged plain data: `True` is not `1`."""
    if isinstance(value, Unknown):
        return ("unknown", value.name, value.reason)
    if is_instance(value):
        return ("not plain", value.cls.name)
    if isinstance(value, (Class, Function)):
        return ("not plain", repr(value))
    kind = type(value)
    if kind is dict:
        return ("dict", [(plain(key), plain(item)) for key, item in value.items()])
    if kind in (list, tuple):
        return (kind.__name__, [plain(item) for item in value])
    if kind in (set, frozenset):
        return (kind.__name__, sorted((plain(item) for item in value), key=repr))
    if kind in (str, int, float, bool, bytes, complex, type(None), slice, range):
        return (kind.__name__, repr(value))
    return ("not plain", kind.__name__)


__all__ = ["Instance", "MemoryTree", "module_namespace", "plain", "session_for"]
