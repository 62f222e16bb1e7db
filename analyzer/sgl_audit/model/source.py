"""Where the analysed bytes come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol


class SourceKind(StrEnum):
    """The form in which a SOURCE was given."""

    CHECKOUT = "checkout"
    WHEEL = "wheel"
    PYPI = "pypi"
    GIT = "git"
    INSTALLED = "installed"
    DEMO = "demo"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """One position in the tree. Line is 1-based, column 0-based; file is a tree path."""

    file: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def program_of(path: str) -> str:
    """The part of the package that a tree path belongs to: its first two folders.

    A distribution holds several programs (`sglang/srt`, `sglang/multimodal_gen`), each with its
    own options.
    """
    return "/".join(path.split("/")[:2])


@dataclass(frozen=True, slots=True)
class Pin:
    """One requirement of the distribution: `specifier` as written, `version` where it is exact."""

    name: str
    specifier: str
    version: str | None = None
    extra: str | None = None


@dataclass(frozen=True, slots=True)
class Distribution:
    """What the distribution says of itself (METADATA or pyproject.toml). Names are normalised."""

    name: str
    version: str | None
    requires: tuple[Pin, ...] = ()

    def pin(self, *names: str) -> str | None:
        """The exact version pinned for the first of `names` that is required, else None.

        Releases up to 0.4.10 pin their runtime in extras only ("srt"): where no pin is
        unconditional, one on which all extras agree counts.
        """
        for name in names:
            pins = [pin for pin in self.requires if pin.name == name and pin.version]
            always = [pin.version for pin in pins if pin.extra is None]
            if always:
                return always[0]
            if len({pin.version for pin in pins}) == 1:
                return pins[0].version
        return None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something that could not be read or understood, and why. Never swallowed."""

    message: str
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """Description of an opened SOURCE.

    Attributes:
        kind: the form it was given in.
        label: how it is named in reports, without private path parts above the given one.
        package: the top package it holds ("sglang").
        distribution: version and pins.
        commit: resolved commit id for git sources.
        upstream: base URL for links to file and line ("https://.../blob/v0.5.9/python/"), or None.
    """

    kind: SourceKind
    label: str
    package: str
    distribution: Distribution
    commit: str | None = None
    upstream: str | None = None
    diagnostics: tuple[Diagnostic, ...] = field(default=())


class SourceTree(Protocol):
    """A read-only tree of bytes. Paths are POSIX, relative to the folder that holds the package."""

    @property
    def info(self) -> SourceInfo:
        """What this tree is."""
        ...

    def files(self) -> tuple[str, ...]:
        """Every Python file of the package, sorted."""
        ...

    def has(self, path: str) -> bool:
        """Whether `path` is one of `files()`."""
        ...

    def read(self, path: str) -> bytes:
        """The bytes of one file.

        Raises:
            KeyError: no such file in the tree.
            SourceError: the file is over the size limit or cannot be read.
        """
        ...
