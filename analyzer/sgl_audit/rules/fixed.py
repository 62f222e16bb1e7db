"""Defaults that are no option: of variables, and of the programs beside the server."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sgl_audit.model.facts import Decision, DecisionKind, EnvironmentVariable
from sgl_audit.model.guard import Guard, atoms
from sgl_audit.model.source import Place
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.choosing import in_server
from sgl_audit.rules.options import options_by_name
from sgl_audit.rules.sources import data_of, syntax_of

_RUNTIME = "/runtime/"
_KINDS = (DecisionKind.LOCAL, DecisionKind.RETURNED, DecisionKind.ASSIGNMENT)


@dataclass(frozen=True, slots=True)
class FixedDefault:
    """A value that stands where nobody chose one, told as the server option of its meaning.

    Attributes:
        given: what the source itself writes.
        changed: capabilities on which the same function sets something else first.
    """

    option: str
    value: str
    given: str
    guard: Guard
    place: Place
    function: str
    changed: frozenset[str] = frozenset()


def defaults_beside(context: RuleContext) -> Iterator[FixedDefault]:
    """Defaults of backends in the runtimes of other programs of the package."""
    for item in context.facts.decisions:
        if in_server(context, item.place) or _RUNTIME not in item.place.file:
            continue
        if item.kind in _KINDS and isinstance(item.literal, str):
            yield from _named_by_function(context, item)
            yield from _meant_by_version(context, item)


def _named_by_function(context: RuleContext, item: Decision) -> Iterator[FixedDefault]:
    """`get_flashinfer_fp4_backend` with "trtllm": the fp4 option with `flashinfer_trtllm`."""
    words = item.function.rpartition(".")[2].lower().split("_")
    for option in options_by_name(context).values() if "backend" in words else ():
        kind = option.name.partition("_")[0]
        if kind in words and kind not in _makers(context) and option.name.endswith("backend"):
            for value in (str(item.literal), *(f"{word}_{item.literal}" for word in words)):
                if value in (option.choices or ()):
                    place, function = item.place, item.function
                    yield FixedDefault(option.name, value, item.value, item.guard, place, function)
                    return


def _makers(context: RuleContext) -> set[str]:
    """The words with which values begin: who made a kernel, which says not what it computes."""
    return {
        str(choice).partition("_")[0]
        for option in options_by_name(context).values()
        for choice in option.choices or ()
        if "_" in str(choice) and option.name.endswith("backend")
    }


def _meant_by_version(context: RuleContext, item: Decision) -> Iterator[FixedDefault]:
    """`FA` where a module says which version that is, and a call under a gate changes it."""
    prefix = str(item.literal).lower()
    found = _version_of(context, prefix)
    option = _option_with(context, f"{prefix}{found}")
    if found is None or option is None:
        return
    changed = _changed_on(context, item, prefix)
    if not changed or None in changed:
        # Nothing is said to differ by capability here, or what is said was not understood.
        return
    place, function = item.place, item.function
    value = f"{prefix}{found}"
    yield FixedDefault(option, value, item.value, item.guard, place, function, _all(changed))


def _option_with(context: RuleContext, value: str) -> str | None:
    options = options_by_name(context).values()
    return next((item.name for item in options if value in (item.choices or ())), None)


def _version_of(context: RuleContext, prefix: str) -> int | None:
    """What `fa_ver = 3` at module level says, outside of the server."""
    pattern = re.compile(rf"^{re.escape(prefix)}_ver(?:sion)? = (\d+)", re.MULTILINE)
    word = f"{prefix}_ver".encode()
    key = ("version", prefix)
    if key not in context.memory:
        context.memory[key] = None
        for file in context.tree.files():
            if _RUNTIME in file and "/srt/" not in file and file.endswith(".py"):
                data = data_of(context, file)
                # Plain bytes are found ten times faster than a pattern at line starts.
                match = pattern.search(data.decode(errors="replace")) if word in data else None
                if match is not None:
                    context.memory[key] = int(match[1])
                    break
    found: int | None = context.memory[key]
    return found


def _all(sets: list[frozenset[str] | None]) -> frozenset[str]:
    return frozenset[str]().union(*(names for names in sets if names is not None))


def _changed_on(context: RuleContext, item: Decision, prefix: str) -> list[frozenset[str] | None]:
    """The capabilities on which the function around a decision sets another version first.

    One set for each such place; None for one whose test was not understood.
    """
    known = {
        atom.text: atom.capabilities
        for other in context.facts.decisions
        if (other.place.file, other.function) == (item.place.file, item.function)
        for atom in atoms(other.guard)
    }
    tree = syntax_of(context, item.place.file)
    return [
        known.get(ast.unparse(node.test))
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.If) and _calls_directly(node, f"set_{prefix}_ver")
    ]


def _calls_directly(node: ast.If, name: str) -> bool:
    for item in node.body:
        match item:
            case ast.Expr(value=ast.Call(func=ast.Name(id=called))) if called.startswith(name):
                return True
    return False


def variables(context: RuleContext) -> Iterator[EnvironmentVariable]:
    """Variables of the server that an advisory names in place of an option."""
    named = {entry.option for item in context.advisories for entry in item.values}
    for variable in context.facts.environment:
        if variable.name in named and in_server(context, variable.place):
            yield variable
