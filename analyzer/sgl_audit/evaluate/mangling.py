"""Private names of classes carry the class name: done once on the syntax tree of a file."""

from __future__ import annotations

import ast
import re

PRIVATE = re.compile(rb"(?<![\w])__[^\W\d_](?:\w*[^\W_])?_?(?!\w)|(?<![\w])__\d\w*[^\W_]_?(?!\w)")


def has_private_names(data: bytes) -> bool:
    """Whether a name occurs that a class would mangle. May say yes in vain, never no in vain."""
    return PRIVATE.search(data) is not None


def mangle_private(tree: ast.Module) -> None:
    """Rename private names inside classes, in place."""
    _Mangler().visit(tree)


class _Mangler(ast.NodeVisitor):
    """Renames identifiers below each class."""

    def __init__(self) -> None:
        self.owner = ""

    def mangled(self, name: str) -> str:
        """The name as the class in which it stands stores it."""
        if not self.owner or not name.startswith("__") or name.endswith("__") or "." in name:
            return name
        return f"_{self.owner}{name}"

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """A class: its bases and decorators belong to the scope around it."""
        for part in (*node.bases, *node.keywords, *node.decorator_list):
            self.visit(part)
        self._rename_definition(node)
        outer, self.owner = self.owner, node.name.lstrip("_")
        for statement in node.body:
            self.visit(statement)
        self.owner = outer

    def _rename_definition(
        self, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    ) -> None:
        bound = self.mangled(node.name)
        if bound != node.name:
            node.shown_name = node.name  # type: ignore[union-attr]
            node.name = bound

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """A function."""
        self._rename_definition(node)
        self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        """A coroutine function."""
        self._rename_definition(node)
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        """A name."""
        node.id = self.mangled(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """An attribute."""
        node.attr = self.mangled(node.attr)
        self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        """A parameter."""
        node.arg = self.mangled(node.arg)
        self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        """A keyword argument."""
        if node.arg is not None:
            node.arg = self.mangled(node.arg)
        self.visit(node.value)

    def visit_Global(self, node: ast.Global) -> None:
        """A `global` statement."""
        node.names = [self.mangled(name) for name in node.names]

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        """A `nonlocal` statement."""
        node.names = [self.mangled(name) for name in node.names]

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        """`except ... as name`."""
        if node.name is not None:
            node.name = self.mangled(node.name)
        self.generic_visit(node)

    def visit_alias(self, node: ast.alias) -> None:
        """`import ... as name`."""
        bound = node.asname or node.name
        if self.mangled(bound) != bound:
            node.asname = self.mangled(bound)
