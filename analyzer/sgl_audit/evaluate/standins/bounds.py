"""What a function of the standard library may cost when the program calls it for real."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from sgl_audit.evaluate.operators import BITS_BUDGET, SIZE_BUDGET
from sgl_audit.evaluate.unknowns import Undecidable

# What these compute from a large number has no end, or hardly one.
STEEP = {"factorial", "comb", "perm", "ldexp"}
STEEP_LIMIT = 2_000
_PRODUCTS = {"prod", "lcm"}
_EXPONENT = re.compile(r"[eE][+-]?\d{5}")
# Patterns that branch at each character double their time with it; below this they are harmless.
_SHORT = 16
_MATCH_SECONDS = 2.0


def check_cost(module: str, name: str, args: list[Any]) -> None:
    """Refuse what would take for ever, or all memory.

    Raises:
        Undecidable: it would.
    """
    if name in STEEP and any(isinstance(arg, int) and abs(arg) > STEEP_LIMIT for arg in args):
        raise Undecidable("a number too large to compute")
    if name in _PRODUCTS:
        bits = sum(item.bit_length() for item in _flat(args) if isinstance(item, int))
        if bits > BITS_BUDGET:
            raise Undecidable("a number too large to compute")
    if module in ("decimal", "fractions") and any(
        isinstance(arg, str) and _EXPONENT.search(arg) for arg in args
    ):
        raise Undecidable("a number too large to compute")


def _flat(args: list[Any]) -> Iterator[Any]:
    for arg in args:
        if isinstance(arg, (list, tuple, set, frozenset)):
            yield from arg
        else:
            yield arg


def matched(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Call a function or method of `re`, for a while and for texts of some size.

    Raises:
        Undecidable: it takes too long or makes too much.
    """
    texts = [arg for arg in (*args, *kwargs.values()) if isinstance(arg, (str, bytes))]
    if getattr(function, "__name__", "") in ("sub", "subn"):
        args = _counted(args, texts)
    if max(map(len, texts), default=0) <= _SHORT:
        return function(*args, **kwargs)
    with _in_time():
        return function(*args, **kwargs)


def _counted(args: list[Any], texts: list[Any]) -> list[Any]:
    """The arguments of a replacement that cannot make more text than may be."""
    if len(texts) > 1 and len(texts[-1]) * max(len(text) for text in texts[:-1]) > SIZE_BUDGET:
        raise Undecidable("a text too long to build")
    made = 0

    def counting(replace: Callable[..., Any]) -> Callable[..., Any]:
        def call(match: Any) -> Any:
            nonlocal made
            text = replace(match)
            made += len(text) if isinstance(text, (str, bytes)) else 0
            if made > SIZE_BUDGET:
                raise Undecidable("a text too long to build")
            return text

        return call

    return [
        counting(arg) if callable(arg) and not isinstance(arg, (str, bytes, re.Pattern)) else arg
        for arg in args
    ]


@contextmanager
def _in_time() -> Iterator[None]:
    """End a match that goes on and on, in time of this process so that no other one matters."""
    timed = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not timed or signal.getsignal(signal.SIGVTALRM) not in (signal.SIG_DFL, None):
        # A match inside the replacement of another has the time of that one.
        yield
        return

    def over(number: int, frame: FrameType | None) -> None:
        raise Undecidable("a regular expression that takes too long to match")

    signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, _MATCH_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
