"""What the rest of an audit can still see of files that do not parse.

Trees that look the same to it get the same answer, so one audit of the whole tree answers for all
mutants with one view. That it does is checked again and again, see scripts/fuzz.py.
"""

from __future__ import annotations

import re
from collections.abc import Hashable

from sgl_audit.extract.index import server_files
from sgl_audit.model.source import Diagnostic, SourceTree
from sgl_audit.syntax import parse_file
from sgl_audit.syntax.prefilter import INDEXED
from sgl_audit.syntax.toplevel import imported_names, mentioning_names

from .mutating import Mutant

# What is read of model files as text: the classes, and what the lines of a class mention.
_MODELS = "/srt/models/"
_CLASS = re.compile(rb"^class (\w+)\b", re.MULTILINE)


class Views:
    """The views of one tree's mutants."""

    def __init__(self, tree: SourceTree) -> None:
        self._telling = {"*"}
        for path in server_files(tree):
            data = tree.read(path)
            self._telling |= mentioning_names(data, INDEXED)
            self._telling.add(path.removesuffix(".py").removesuffix("/__init__").split("/")[-1])

    def of(self, mutant: Mutant) -> Hashable | None:
        """The view of a mutant of which every changed file is gone or broken; else None."""
        seen = []
        for path, data in sorted(mutant.changed.items()):
            if data is None:
                seen.append((path, None))
            elif isinstance(parse_file(path, data), Diagnostic):
                seen.append((path, self._text(path, data)))
            else:
                return None
        return tuple(seen)

    def _text(self, path: str, data: bytes) -> Hashable:
        names = frozenset(
            (module, name) for module, name in imported_names(path, data) if name in self._telling
        )
        said = frozenset(mentioning_names(data, INDEXED))
        if _MODELS not in path:
            return names, said
        classes = frozenset(match[0] for match in _CLASS.finditer(data))
        return names, said, classes
