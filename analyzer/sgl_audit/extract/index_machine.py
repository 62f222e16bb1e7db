"""The machine part of the index: what module-level names and attributes are on each capability."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping

from sgl_audit.extract.machine.outside import Machine
from sgl_audit.extract.machine.portable import (
    least_of,
    name_entries,
    portable,
    rests_on_anything,
)
from sgl_audit.extract.machine.reader import Reader
from sgl_audit.extract.machine.scopes import How, Scope, module_scope, release
from sgl_audit.extract.machine.values import MACHINE_FLAGS, Entry, Record
from sgl_audit.extract.machine.world import LONG, MachineTable, TreeWorld, classes_of
from sgl_audit.syntax.hits import LineHits
from sgl_audit.syntax.parse import ParsedFile, parse_file
from sgl_audit.syntax.prefilter import INDEXED, literal_pattern

ROUNDS = 2


class MachineIndexer:
    """Reads modules on demand and evaluates their names on every machine."""

    def __init__(
        self,
        files: Iterable[str],
        read: Callable[[str], bytes],
        machines: tuple[Machine, ...],
        variables: Mapping[str, Entry],
    ) -> None:
        self._read = read
        self._scopes: dict[str, tuple[Scope, ParsedFile] | None] = {}
        self._files = tuple(files)
        self.world = TreeWorld(self._files, self._scope)
        self.world.variables = dict(variables)
        self.readers = tuple(Reader(machine, self.world) for machine in machines)
        self._machines = machines

    def table(self, seeds: Iterable[str]) -> MachineTable:
        """The table of every name that asks about the machine, directly or through another."""
        exports: dict[str, dict[str, tuple[Entry, ...]]] = {}
        attributes: dict[str, list[tuple[Entry, ...]]] = {}
        names: set[str] = set()
        for path in self._files:
            if path.endswith("__init__.py"):
                # What a package re-exports is asked for by every file that imports from it.
                self._index_lazy_names(path, exports)
        for path in seeds:
            self._index_file(path, INDEXED, exports, attributes)
        for _ in range(ROUNDS):
            found = {name for entries in exports.values() for name in entries}
            new = {name for name in found - names if len(name) > 6}
            if not new:
                break
            names |= found
            pattern = literal_pattern(name.encode() for name in new)
            for path in sorted(self._scopes):
                self._index_file(path, pattern, exports, attributes)
        table = self._finish(exports, attributes)
        for loaded in self._scopes.values():
            if loaded is not None:
                release(loaded[0])
        self._scopes.clear()
        return table

    def _scope(self, path: str) -> Scope | None:
        loaded = self._load(path)
        return None if loaded is None else loaded[0]

    def _load(self, path: str) -> tuple[Scope, ParsedFile] | None:
        if path not in self._scopes:
            data = self._read(path)
            named = path.endswith("__init__.py") or b"Platform" in data
            wanted = named or INDEXED.search(data) is not None
            parsed = parse_file(path, data) if wanted else None
            if isinstance(parsed, ParsedFile):
                prune(parsed.tree.body)
                self._scopes[path] = (module_scope(path, parsed.tree), parsed)
            else:
                self._scopes[path] = None
        return self._scopes[path]

    def _index_file(
        self,
        path: str,
        pattern: re.Pattern[bytes],
        exports: dict[str, dict[str, tuple[Entry, ...]]],
        attributes: dict[str, list[tuple[Entry, ...]]],
    ) -> None:
        loaded = self._load(path)
        if loaded is None:
            return
        scope, parsed = loaded
        hits = LineHits(parsed, pattern)
        if not hits:
            return
        known = exports.setdefault(path, {})
        for name, bindings in scope.names.items():
            if name in known or not any(_mentions(hits, item.node) for item in bindings):
                continue
            if all(item.how in (How.IMPORT, How.CLASS, How.OPAQUE) for item in bindings):
                continue
            entries = name_entries(self.readers, name, scope, rests_on_anything)
            if entries is not None:
                known[name] = entries
        if pattern is INDEXED:
            self._index_minimums(scope, known)
            self._index_attributes(scope, hits, attributes)

    def _index_lazy_names(
        self, path: str, exports: dict[str, dict[str, tuple[Entry, ...]]]
    ) -> None:
        """Names that a package makes on first use, where they stand for the platform."""
        loaded = self._load(path)
        if loaded is None or "__getattr__" not in loaded[0].names:
            return
        node = loaded[0].names["__getattr__"][-1].node
        texts = {
            item.value
            for item in ast.walk(node or ast.Pass())
            if isinstance(item, ast.Constant) and isinstance(item.value, str)
        }
        for name in sorted(texts - loaded[0].names.keys()):
            if name.isidentifier():
                values = [self.world.member(reader, path, name) for reader in self.readers]
                if all(isinstance(value, Record) for value in values):
                    exports.setdefault(path, {})[name] = tuple(Entry(value) for value in values)

    def _index_minimums(self, scope: Scope, known: dict[str, tuple[Entry, ...]]) -> None:
        """Classes that say the least capability they run on, as other files ask them."""
        for info in classes_of(scope):
            for name, node in info.methods.items():
                if name.endswith("min_capability") and (least := least_of(node)) is not None:
                    methods = ((name, Entry(least)),)
                    known[info.name] = (Entry(Record(info.name, (), methods)),) * len(self.readers)

    def _index_attributes(
        self, scope: Scope, hits: LineHits, attributes: dict[str, list[tuple[Entry, ...]]]
    ) -> None:
        for info in classes_of(scope):
            for name, assigned in info.assigned.items():
                for value, inner, _ in assigned:
                    if not hits.within(value):
                        attributes.setdefault(name, []).append(())
                        continue
                    found = tuple(reader.evaluate(value, inner) for reader in self.readers)
                    asked = any(entry.flags & MACHINE_FLAGS for entry in found)
                    attributes.setdefault(name, []).append(found if asked else ())

    def _finish(
        self,
        exports: dict[str, dict[str, tuple[Entry, ...]]],
        attributes: dict[str, list[tuple[Entry, ...]]],
    ) -> MachineTable:
        scopes = [loaded[0] for _, loaded in sorted(self._scopes.items()) if loaded is not None]
        return MachineTable(
            tuple(machine.capability.name for machine in self._machines),
            {path: names for path, names in sorted(exports.items()) if names},
            {scope.path: inner for scope in scopes if (inner := self._imports(scope))},
            {scope.path: names for scope in scopes if (names := self._stars(scope))},
            self._agreed(attributes),
            self.world.variables,
            self.world.paths,
        )

    def _imports(self, scope: Scope) -> dict[str, tuple[str, str]]:
        return {
            name: (target, item.attribute)
            for name, bindings in scope.names.items()
            for item in bindings
            if item.how is How.IMPORT
            and item.attribute is not None
            and (target := self.world.module_path(item.module)) is not None
        }

    def _stars(self, scope: Scope) -> tuple[str, ...]:
        found = (self.world.module_path(star) for star in scope.stars)
        return tuple(path for path in found if path is not None)

    def _agreed(
        self, attributes: dict[str, list[tuple[Entry, ...]]]
    ) -> dict[str, tuple[Entry, ...]]:
        """Attributes that every class which sets them sets to the same answer of the machine."""
        return {
            name: tuple(
                Entry(portable(reader, entry.value), entry.flags)
                for reader, entry in zip(self.readers, every[0], strict=True)
            )
            for name, every in sorted(attributes.items())
            if every[0] and all(item == every[0] for item in every)
            if any("capability" in entry.flags for entry in every[0])
        }


def prune(body: list[ast.stmt]) -> None:
    """Empty long functions: a gate is short, and the syntax of a whole tree is large."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            prune(node.body)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or node.lineno) - node.lineno
            if length > LONG and node.name != "__init__":
                node.body = [ast.Raise()]


def _mentions(hits: LineHits, node: ast.AST | None) -> bool:
    return node is not None and hits.within(node)
