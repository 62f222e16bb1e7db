"""The common part of every tree: an index of members, size caps, a bounded cache of bytes."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from sgl_audit.errors import SourceError
from sgl_audit.model.source import SourceInfo
from sgl_audit.source.limits import Limits
from sgl_audit.source.names import shown

_CACHE_BYTES = 32 * 1024 * 1024


class Member(NamedTuple):
    """One file of a tree.

    Attributes:
        size: bytes, or -1 where it is only known on reading.
        stamp: text that changes whenever the content does.
        locator: how the form of the source finds the bytes.
    """

    size: int
    stamp: str
    locator: str


class IndexedTree(ABC):
    """A SourceTree over an index made once. Pickles without handles and opens them again lazily.

    The pickle carries the index (under 1 MB for the largest release), so give a tree to worker
    processes once, through an initializer, not with every task.
    """

    # Attributes that cannot or should not cross a process boundary; None means "not open".
    _transient: ClassVar[tuple[str, ...]] = ("_cache", "_lock", "_files", "_paths")

    def __init__(self, info: SourceInfo, members: Mapping[str, Member], limits: Limits) -> None:
        self._info = info
        self._members = dict(members)
        self._limits = limits
        self._open_transients()

    def _open_transients(self) -> None:
        self._cache: OrderedDict[str, bytes] = OrderedDict()
        self._cached_bytes = 0
        self._lock = threading.RLock()
        self._files: tuple[str, ...] | None = None
        self._paths: frozenset[str] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key not in self._transient}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._open_transients()

    @property
    def info(self) -> SourceInfo:
        """What this tree is."""
        return self._info

    @property
    def members(self) -> Mapping[str, Member]:
        """Everything `read` can be asked for, by tree path."""
        return self._members

    def files(self) -> tuple[str, ...]:
        """Every Python file of the package, sorted."""
        if self._files is None:
            self._files = python_files(self._info.package, self._members)
        return self._files

    def has(self, path: str) -> bool:
        """Whether `path` is one of `files()`."""
        if self._paths is None:
            self._paths = frozenset(self.files())
        return path in self._paths

    def read(self, path: str) -> bytes:
        """The bytes of one member: a Python file, or any other file by its exact tree path.

        Raises:
            KeyError: no such file in the tree.
            SourceError: the file is over the size limit or cannot be read.
        """
        member = self._members[path]
        limit = self._limits.for_path(path)
        if member.size > limit:
            raise self._too_large(path, limit)
        with self._lock:
            data = self._cache.get(path)
            if data is None:
                data = self._fetch(path, member, limit)
                self._keep(path, data)
            else:
                self._cache.move_to_end(path)
        return data

    def _keep(self, path: str, data: bytes) -> None:
        self._cache[path] = data
        self._cached_bytes += len(data)
        while self._cached_bytes > _CACHE_BYTES:
            _, dropped = self._cache.popitem(last=False)
            self._cached_bytes -= len(dropped)

    def _too_large(self, path: str, limit: int) -> SourceError:
        return SourceError(
            f"{shown(path)} in {shown(self._info.label)} is over the limit of {limit} bytes for "
            "one file; leave it out of the tree."
        )

    def _unreadable(self, path: str, why: object) -> SourceError:
        return SourceError(
            f"{shown(path)} in {shown(self._info.label)} cannot be read ({shown(why)}); "
            "check that the source is complete and not changing."
        )

    @abstractmethod
    def _fetch(self, path: str, member: Member, limit: int) -> bytes:
        """Read one member; raise SourceError where that fails or gives over `limit` bytes."""


def python_files(package: str, members: Mapping[str, Member]) -> tuple[str, ...]:
    """The Python files of `package` among `members`, sorted."""
    prefix = f"{package}/"
    return tuple(
        sorted(path for path in members if path.endswith(".py") and path.startswith(prefix))
    )


def check_totals(members: Mapping[str, Member], package: str, label: str, limits: Limits) -> None:
    """Refuse a tree that is too large to analyse.

    Raises:
        SourceError: too many entries, or too many bytes of Python.
    """
    if len(members) > limits.entries:
        raise SourceError(
            f"{shown(label)} holds over {limits.entries} files, far more than any release; "
            "give the package folder or a released wheel."
        )
    total = sum(members[path].size for path in python_files(package, members))
    if total > limits.python_total_bytes:
        raise SourceError(
            f"{shown(label)} holds over {limits.python_total_bytes} bytes of Python, far more "
            "than any release; give the package folder or a released wheel."
        )
