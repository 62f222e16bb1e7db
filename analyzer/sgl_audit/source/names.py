"""Names that come from outside: how they are shown, and which are not taken into a tree."""

from __future__ import annotations

import re

from sgl_audit.model.source import Diagnostic

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

    def __init__(self) -> None:
        self._messages: list[str] = []
        self._more = 0

    def add(self, message: str) -> None:
        """Record one message."""
        if len(self._messages) < _DIAGNOSTICS_PER_TREE:
            self._messages.append(message)
        else:
            self._more += 1

    def skip(self, name: str, reason: str) -> None:
        """Record that the entry `name` is not part of the tree, and why."""
        self.add(f"{shown(name)} is left out of the tree: {reason}.")

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Everything recorded, in a stable order."""
        found = [Diagnostic(message) for message in sorted(self._messages)]
        if self._more:
            found.append(Diagnostic(f"{self._more} more entries were left out of the tree."))
        return tuple(found)
