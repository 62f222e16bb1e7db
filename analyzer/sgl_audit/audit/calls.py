"""Who calls a function, and under which conditions: what a guard inside a function leaves out.

Names are followed, not values: a call is any mention of a function by its own name. That is
enough where a tree resolves its arguments, for there every step has a name of its own, and is
passed by that name to what runs it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

Function = ast.FunctionDef | ast.AsyncFunctionDef
MODULE = "<module>"
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@dataclass(frozen=True, slots=True)
class Test:
    """One condition on the way to a mention, with the value it must have."""

    node: ast.expr
    holds: bool
    leaving: bool = False


@dataclass(frozen=True, slots=True)
class Mention:
    """One place that names a function: who does it, and what must hold there."""

    file: str
    function: str
    tests: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class Defined:
    """One function of a file with what decorates it."""

    file: str
    name: str
    decorators: tuple[ast.expr, ...]


@dataclass(slots=True)
class CallMap:
    """The functions of some files and every mention of them, by bare name."""

    functions: list[Defined] = field(default_factory=list)
    mentions: dict[str, list[Mention]] = field(default_factory=dict)
    _seen: set[tuple[str, str, str, int]] = field(default_factory=set)

    def read(self, file: str, module: ast.Module) -> None:
        """Add one file."""
        for item in _walk(module.body, MODULE, ()):
            if isinstance(item, Defined):
                self.functions.append(Defined(file, item.name, item.decorators))
            else:
                name, function, tests = item
                # One name read twice under the same tests is one mention.
                key = (name, file, function, id(tests))
                if key not in self._seen:
                    self._seen.add(key)
                    self.mentions.setdefault(name, []).append(Mention(file, function, tests))


Item = Defined | tuple[str, str, tuple[Test, ...]]


def _walk(body: Sequence[ast.stmt], function: str, tests: tuple[Test, ...]) -> Iterator[Item]:
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                name = node.name if function == MODULE else f"{function}.{node.name}"
                yield Defined("", name, tuple(node.decorator_list))
                yield from _walk(node.body, name, ())
            case ast.ClassDef(name=name, body=inner):
                yield from _walk(inner, name if function == MODULE else f"{function}.{name}", tests)
            case ast.Import() | ast.ImportFrom():
                continue
            case _:
                yield from _names(node, function, tests)
                for block, added in _blocks(node):
                    yield from _walk(block, function, (*tests, *added))
        tests += _after(node)


def _names(node: ast.stmt, function: str, tests: tuple[Test, ...]) -> Iterator[Item]:
    """The names that a statement reads itself, without those of the blocks inside it."""
    # A table filled at module level stands for what it holds: `STEPS = [first, second]`.
    owner = function
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) if function == MODULE:
            owner = name
        case ast.AnnAssign(target=ast.Name(id=name)) if function == MODULE:
            owner = name
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            for inner in ast.walk(child):
                match inner:
                    case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name):
                        yield name, owner, tests


def _blocks(node: ast.stmt) -> Iterator[tuple[Sequence[ast.stmt], tuple[Test, ...]]]:
    match node:
        case ast.If(test=test, body=body, orelse=orelse):
            yield body, (Test(test, True),)
            yield orelse, (Test(test, False),)
        case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=last):
            for block in (body, *(handler.body for handler in handlers), orelse, last):
                yield block, ()
        case ast.With(body=body) | ast.AsyncWith(body=body):
            yield body, ()
        case ast.For(body=body, orelse=orelse) | ast.While(body=body, orelse=orelse):
            yield body, ()
            yield orelse, ()
        case ast.AsyncFor(body=body):
            yield body, ()


def _after(node: ast.stmt) -> tuple[Test, ...]:
    """What holds after a statement because it would have left otherwise."""
    match node:
        case ast.If(test=test, body=body, orelse=orelse):
            if body and isinstance(body[-1], _LEAVES):
                return (Test(test, False, leaving=True),)
            if orelse and isinstance(orelse[-1], _LEAVES):
                return (Test(test, True, leaving=True),)
    return ()


def otherwise(module: ast.Module, lines: set[int]) -> bool:
    """Whether an `if` chain that begins on one of the lines has an `else`, or a test by value.

    What is not asked for then still has a branch.
    """
    for node in ast.walk(module):
        if isinstance(node, (ast.If, ast.IfExp)) and node.lineno in lines:
            if isinstance(node, ast.IfExp):
                return True
            last: list[ast.stmt] = node.orelse
            while len(last) == 1 and isinstance(last[0], ast.If):
                last = last[0].orelse
            if last:
                return True
    return False
