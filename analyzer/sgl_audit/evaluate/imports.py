"""Modules: those of the tree are interpreted, those outside come from stand-ins."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.hosts import Hosts
from sgl_audit.evaluate.lowering import Lowering
from sgl_audit.evaluate.scopes import GLOBALS, PARENT, Scope, bound_names
from sgl_audit.evaluate.values import (
    MISSING,
    Class,
    Instance,
    Lazy,
    Module,
    Opaque,
    Raised,
    Undecidable,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.expressions import Frame
    from sgl_audit.evaluate.machine import Machine
    from sgl_audit.evaluate.program import Program
    from sgl_audit.evaluate.standins import Standins


@dataclass(frozen=True, slots=True)
class Gap:
    """A top-level statement that could not run: its names are unknown, for this reason."""

    file: str
    line: int
    names: tuple[str, ...]
    reason: str


class Imports:
    """The modules of one interpretation.

    Attributes:
        program: parsed files of the tree and of the libraries read with it.
        gaps: what could not run while modules loaded.
    """

    def __init__(self, machine: Machine, program: Program, standins: Standins) -> None:
        self.machine = machine
        self.program = program
        self.standins = standins
        self.modules: dict[str, Module] = {}
        self.gaps: list[Gap] = []
        self.hosts = Hosts(machine)
        self._loading = 0
        # Somewhere up the chain of imports stands a `try`: a missing module need not be fatal.
        self._guarded = False
        self._opaques: dict[str, Opaque] = {}
        self.loaded_files: dict[str, None] = {}
        # Why a module of the tree cannot be loaded, though nothing guards its import.
        self.absent: dict[str, str] = {}

    def absolute(self, module: str, is_package: bool, target: str | None, level: int) -> str:
        """The full name of `from ..target import`."""
        if level == 0:
            return target or ""
        parts = module.split(".")
        keep = len(parts) - level + (1 if is_package else 0)
        base = parts[: max(keep, 0)]
        return ".".join([*base, *([target] if target else [])])

    def load(self, name: str) -> Module:
        """`import name`: parents first, then the module itself.

        Raises:
            Raised: ModuleNotFoundError where it does not exist.
        """
        module = self.modules.get(name)
        if module is None:
            module = self._create(name)
        self.ensure(module)
        return module

    def _create(self, name: str) -> Module:
        parent, _, last = name.rpartition(".")
        owner = self.load(parent) if parent else None
        existing = self.modules.get(name)
        if existing is not None:
            return existing
        file = self.program.file_of(name)
        if file is not None or self.program.is_namespace(name):
            module = Module(name, file)
            module.ns["__package__"] = (
                name if file is None or file.endswith("__init__.py") else parent
            )
            if file is None or file.endswith("__init__.py"):
                module.ns["__path__"] = [self.program.folder_of(name)]
        else:
            module = self._outside(name, owner)
        self._register(name, module, owner, last)
        if module.file is None and module.state == "loaded" and "__spec__" not in module.ns:
            self.standins.fill(module)
        return module

    def _register(self, name: str, module: Module, owner: Module | None, last: str) -> None:
        self.machine.touch(self.modules)
        self.modules[name] = module
        if owner is not None and last not in owner.ns:
            self.machine.touch(owner.ns)
            owner.ns[last] = module

    def _outside(self, name: str, owner: Module | None) -> Module:
        if self.program.owns(name) or not (self.standins.exists(name) or self._must_exist(name)):
            raised = self.machine.error("ModuleNotFoundError", f"No module named {name!r}")
            raised.value.d["name"] = name
            raise raised
        if owner is not None:
            known = owner.ns.get(name.rpartition(".")[2])
            if isinstance(known, Module):
                return known
        return self.standins.module(name)

    def _must_exist(self, name: str) -> bool:
        """Whether an import in a module body fails the whole server unless the module exists.

        A distribution that starts at all gets through the unguarded imports of its own modules, so
        what they name is there, whatever the metadata lists.
        """
        if self.machine.handlers or self.machine.depth or not self._loading or self._guarded:
            return False
        if name.split(".")[0] in self.standins.existing.denied:
            return False
        self.standins.existing.roots.add(name.split(".")[0])
        return True

    def ensure(self, module: Module) -> None:
        """Run the body of a module of the tree once."""
        if module.state != "new":
            return
        module.state = "loading"
        if module.file is None:
            module.state = "loaded"
            return
        if self.machine.journal.top is not None:
            self.standins.world.late_modules.append(module.name)
        self.loaded_files[module.file] = None
        handlers, self.machine.handlers = self.machine.handlers, 0
        guarded, self._guarded = self._guarded, self._guarded or handlers > 0
        known, self.machine.known = self.machine.known, {}
        depth, self.machine.depth = self.machine.depth, 0
        self._loading += 1
        try:
            with self.standins.world.start_environment():
                self._run_body(module)
        except BaseException as error:
            self._note_absent(error)
            self.machine.touch(self.modules)
            self.modules.pop(module.name, None)
            module.state = "new"
            raise
        finally:
            self.machine.handlers = handlers
            self._guarded = guarded
            self.machine.known = known
            self.machine.depth = depth
            self._loading -= 1
        module.state = "loaded"

    def _note_absent(self, error: BaseException) -> None:
        """Note that a module of the tree needs another one that the tree lacks."""
        name = error.value.d.get("name") if isinstance(error, Raised) else None
        if isinstance(name, str) and self.program.owns(name) and not self._guarded:
            place = error.place if isinstance(error, Raised) else None
            where = f"{place[0]}:{place[1]} imports" if place else "there should be"
            self.absent.setdefault(name, f"{where} {name}, which is not there")

    def _run_body(self, module: Module) -> None:
        assert module.file is not None
        tree = self.program.parse(module.file)
        if tree is None:
            raise self.machine.error("SyntaxError", str(self.program.broken(module.file)))
        lowering = Lowering(self.machine, module.name, module.file)
        scope = self.program.module_scope(module.file, tree)
        frame: Frame = {GLOBALS: module.ns, PARENT: None}
        for node in tree.body:
            self._run_statement(lowering, node, scope, frame, module)

    def _run_statement(
        self, lowering: Lowering, node: ast.stmt, scope: Scope, frame: Frame, module: Module
    ) -> None:
        before = dict(module.ns)
        try:
            run = self.program.statement(self.machine, lowering, node, scope)
            if run is not None and run(frame) is not None:
                raise Undecidable("what follows depends on what is not known")
        except Undecidable as stop:
            self._gap(module, node, stop.reason, before)
        except Raised as raised:
            kinds = {cls.name for cls in raised.value.cls.mro}
            if "ImportError" in kinds or isinstance(node, ast.Raise):
                raise
            reason = f"{raised.value.cls.name}: {self._message(raised)}"
            self._gap(module, node, reason, before)
        except Exception as error:
            reason = f"the interpreter failed: {type(error).__name__}: {error}"
            self._gap(module, node, reason, before)

    def _message(self, raised: Raised) -> str:
        text = self.machine.as_text(raised.value)
        return text.name if isinstance(text, Unknown) else str(text)[:200]

    def _gap(self, module: Module, node: ast.stmt, reason: str, before: dict[str, Value]) -> None:
        """Note that a statement could not run; what it would have bound is unknown."""
        names = tuple(sorted(bound_names([node], Scope("module", None, set(), ""))))
        self.gaps.append(Gap(str(module.file), node.lineno, names, reason))
        self.machine.touch(module.ns)
        for name in names:
            if module.ns.get(name, MISSING) is before.get(name, MISSING):
                module.ns[name] = Unknown(
                    f"{module.name}.{name}",
                    f"its definition at {module.file}:{node.lineno} could not run: {reason}",
                )

    def name_from(self, target: str, name: str, where: tuple[str, int]) -> Value:
        """What `from target import name` binds: a submodule at once, other names on first use."""
        if self.program.file_of(target) is None and not self.program.is_namespace(target):
            return self._external_name(target, name)
        full = f"{target}.{name}"
        if self.program.file_of(full) is not None or self.program.is_namespace(full):
            module = self.load(target)
            bound = module.ns.get(name, MISSING)
            if bound is not MISSING and not isinstance(bound, (Lazy, Module)):
                return bound
            return self.load(full)
        module_now = self.modules.get(target)
        if (module_now is not None and module_now.state == "loaded") or self.machine.handlers:
            return self._name_of(self.load(target), name)
        return Lazy(target, name, where)

    def _external_name(self, target: str, name: str) -> Value:
        module = self.load(target)
        value = self.machine.module_attribute(module, name)
        if value is not MISSING:
            return value
        full = f"{target}.{name}"
        if self.standins.exists(full):
            return self.load(full)
        raise self.machine.error("ImportError", f"cannot import name {name!r} from {target!r}")

    def _name_of(self, module: Module, name: str) -> Value:
        try:
            value = self.machine.module_attribute(module, name)
        except Raised as raised:
            if raised.value.cls.name != "AttributeError":
                raise
            value = MISSING
        if value is MISSING:
            full = f"{module.name}.{name}"
            if self.program.file_of(full) is not None:
                return self.load(full)
            if module.state == "loading":
                return Lazy(module.name, name, ("", 0))
            raise self.machine.error(
                "ImportError", f"cannot import name {name!r} from {module.name!r}"
            )
        return value

    def resolve_lazy(self, lazy: Lazy) -> Value:
        """Load what a lazily bound name stands for."""
        value = self._name_of(self.load(lazy.module), lazy.attribute)
        if isinstance(value, Lazy):
            raise self.machine.error(
                "ImportError",
                f"cannot import name {lazy.attribute!r} from {lazy.module!r} (circular)",
            )
        return value

    def star(self, target: str, f: Frame) -> None:
        """`from target import *`."""
        module = self.load(target)
        ns = f[GLOBALS]
        self.machine.touch(ns)
        listed = module.ns.get("__all__")
        names = (
            list(listed)
            if isinstance(listed, (list, tuple))
            else [name for name in module.ns if not name.startswith("_")]
        )
        for name in names:
            if name in module.ns:
                ns[name] = module.ns[name]
            elif isinstance(listed, (list, tuple)):
                ns[name] = self._name_of(module, name)

    def missing_attribute(self, module: Module, name: str) -> Value:
        """A name the module does not bind: its `__getattr__`, a stand-in, or nothing."""
        hook = module.ns.get("__getattr__", MISSING)
        if hook is not MISSING:
            return self.machine.call(hook, [name], {})
        if self.program.file_of(module.name) is not None or self.program.is_namespace(module.name):
            return self.modules.get(f"{module.name}.{name}", MISSING)
        return self.standins.attribute(module, name)

    def opaque_attribute(self, owner: Opaque, name: str) -> Value:
        """An attribute of something outside the tree: it exists, and nothing more is known."""
        if name in owner.d:
            return owner.d[name]
        return self.standins.opaque_attribute(owner, name)

    def opaque(self, name: str) -> Opaque:
        """The one opaque value of that name."""
        found = self._opaques.get(name)
        if found is None:
            found = self._opaques[name] = Opaque(name)
        return found

    def is_transparent(self, name: str) -> bool:
        """Whether a decorator outside the tree gives back what it gets."""
        return self.standins.is_transparent(name)

    def generic_alias(self, cls: Class, key: Value) -> Value:
        """`list[int]` and the like."""
        return self.standins.typing.alias(cls, key)

    def union_type(self, a: Value, b: Value) -> Value:
        """`X | Y` of types."""
        return self.standins.typing.either([a, b])


def stdlib_module(name: str) -> bool:
    """Whether the root of a module name belongs to Python itself."""
    return name.split(".")[0] in sys.stdlib_module_names


__all__ = ["Any", "Callable", "Gap", "Imports", "Instance", "stdlib_module"]
