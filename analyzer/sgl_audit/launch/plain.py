"""Values of YAML and JSON as the text that reaches a command line."""

from __future__ import annotations

from sgl_audit.errors import UsageError
from sgl_audit.launch.text import shown


def text_of(value: object, where: str) -> str:
    """A scalar as text: a number as JSON writes it, null as an empty text.

    Raises:
        UsageError: the value is a list or mapping.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return ""
    if isinstance(value, int | float):
        return repr(value)
    raise UsageError(f"{where}: {shown(value, 40)} is no text; write one value there.")


def texts_of(value: object, where: str) -> list[str]:
    """A list of scalars as texts.

    Raises:
        UsageError: it is no list, or an element is a list, a mapping or null.
    """
    if not isinstance(value, list):
        raise UsageError(f"{where} is {shown(value, 40)}, not a list of texts; write a list.")
    for index, item in enumerate(value):
        if item is None or isinstance(item, bool):
            raise UsageError(
                f"{where}: element {index} is {shown(item)}, not a text; put it in quotes."
            )
    return [text_of(item, where) for item in value]


def pairs_of(value: object, where: str) -> tuple[tuple[str, str], ...]:
    """A mapping NAME: VALUE, or a list of NAME=VALUE, as pairs of texts.

    Raises:
        UsageError: it is neither.
    """
    if value is None:
        return ()
    if isinstance(value, dict):
        return tuple((str(name), text_of(item, where)) for name, item in value.items())
    pairs = []
    for item in texts_of(value, where):
        name, equals, text = item.partition("=")
        if not equals:
            raise UsageError(f"{where}: {shown(item)} is no NAME=VALUE; write one.")
        pairs.append((name, text))
    return tuple(pairs)
