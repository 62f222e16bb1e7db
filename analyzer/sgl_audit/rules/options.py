"""The server's options, each with the values that its choice list allows."""

from __future__ import annotations

from dataclasses import replace

from sgl_audit.model.facts import Option, Scalar
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.lists import local_lists

UNDECIDED = ("auto", None)


def options_by_name(context: RuleContext) -> dict[str, Option]:
    """The options of a tree; choices come from the list an option names where it has no others."""
    return context.once(_options_by_name)


def _options_by_name(context: RuleContext) -> dict[str, Option]:
    lists: dict[str, tuple[Scalar, ...]] = {
        name: tuple(sorted(map(str, v))) for name, v in local_lists(context).items()
    }
    lists |= {item.name: item.values for item in context.facts.choice_lists}
    return {
        option.name: option
        if option.choices is not None
        else replace(option, choices=lists.get(option.choice_list or ""))
        for option in context.facts.options
    }


def flag_of(option: Option, value: str | None = None) -> str:
    """How to pass a value of an option on the command line, or "" where no flag does."""
    # Where every spelling is said to be deprecated, that is said of something else in the help.
    named = [flag.name for flag in option.flags]
    current = [flag.name for flag in option.flags if not flag.deprecated] or named
    if not current:
        return ""
    return current[0] if value is None else f"{current[0]} {value}"


def both_stages(name: str) -> str:
    """The option that sets prefill and decode at once, for an option of one of them."""
    return name.replace("prefill_", "").replace("decode_", "")
