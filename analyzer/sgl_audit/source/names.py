"""Names that come from outside: how they are shown, and which are not taken into a tree."""

from __future__ import annotations

import re

from sgl_audit.model.source import Diagnostic, Place

_SHOWN_CHARACTERS = 160
_DIAGNOSTICS_PER_TREE = 100
_DRIVE = re.compile(r"[A-Za-z]:")


def shown(text: object) -> str:
    """`text` for a message: control, invisible and undecodable characters escaped, cut if long."""
    parts = (
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in str(text)[: _SHOWN_CHARACTERS + 1]
    )
    result = "".join(parts)
    return result if len(result) <= _SHOWN_CHARACTERS else result[:_SHOWN_CHARACTERS] + "..."


def refusal(name: str) -> str | None:
    """Why a relative POSIX name is not taken into a tree, or None where it is fine."""
    if not name.isprintable():
        return "its name holds control or undecodable characters"
    if name.startswith("/") or _DRIVE.match(name):
        return "its name is absolute"
    if "\\" in name:
        return "its name holds a backslash"
    parts = name.split("/")
    if ".." in parts:
        return "its name leads out of the tree"
    if "" in parts or "." in parts:
        return "its name is not a normal path"
    return None


class Notes:
    """Collects diagnostics; after a hundred it only counts, so that an archive cannot flood."""

    def __init__(self, package: str = "", prefix: str = "") -> None:
        """Args: prefix: what stands in a tree path before the names that are skipped."""
        self._found: list[Diagnostic] = []
        self._more = 0
        self._package, self._prefix = package, prefix

    def add(self, message: str) -> None:
        """Record one message."""
        self._record(Diagnostic(message))

    def _record(self, diagnostic: Diagnostic) -> None:
        if len(self._found) < _DIAGNOSTICS_PER_TREE:
            self._found.append(diagnostic)
        else:
            self._more += 1

    def skip(self, name: str, reason: str, *, holds_code: bool = False) -> None:
        """Record that the entry `name` is not part of the tree, and why.

        What the package lacks of its code has a place, which makes the answer incomplete.

        Args:
            holds_code: for a folder that may hold modules.
        """
        path = self._prefix + name
        lacks = self._package and path.startswith(f"{self._package}/")
        code = holds_code or name.endswith(".py")
        place = Place(shown(path), 1) if lacks and code else None
        self._record(Diagnostic(f"{shown(name)} is left out of the tree: {reason}.", place))

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Everything recorded, in a stable order."""
        found = sorted(self._found, key=lambda item: item.message)
        if self._more:
            found.append(Diagnostic(f"{self._more} more entries were left out of the tree."))
        return tuple(found)
