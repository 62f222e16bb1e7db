"""Rejections: places that refuse a value, with the condition under which they do."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from sgl_audit.extract.context import FileContext
from sgl_audit.extract.decisions import line_of, not_understood
from sgl_audit.extract.guards import guard_of, test_guard
from sgl_audit.extract.literals import called_name, text_of
from sgl_audit.extract.walker import Condition, Visit
from sgl_audit.model.facts import Option, Rejection, RejectionKind
from sgl_audit.model.guard import ALWAYS, Atom, AtomKind, Guard, all_of, atoms, negate
from sgl_audit.syntax.text import one_line

_FLAG = re.compile(r"--[a-z][a-z0-9-]+")
_WORD = re.compile(r"[a-z][a-z0-9_]{3,}")
_ABSTRACT = frozenset({"NotImplementedError", "StopIteration", "AttributeError", "KeyError"})


def rejections_at(context: FileContext, visit: Visit) -> Iterator[Rejection]:
    """The rejections one statement makes."""
    node = visit.node
    match node:
        case ast.Raise(exc=ast.expr() as raised):
            yield from _raised(context, visit, node, raised)
        case ast.Assert(test=test, msg=message):
            refused = negate(test_guard(context, test, visit.function.scope))
            guard = all_of(guard_of(context, visit.conditions, visit.function.scope), refused)
            text = text_of(message) or one_line(context.parsed, test)
            yield from _about(context, visit, guard, "AssertionError", text, RejectionKind.ASSERT)


def _raised(
    context: FileContext, visit: Visit, node: ast.Raise, raised: ast.expr
) -> Iterator[Rejection]:
    exception, message = _exception(raised)
    guard = guard_of(context, visit.conditions, visit.function.scope)
    kind = RejectionKind.REGISTRY if _is_lookup(visit.conditions) else RejectionKind.RAISE
    if guard == ALWAYS and exception in _ABSTRACT:
        return
    yield from _about(context, visit, guard, exception, message, kind)


def _exception(raised: ast.expr) -> tuple[str, str]:
    if isinstance(raised, ast.Call):
        parts = [text for item in raised.args if (text := text_of(item))]
        return called_name(raised), " ".join(" ".join(parts).split())
    return ast.unparse(raised), ""


def _is_lookup(conditions: tuple[Condition, ...]) -> bool:
    """Whether the last test on the way is a lookup in a table that lacks the key."""
    if not conditions:
        return False
    last = conditions[-1]
    match last.test:
        case ast.Compare(ops=[ast.NotIn()], comparators=[right]) if last.holds:
            return isinstance(right, (ast.Name, ast.Attribute))
        case ast.Compare(ops=[ast.In()], comparators=[right]) if not last.holds:
            return isinstance(right, (ast.Name, ast.Attribute))
    return False


def _about(
    context: FileContext,
    visit: Visit,
    guard: Guard,
    exception: str,
    message: str,
    kind: RejectionKind,
) -> Iterator[Rejection]:
    """The rejection, where its guard or its message is about a backend or the machine."""
    named = _options_named(context, message)
    read = [name for atom in atoms(guard) for name in atom.options]
    kinds = {atom.kind for atom in atoms(guard)}
    backend = bool(kinds & {AtomKind.GATE, AtomKind.PLATFORM}) or any(
        name in context.index.backend_options for name in (*named, *read)
    )
    if not backend and not _asks_enum(context, visit) and not _names_choice(context, message):
        return
    unread = not_understood(guard)
    yield Rejection(
        tuple(sorted({*named, *read})),
        kind,
        exception,
        message,
        guard,
        context.parsed.place(visit.node),
        visit.function.name,
        line_of(context, visit.node),
        not unread,
        f"the machine test `{unread[0].text}` was not understood" if unread else None,
    )


def _options_named(context: FileContext, message: str) -> set[str]:
    flags = {context.index.flags.get(flag) for flag in _FLAG.findall(message)}
    names = {name for name in flags if name is not None}
    return names | (set(_WORD.findall(message)) & context.index.backend_options)


def _asks_enum(context: FileContext, visit: Visit) -> bool:
    from sgl_audit.extract.atoms import reads_backend

    return any(
        isinstance(item.test, ast.expr) and reads_backend(context, item.test)
        for item in visit.conditions
    )


def _names_choice(context: FileContext, message: str) -> bool:
    """Whether the message is about a backend by a word no sentence uses for anything else."""
    text = message.lower()
    if "backend" in text or "scheme" in text or "compute capability" in text:
        return True
    return any("_" in word and word in context.index.values for word in _WORD.findall(text))


def choice_rejections(options: Iterable[Option]) -> list[Rejection]:
    """What the argument parser refuses: any value outside the choices of a backend option."""
    found: list[Rejection] = []
    for option in options:
        if not option.backend or (option.choices is None and option.choice_list is None):
            continue
        allowed = option.choice_list or ", ".join(str(item) for item in option.choices or ())
        atom = Atom(AtomKind.OPTION, f"{option.name} in {allowed}", None, (option.name,))
        place = option.flags[0].place if option.flags else None
        found.append(
            Rejection(
                (option.name,),
                RejectionKind.CHOICES,
                "SystemExit",
                f"invalid choice: not one of {allowed}",
                negate(atom),
                place or option.place,
                "<parser>",
            )
        )
    return found
