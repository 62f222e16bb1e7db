"""The parsed files that an interpretation runs on; shared by all capabilities and launches."""

from __future__ import annotations

import ast
from typing import Any

from sgl_audit.errors import SourceError
from sgl_audit.evaluate.mangling import has_private_names, mangle_private
from sgl_audit.evaluate.scopes import Scope, bound_names, walk_scope
from sgl_audit.model.source import Diagnostic, Place, SourceTree
from sgl_audit.syntax import parse_source


class Program:
    """Files by module name, parsed once.

    Attributes:
        tree: the analysed tree.
        trees: all source trees, the analysed one first; the others are libraries of which only
            the modules that stand-ins name are interpreted.
        diagnostics: files that could not be read or parsed.
    """

    def __init__(self, tree: SourceTree, *libraries: SourceTree) -> None:
        self.tree = tree
        self.trees = (tree, *libraries)
        self.diagnostics: list[Diagnostic] = []
        self._owner: dict[str, SourceTree] = {}
        self._files: dict[str, str] = {}
        self._packages: set[str] = set()
        self._parsed: dict[str, ast.Module | None] = {}
        self._scopes: dict[str, Scope] = {}
        self._imports: dict[str, set[str]] = {}
        self._tests: dict[str, dict[int, str]] = {}
        self._statements: dict[int, Any] = {}
        self._library_files: dict[str, dict[str, str]] = {}
        self._index(tree)
        for library in libraries:
            self._index_library(library)
        self.root = tree.info.package

    def _index(self, tree: SourceTree) -> None:
        for path in tree.files():
            parts = module_parts(path)
            self._files.setdefault(".".join(parts), path)
            self._owner.setdefault(path, tree)
            for depth in range(1, len(parts)):
                self._packages.add(".".join(parts[:depth]))

    def _index_library(self, tree: SourceTree) -> None:
        from sgl_audit.evaluate.standins.hub import interpreted

        files: dict[str, str] = {}
        for path in tree.files():
            module = ".".join(module_parts(path))
            files[module] = path
            self._owner.setdefault(path, tree)
            if interpreted(module):
                self._files.setdefault(module, path)
        self._library_files[tree.info.package] = files

    def owns(self, module: str) -> bool:
        """Whether the module would have to be in the analysed tree."""
        return module.split(".")[0] == self.root

    def has_library(self, package: str) -> bool:
        """Whether the source of a library is at hand."""
        return package in self._library_files

    def library_files(self, package: str) -> dict[str, str]:
        """Module -> path of all files of a library."""
        return self._library_files.get(package, {})

    def library_submodules(self, module: str) -> list[str]:
        """Direct submodules of a library package, sorted."""
        prefix = module + "."
        files = self.library_files(module.split(".")[0])
        return sorted(
            {name[len(prefix) :].split(".")[0] for name in files if name.startswith(prefix)}
        )

    def file_of(self, module: str) -> str | None:
        """The file of a module."""
        return self._files.get(module)

    def is_namespace(self, module: str) -> bool:
        """Whether it is a folder without `__init__.py`."""
        return module in self._packages and module not in self._files

    def folder_of(self, module: str) -> str:
        """The folder of a package, as a tree path."""
        return module.replace(".", "/")

    def submodules(self, package: str) -> list[tuple[str, bool]]:
        """Direct submodules of a package with whether each is a package, sorted."""
        prefix = package + "."
        names = {
            name[len(prefix) :].split(".")[0] for name in self._files if name.startswith(prefix)
        }
        return [
            (
                name,
                self._files.get(prefix + name, "x").endswith("__init__.py")
                or self.is_namespace(prefix + name),
            )
            for name in sorted(names)
        ]

    def read(self, path: str) -> bytes:
        """The bytes of one file of any of the trees.

        Raises:
            KeyError: no such file.
        """
        owner = self._owner.get(path)
        if owner is not None:
            return owner.read(path)
        for tree in self.trees:
            try:
                return tree.read(path)
            except KeyError:
                continue
        raise KeyError(path)

    def parse(self, path: str) -> ast.Module | None:
        """The syntax tree of one file, or None with a diagnostic."""
        if path not in self._parsed:
            self._parsed[path] = self._parse(path)
        return self._parsed[path]

    def _parse(self, path: str) -> ast.Module | None:
        try:
            data = self.read(path)
            tree = parse_source(data)
            if has_private_names(data):
                mangle_private(tree)
            return tree
        except (SyntaxError, ValueError, MemoryError, RecursionError, SourceError) as error:
            line = getattr(error, "lineno", None) or 1
            reason = getattr(error, "msg", None) or str(error) or type(error).__name__
            self.diagnostics.append(Diagnostic(f"cannot be parsed: {reason}", Place(path, line)))
            return None

    def broken(self, path: str) -> str | None:
        """Why a file that was asked for has no syntax tree, with the line; None where it has."""
        if self._parsed.get(path, self) is not None:
            return None
        found = (d for d in self.diagnostics if d.place is not None and d.place.file == path)
        return next((f"{d.place} {d.message}" for d in found), f"{path} cannot be parsed")

    def top_level_imports(self, module: str, path: str) -> set[str]:
        """Modules of the trees that a module imports when it is loaded."""
        if path not in self._imports:
            self._imports[path] = self._find_imports(module, path)
        return self._imports[path]

    def _find_imports(self, module: str, path: str) -> set[str]:
        tree = self._parsed.get(path)
        found: set[str] = set()
        package = module if path.endswith("__init__.py") else module.rpartition(".")[0]
        for node in walk_scope(tree.body if tree is not None else []):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                parts = package.split(".")
                base = ".".join(parts[: len(parts) - node.level + 1]) if node.level else ""
                target = ".".join(part for part in (base, node.module) if part)
                found.add(target)
                found.update(f"{target}.{alias.name}" for alias in node.names)
        return {name for name in found if name in self._files}

    def tests_of(self, path: str) -> dict[int, str]:
        """Line -> test of every `if` in a file."""
        if path not in self._tests:
            from sgl_audit.evaluate.trace import tests_in

            self._tests[path] = tests_in(self.parse(path))
        return self._tests[path]

    def module_scope(self, path: str, tree: ast.Module) -> Scope:
        """The scope of a module body."""
        if path not in self._scopes:
            scope = Scope("module", None, set(), "")
            scope.names = bound_names(tree.body, scope)
            self._scopes[path] = scope
        return self._scopes[path]

    def statement(self, machine: Any, lowering: Any, node: ast.stmt, scope: Scope) -> Any:
        """The closure of a top-level statement, lowered once for one machine."""
        from sgl_audit.evaluate.statements import lower_statement

        key = id(node)
        found = self._statements.get(key)
        if found is None or found[0] is not machine:
            found = (machine, lower_statement(lowering, node, scope))
            self._statements[key] = found
        return found[1]


def module_parts(path: str) -> list[str]:
    """The parts of a module name from a tree path."""
    parts = path.removesuffix(".py").split("/")
    return parts[:-1] if parts[-1] == "__init__" else parts
