"""Words of messages: lists, conditions, capabilities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sgl_audit.model.guard import AtomKind
from sgl_audit.rules.models import ARCHITECTURE
from sgl_audit.rules.ways import Literal

_SHOWN = 3


def one_of(values: Sequence[str]) -> str:
    """The first value, and the others as alternatives."""
    return values[0] if len(values) == 1 else f"{values[0]} (or {', '.join(values[1:])})"


def several(names: Iterable[str], shown: int = 4) -> str:
    """A list in words, shortened where it is long."""
    items = list(dict.fromkeys(names))
    if len(items) > shown:
        return f"{', '.join(items[:shown])} and {len(items) - shown} more"
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def conditions(literals: Iterable[Literal], shown: int = _SHOWN) -> str:
    """What must hold besides the capability, in few words: what singles models out comes first."""
    order = sorted(literals, key=_weight)
    # Of a chain of `elif` over architectures only the arm itself says something.
    if any(_architecture(item) and item[1] for item in order):
        order = [item for item in order if item[1] or not _architecture(item)]
    texts = [written(item) for item in order]
    rest = len(texts) - shown
    text = " and ".join(texts[:shown])
    return f"{text} and {rest} more conditions" if rest > 0 else text


def _weight(literal: Literal) -> tuple[bool, bool]:
    atom, wanted = literal
    positive = wanted is not atom.text.endswith(" is None")
    return (atom.kind is not AtomKind.MODEL or not positive, not positive)


def _architecture(literal: Literal) -> bool:
    return bool(ARCHITECTURE.search(literal[0].text))


def written(literal: Literal) -> str:
    """One test as a reader would write it."""
    atom, wanted = literal
    text = atom.text
    if wanted:
        return text
    for word, opposite in ((" is None", " is not None"), (" == ", " != ")):
        if text.count(word) == 1 and " and " not in text and " or " not in text:
            return text.replace(word, opposite)
    return f"not {text}" if " " not in text else f"not ({text})"


def shortened(text: str, most: int = 160) -> str:
    """A message of the source, cut at a word where it is long."""
    return text if len(text) <= most else f"{text[:most].rpartition(' ')[0]} ..."
