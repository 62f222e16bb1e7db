"""The tree as the reader sees it, and the table that stands for it in the per-file pass."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from sgl_audit.extract.machine.names import bound, lookup
from sgl_audit.extract.machine.objects import bases, instance_attribute
from sgl_audit.extract.machine.reader import Reader
from sgl_audit.extract.machine.scopes import ClassInfo, How, Scope, class_info
from sgl_audit.extract.machine.values import (
    UNKNOWN,
    ClassValue,
    Entry,
    EnumValue,
    External,
    Instance,
    Record,
    Value,
)
from sgl_audit.syntax.hits import LineHits

# Lines: a shorter function is always run, a longer one never.
SHORT = 12
LONG = 60
# The names platform enums give to what one kind of device runs.
_NVIDIA_MEMBERS = frozenset({"CUDA", "NVIDIA"})
_AMD_MEMBERS = frozenset({"ROCM", "HIP", "AMD"})


def module_paths(files: Iterable[str]) -> dict[str, str]:
    """Dotted module name -> tree path."""
    paths: dict[str, str] = {}
    for path in files:
        dotted = path.removesuffix(".py").replace("/", ".")
        paths[dotted.removesuffix(".__init__")] = path
    return paths


class TreeWorld:
    """Modules of the tree, read on demand."""

    def __init__(self, files: Iterable[str], load: Callable[[str], Scope | None]) -> None:
        self.paths = module_paths(files)
        self.load = load
        self.attributes: dict[str, tuple[Entry, ...]] = {}
        self.variables: dict[str, Entry] = {}
        self._folders: dict[str, list[str]] = {}
        self._platforms: dict[tuple[int, str], Value] = {}
        for path in sorted(self.paths.values()):
            self._folders.setdefault(posixpath.dirname(path), []).append(path)

    def module_path(self, dotted: str) -> str | None:
        """The tree path of a module."""
        return self.paths.get(dotted)

    def member(self, reader: Reader, path: str, name: str) -> Value:
        """A name of a module, through its own statements."""
        scope = self.load(path)
        if scope is None:
            return UNKNOWN
        if name in scope.names:
            return bound(reader, scope, name, None)
        if scope.stars:
            value = lookup(reader, name, Scope(path, scope.node, stars=scope.stars), 0)
            if value is not UNKNOWN and not _builtin(value):
                return value
        if "__getattr__" in scope.names:
            return self._platform(reader, path)
        return UNKNOWN

    def attribute(self, reader: Reader, name: str) -> Value:
        """Nothing is known of attributes before the tree was read once."""
        return UNKNOWN

    def environment(self, name: str) -> Entry | None:
        """The declared default of an environment variable."""
        return self.variables.get(name)

    def worth_running(self, path: str, node: ast.AST) -> bool:
        """Long functions were emptied when the file was read."""
        return True

    def _platform(self, reader: Reader, path: str) -> Value:
        key = (id(reader), path)
        if key not in self._platforms:
            # A platform class may ask for the platform again while it is read.
            self._platforms[key] = UNKNOWN
            self._platforms[key] = self._serving(reader, posixpath.dirname(path))
        return self._platforms[key]

    def _serving(self, reader: Reader, folder: str) -> Value:
        wanted = _NVIDIA_MEMBERS if reader.machine.nvidia else _AMD_MEMBERS
        found: list[ClassInfo] = []
        for other in self._folders.get(folder, []):
            if (scope := self.load(other)) is not None:
                found += [info for info in classes_of(scope) if _serves(reader, info, wanted)]
        parents = {
            base.info.name
            for info in found
            for base in bases(reader, info)
            if isinstance(base, ClassValue)
        }
        leaves = [Instance(info) for info in found if info.name not in parents]
        return merged_records(reader, leaves) if leaves else UNKNOWN


def classes_of(scope: Scope) -> list[ClassInfo]:
    """The module-level classes of a module."""
    return [
        class_info(binding.node, scope)
        for bindings in scope.names.values()
        for binding in bindings
        if binding.how is How.CLASS and isinstance(binding.node, ast.ClassDef)
    ]


def _serves(reader: Reader, info: ClassInfo, wanted: frozenset[str]) -> bool:
    if "Platform" not in info.name:
        return False
    value = instance_attribute(reader, Instance(info), "_enum")
    return isinstance(value, EnumValue) and value.member in wanted


def merged_records(reader: Reader, instances: list[Instance]) -> Record:
    """One record of several possible objects: the first known answer of each kind."""
    from sgl_audit.extract.machine.portable import record_of

    records = [record_of(reader, instance) for instance in instances]
    fields: dict[str, Entry] = {}
    methods: dict[str, Entry] = {}
    for record in records:
        for target, items in ((fields, record.fields), (methods, record.methods)):
            for name, entry in items:
                if name not in target or target[name].value is UNKNOWN:
                    target[name] = entry
    return Record("platform", tuple(sorted(fields.items())), tuple(sorted(methods.items())))


def _builtin(value: Value) -> bool:
    return getattr(value, "name", "").startswith("builtins.")


@dataclass(frozen=True, slots=True)
class MachineTable:
    """What names of the tree are on every capability, by file; the tuples follow `capabilities`."""

    capabilities: tuple[str, ...]
    exports: Mapping[str, Mapping[str, tuple[Entry, ...]]]
    imports: Mapping[str, Mapping[str, tuple[str, str]]]
    stars: Mapping[str, tuple[str, ...]]
    attributes: Mapping[str, tuple[Entry, ...]]
    variables: Mapping[str, Entry]
    paths: Mapping[str, str] = field(default_factory=dict)


class TableWorld:
    """The rest of the tree while one file is read: a table of values."""

    def __init__(self, table: MachineTable, position: int, own: Scope, hits: LineHits) -> None:
        self._table = table
        self._position = position
        self._own = own
        self._hits = hits

    def module_path(self, dotted: str) -> str | None:
        """The tree path of a module."""
        return self._table.paths.get(dotted)

    def member(self, reader: Reader, path: str, name: str) -> Value:
        """A name of a module: of this file by its statements, of others by the table."""
        if path == self._own.path:
            return bound(reader, self._own, name, None) if name in self._own.names else UNKNOWN
        if name.endswith("_env_var"):
            return External(f"tree.{name}")
        entries = find_export(self._table, path, name, 6)
        return UNKNOWN if entries is None else reader.take(entries[self._position])

    def attribute(self, reader: Reader, name: str) -> Value:
        """What every class of the tree that sets `self.name` from the machine sets it to."""
        entries = self._table.attributes.get(name)
        return UNKNOWN if entries is None else reader.take(entries[self._position])

    def environment(self, name: str) -> Entry | None:
        """The declared default of an environment variable."""
        return self._table.variables.get(name)

    def worth_running(self, path: str, node: ast.AST) -> bool:
        """Whether a function is short, or mentions the machine and is no longer than a gate is."""
        first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0) or 0
        return last - first < SHORT or (last - first < LONG and self._hits.within(node))


def find_export(table: MachineTable, path: str, name: str, depth: int) -> tuple[Entry, ...] | None:
    """A name of a module, through re-exports."""
    entries = table.exports.get(path, {}).get(name)
    if entries is not None or not depth:
        return entries
    target = table.imports.get(path, {}).get(name)
    if target is not None:
        return find_export(table, target[0], target[1], depth - 1)
    for star in table.stars.get(path, ()):
        entries = find_export(table, star, name, depth - 1)
        if entries is not None:
            return entries
    return None
