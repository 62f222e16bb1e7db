"""The options of a tree as its own argument parser has them: flags and choices."""

from __future__ import annotations

from dataclasses import dataclass

from sgl_audit.evaluate.resolver import Prepared

PARSER = "parser"


@dataclass(frozen=True, slots=True)
class Setting:
    """One option with choices.

    Attributes:
        flags: every spelling, the one to recommend first.
        choices: as words to pass.
    """

    name: str
    flags: tuple[str, ...]
    choices: tuple[str, ...]


def settings_of(prepared: Prepared) -> dict[str, Setting]:
    """Option name -> setting, from the parser that the tree builds."""
    if not prepared.loaded:
        prepared.load()
    parser = prepared.session.world.extra.get(PARSER)
    found: dict[str, Setting] = {}
    for action in getattr(parser, "_actions", ()):
        flags = tuple(text for text in action.option_strings if text.startswith("--"))
        choices = tuple(str(item) for item in action.choices or () if isinstance(item, str))
        if flags and choices and action.dest not in found:
            found[action.dest] = Setting(action.dest, flags, choices)
    return found
