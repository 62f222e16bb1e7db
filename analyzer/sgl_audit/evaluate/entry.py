"""Where a launch begins in a tree, what the server then initialises, and how the result is read.

Found by shape: the parser entry takes the argument list and gives the record; a record that
resolves later has a method for it; the scheduler's own method decides which initialisers run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sgl_audit.evaluate.classes import new_instance
from sgl_audit.evaluate.machine import NOT_HANDLED
from sgl_audit.evaluate.session import Session
from sgl_audit.evaluate.statements import lower_statement
from sgl_audit.evaluate.values import (
    MISSING,
    Bound,
    Class,
    Function,
    Instance,
    Module,
    Raised,
    Undecidable,
    Unknown,
    Value,
    is_instance,
)
from sgl_audit.model.paths import LayerPath

SERVER_ARGS = ("srt.server_args",)
PREPARE = "prepare_server_args"
RUNTIME_CONTEXT = "srt.runtime_context"
SCHEDULER = "srt.managers.scheduler"
MODEL_CONFIG = "srt.configs.model_config"


class Follow(StrEnum):
    """How far a launch is followed once it is resolved."""

    NOTHING = "nothing"
    LAYERS = "layers"
    ATTENTION = "layers and attention"


@dataclass(slots=True)
class Reached:
    """How far a launch got, and what it left behind.

    Attributes:
        record: the server arguments.
        scheduler: a scheduler without its processes, with record and model configuration.
        initialised: names of the initialisers that the scheduler's own conditions let run.
        stopped: why the run-time part could not be followed, or None.
        late_reason: why a stage after the start of loading could not be followed, or None.
        paths: where the layers of the model lead, as far as that was asked.
    """

    record: Value
    scheduler: Value = None
    initialised: list[str] = field(default_factory=list)
    stopped: str | None = None
    stopped_by: Raised | None = None
    late_reason: str | None = None
    paths: tuple[LayerPath, ...] = ()


class Entry:
    """The entry points of one tree."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.root = session.program.root
        self._called: dict[ast.AST, list[str]] = {}
        self._readers: dict[int, str | None] = {}

    def module(self, name: str) -> Module:
        """A module of the tree by its name below the package."""
        return self.session.imports.load(f"{self.root}.{name}")

    def has(self, name: str) -> bool:
        """Whether the tree has the module."""
        return self.session.program.file_of(f"{self.root}.{name}") is not None

    def resolve(self, argv: list[str]) -> Value:
        """Parse and resolve a launch; gives the record.

        Raises:
            Raised: the launch is refused.
            Undecidable: it cannot be told what happens.
        """
        machine = self.session.machine
        prepare = self.session.get(f"{self.root}.{SERVER_ARGS[0]}", PREPARE)
        record = machine.call(prepare, [list(argv)], {})
        later = machine.lookup(record, "resolve_once")
        if later is not MISSING:
            machine.call(later, [], {})
        return record

    def publish(self, record: Value) -> None:
        """Install the configuration process-wide where the tree does that."""
        machine = self.session.machine
        if not self.has(RUNTIME_CONTEXT):
            return
        publish = machine.module_attribute(self.module(RUNTIME_CONTEXT), "publish")
        if isinstance(publish, Function):
            machine.call(publish, [record], {"role": "scheduler"})

    def start_scheduler(self, record: Value) -> Reached:
        """Publish, build the model configuration, and run the scheduler's initialisers."""
        machine = self.session.machine
        reached = Reached(record)
        try:
            self.publish(record)
            cls = machine.module_attribute(self.module(SCHEDULER), "Scheduler")
            if not isinstance(cls, Class):
                reached.stopped = "the scheduler class was not found"
                return reached
            scheduler = reached.scheduler = new_instance(cls)
            scheduler.d["server_args"] = record
            scheduler.d["model_config"] = self.model_config(record)
            for method, names in self.initialising_methods(cls):
                self._run_method(method, scheduler, reached, names)
        except Undecidable as stop:
            reached.stopped = stop.reason
        except Raised as raised:
            where = f" ({raised.place[0]}:{raised.place[1]})" if raised.place else ""
            said = f"{raised.value.cls.name}: {machine.as_text(raised.value)}"
            reached.stopped = f"{said}{where}"
            reached.stopped_by = raised
        return reached

    def model_config(self, record: Value) -> Value:
        """A new model configuration from the resolved record, as the scheduler builds it."""
        machine = self.session.machine
        cls = machine.module_attribute(self.module(MODEL_CONFIG), "ModelConfig")
        build = machine.lookup(cls, "from_server_args")
        if build is MISSING:
            raise Undecidable("ModelConfig.from_server_args does not exist")
        return machine.call(build, [record], {})

    def initialising_methods(self, cls: Class) -> list[tuple[Function, list[str]]]:
        """Methods of the scheduler that call `initialize_*_config` functions, with those names."""
        pairs = [
            (value, self._called_by(value.code.node))
            for value in cls.ns.values()
            if isinstance(value, Function)
        ]
        return [(method, names) for method, names in pairs if names]

    def _called_by(self, node: ast.AST) -> list[str]:
        # The class may be built anew for each launch; its syntax stays.
        if node not in self._called:
            self._called[node] = called_initialisers(node)
        return self._called[node]

    def _run_method(
        self, method: Function, scheduler: Instance, reached: Reached, names: list[str]
    ) -> None:
        """Run the statements of a method that concern the initialisers, each on its own."""
        machine = self.session.machine
        watched = self._watch(method, names, reached)
        from sgl_audit.evaluate.lowering import Lowering
        from sgl_audit.evaluate.scopes import GLOBALS, PARENT, Scope, bound_names

        code = method.code
        lowering = Lowering(machine, code.module, code.file)
        scope = Scope("function", code.scope, set(), code.qualname)
        scope.owner = code.positional[0]
        scope.names = {code.positional[0]} | bound_names(code.node.body, scope)
        frame: dict[str, Value] = {
            GLOBALS: method.globals,
            PARENT: method.env,
            code.positional[0]: scheduler,
        }
        wanted = needed_statements(code.node.body, set(names))
        try:
            for statement in wanted:
                run = lower_statement(lowering, statement, scope)
                if run is not None:
                    run(frame)
        finally:
            for function in watched:
                function.code.watch = None

    def _watch(self, method: Function, names: list[str], reached: Reached) -> list[Function]:
        machine = self.session.machine
        watched = []
        for name in names:
            function = method.globals.get(name, MISSING)
            if function is not MISSING:
                function = machine._forced(method.globals, name, function)
            if isinstance(function, Function):
                function.code.watch = noting(reached.initialised, name)
                watched.append(function)
        return watched

    def getters(self, reached: Reached) -> list[tuple[str, Function]]:
        """(value name, getter) for the modules whose initialisers ran."""
        if not reached.initialised:
            # Then the scheduler's module itself may be what is missing.
            return []
        machine = self.session.machine
        scheduler_module = self.module(SCHEDULER)
        found: dict[str, Function] = {}
        for name in reached.initialised:
            function = machine.lookup(scheduler_module, name)
            if not isinstance(function, Function):
                continue
            for key, value in function.globals.items():
                if is_getter(key, value):
                    found.setdefault(key.removeprefix("get_"), value)
        return sorted(found.items())

    def runtime_values(self, reached: Reached) -> dict[str, Value]:
        """What the getters give after the initialisers ran."""
        machine = self.session.machine
        values: dict[str, Value] = {}
        for name, getter in self.getters(reached):
            try:
                value = machine.call(getter, [], {})
            except Raised as raised:
                value = Unknown(name, f"{raised.value.cls.name} in {getter.qualname}")
            except Undecidable as stop:
                value = Unknown(name, stop.reason)
            values[name] = value
        return values

    def reader(self, record: Value) -> Any:
        """How a resolved value is read: a function of (record, field name).

        Newer trees keep the record as the user gave it and read results through a function; it is
        the one that the record's own `resolved_dict` calls with itself and a field name.
        """
        machine = self.session.machine
        function = self._reader_of_dump(record) or self._reader_of_projection()
        if function is not None:
            return lambda field_name: machine.call(function, [record, field_name], {})
        return lambda field_name: machine.getattr(record, field_name)

    def reported(self, record: Value) -> dict[str, Value]:
        """Fields for which the record's own `resolved_dict` says something of its own.

        A server gives that out (0.5.23 reports a width in place of the flag that it came from).
        Fields for which that cannot be computed are left out.
        """
        method = record.cls.find("resolved_dict")
        if not isinstance(method, Function):
            return {}
        machine = self.session.machine
        found: dict[str, Value] = {}
        for name, expression in stored_by_name(method.code.node.body):
            body: list[ast.stmt] = [ast.copy_location(ast.Return(expression), expression)]
            part = Function(method.code.with_body(body), method.env, method.globals, (), {})
            try:
                found[name] = machine.call(part, [record], {})
            except (Raised, Undecidable):
                # What it needs was worked out before, or is not known.
                continue
        return found

    def _reader_of_dump(self, record: Value) -> Value:
        """The function that the record's own `resolved_dict` calls with itself and a field name."""
        method = record.cls.find("resolved_dict")
        if not isinstance(method, Function):
            return None
        if id(method) not in self._readers:
            owner = method.code.positional[0]
            self._readers[id(method)] = reader_name(method.code.node, owner)
        return self._global(method.globals, self._readers[id(method)])

    def _reader_of_projection(self) -> Value:
        """The function with which the process-wide configuration is filled from a record."""
        if not self.has(RUNTIME_CONTEXT):
            return None
        module = self.module(RUNTIME_CONTEXT)
        if id(module) not in self._readers:
            tree = self.session.program.parse(str(module.file))
            self._readers[id(module)] = reader_name(tree, "server_args") if tree else None
        name = self._readers[id(module)]
        found = self._global(module.ns, name)
        if found is not None or name is None:
            return found
        # Such modules import it inside the function, to stay out of an import cycle.
        for target in imported_from(self.session.program.parse(str(module.file)), name):
            value = self.session.machine.module_attribute(self.session.imports.load(target), name)
            if isinstance(value, Function):
                return value
        return None

    def _global(self, ns: dict[str, Value], name: str | None) -> Value:
        value = ns.get(name, MISSING) if name is not None else MISSING
        if value is MISSING or name is None:
            return None
        value = self.session.machine._forced(ns, name, value)
        return value if isinstance(value, Function) else None

    def fields(self, record: Value) -> list[str]:
        """Names of the record's fields."""
        for parent in record.cls.mro:
            listed = parent.data.get("record")
            if listed is not None:
                return [item.name for item in listed]
        return list(record.d)


def noting(names: list[str], name: str) -> Any:
    """A watcher that notes a call and lets it run."""

    def note(function: Function, args: Any, kwargs: dict[str, Value]) -> Any:
        names.append(name)
        return NOT_HANDLED

    return note


def called_initialisers(node: Any) -> list[str]:
    """Names `initialize_*` called with at most the record inside a function."""
    called = [
        item.func.id
        for item in ast.walk(node)
        if isinstance(item, ast.Call) and isinstance(item.func, ast.Name)
    ]
    return [name for name in called if name.startswith("initialize_") and name.endswith("_config")]


def needed_statements(body: list[ast.stmt], names: set[str]) -> list[ast.stmt]:
    """Statements that call an initialiser, and those that give a local which these read."""
    chosen: list[ast.stmt] = []
    reads: set[str] = set()
    for node in reversed(body):
        if set(called_initialisers(node)) & names or _stored(node) & reads:
            chosen.append(node)
            reads |= _loaded(node)
    return chosen[::-1]


def _stored(node: ast.AST) -> set[str]:
    return {
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }


def _loaded(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def is_getter(name: str, value: Value) -> bool:
    """Whether a module-level name is a getter of a backend without arguments."""
    return (
        name.startswith("get_")
        and name.endswith("_backend")
        and isinstance(value, Function)
        and not value.code.positional
        and not value.code.kwonly
    )


def reader_name(tree: ast.AST, owner: str) -> str | None:
    """The function most often called with a record and the name of a field."""
    counts: dict[str, int] = {}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and len(node.args) in (2, 3)
            and isinstance(node.args[0], ast.Name)
            and node.args[0].id == owner
            and isinstance(node.args[1], (ast.Attribute, ast.Name))
            and node.func.id not in ("getattr", "setattr", "hasattr", "isinstance", "issubclass")
        ):
            counts[node.func.id] = counts.get(node.func.id, 0) + 1
    return max(sorted(counts), key=lambda name: counts[name]) if counts else None


def stored_by_name(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """Each `x["name"] = value` of a block."""
    for node in body:
        match node:
            case ast.Assign(
                targets=[ast.Subscript(slice=ast.Constant(value=str() as name))], value=value
            ):
                yield name, value


def imported_from(tree: ast.AST | None, name: str) -> list[str]:
    """Modules from which any part of a file imports a name."""
    return [
        node.module
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.ImportFrom)
        and node.module
        and any(alias.name == name for alias in node.names)
    ]


__all__ = ["Bound", "Entry", "Reached", "is_instance"]
