"""Where a tree's code speaks of names: one of the things two names are compared by."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from sgl_audit.errors import SourceError
from sgl_audit.model.source import SourceTree

_WORD = re.compile(r"[A-Za-z_]\w+")
# A word that stands around one name twenty times says no more than one that does five times.
_COUNTED = 5

Uses = dict[str, Counter[str]]
Vector = dict[str, float]


def uses_of(tree: SourceTree, names: Collection[str]) -> Uses:
    """The words on the lines of the server's code that hold each name, the name itself left out."""
    found: Uses = {name: Counter() for name in names}
    prefix = f"{tree.info.package}/srt/"
    for path in tree.files():
        if not names or not path.startswith(prefix):
            continue
        try:
            data = tree.read(path)
        except SourceError:
            continue
        for name, counter in found.items():
            for line in _lines_with(data, name.encode()):
                counter.update(w.lower() for w in _WORD.findall(line) if w != name)
    return found


def _lines_with(data: bytes, name: bytes) -> Iterator[str]:
    position = data.find(name)
    while position >= 0:
        end = position + len(name)
        if not (_of_a_word(data[position - 1 : position]) or _of_a_word(data[end : end + 1])):
            first = data.rfind(b"\n", 0, position) + 1
            last = data.find(b"\n", end)
            yield data[first : last if last >= 0 else len(data)].decode("utf-8", "replace")
        position = data.find(name, end)


def _of_a_word(character: bytes) -> bool:
    return character.isalnum() or character == b"_"


def vectors(every: Iterable[Uses]) -> list[dict[str, Vector]]:
    """Uses as weights: a word that stands around few names counts more."""
    listed = list(every)
    counters = [counter for uses in listed for counter in uses.values()]
    spread = Counter(word for counter in counters for word in counter)
    many = len(counters)
    return [
        {
            name: {w: min(c, _COUNTED) * math.log(many / spread[w]) for w, c in counter.items()}
            for name, counter in uses.items()
        }
        for uses in listed
    ]


def likeness(old: Mapping[str, float], new: Mapping[str, float]) -> float:
    """How alike the words around two names are, from 0 to 1."""
    size = math.sqrt(sum(v * v for v in old.values()) * sum(v * v for v in new.values()))
    common = sum(value * new.get(word, 0.0) for word, value in old.items())
    return common / size if size else 0.0
