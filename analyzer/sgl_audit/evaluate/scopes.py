"""Which scope a name belongs to, decided once while a function is lowered."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

GLOBALS = "<globals>"
PARENT = "<parent>"

FUNCTION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Scope:
    """One lexical scope during lowering.

    Attributes:
        kind: "module", "class", "function" or "comprehension".
        names: names bound in this scope.
    """

    __slots__ = ("globals", "kind", "names", "nonlocals", "owner", "parent", "qualname")

    def __init__(self, kind: str, parent: Scope | None, names: set[str], qualname: str) -> None:
        self.kind = kind
        self.parent = parent
        self.names = names
        self.qualname = qualname
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.owner: str | None = None

    @property
    def prefix(self) -> str:
        """What stands before a name defined here in its qualified name."""
        if not self.qualname:
            return ""
        inside = self.kind in ("function", "comprehension")
        return f"{self.qualname}.<locals>." if inside else f"{self.qualname}."

    def resolve(self, name: str) -> tuple[str, int]:
        """("local", 0), ("up", frames to climb), ("class", 0) or ("global", 0)."""
        if name in self.globals:
            return ("global", 0)
        if name in self.names and name not in self.nonlocals:
            if self.kind in ("class", "module"):
                return ("class" if self.kind == "class" else "global", 0)
            return ("local", 0)
        depth = 2 if self.kind == "class" else 1
        scope = self.parent
        while scope is not None and scope.kind != "module":
            if scope.kind == "class":
                if name == "__class__":
                    return ("up", depth)
                depth += 1
            else:
                if (
                    name in scope.names
                    and name not in scope.nonlocals
                    and name not in scope.globals
                ):
                    return ("up", depth)
                if name in scope.globals:
                    return ("global", 0)
                depth += 1
            scope = scope.parent
        return ("global", 0)


def bound_names(body: Iterable[ast.AST], scope: Scope) -> set[str]:
    """Names that statements bind in their own scope; fills the scope's global declarations."""
    names: set[str] = set()
    for node in walk_scope(body):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.ClassDef(name=name):
                names.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                names.update((alias.asname or alias.name.split(".")[0]) for alias in aliases)
            case ast.ExceptHandler(name=str(name)):
                names.add(name)
            case ast.Global(names=listed):
                scope.globals.update(listed)
            case ast.Nonlocal(names=listed):
                scope.nonlocals.update(listed)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                names.add(name)
    return names


def walk_scope(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Nodes of one scope: nested functions and classes are given, not entered."""
    stack = list(body)
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, (*FUNCTION_NODES, ast.ClassDef)):
            if not isinstance(node, ast.Lambda):
                stack.extend(node.decorator_list)
            continue
        if isinstance(node, COMPREHENSIONS):
            stack.extend(_walrus_targets(node))
            continue
        stack.extend(ast.iter_child_nodes(node))


def _walrus_targets(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.walk(node):
        if isinstance(child, ast.NamedExpr):
            yield child.target


def parameter_names(arguments: ast.arguments) -> list[str]:
    """All parameter names in signature order."""
    listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    names = [argument.arg for argument in listed]
    if arguments.vararg:
        names.append(arguments.vararg.arg)
    if arguments.kwarg:
        names.append(arguments.kwarg.arg)
    return names


def has_yield(body: Iterable[ast.AST]) -> bool:
    """Whether a function body makes the function a generator."""
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in walk_scope(body))
