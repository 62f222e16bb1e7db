"""`contextlib`, and entering and leaving `with` blocks.

Assumes: CPython's own behaviour; redirected output goes nowhere.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.scopes import walk_scope
from sgl_audit.evaluate.streams import Stream
from sgl_audit.evaluate.values import (
    MISSING,
    Class,
    Function,
    Instance,
    Module,
    Native,
    Opaque,
    Raised,
    Unknown,
    Value,
    is_instance,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine
    from sgl_audit.evaluate.standins import Standins


class Manager:
    """A context manager made from a generator function.

    Attributes:
        remake: the same manager anew, for use as a decorator.
    """

    def __init__(self, function: Value, args: list[Value], kwargs: dict[str, Value]) -> None:
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.generator: Any = None

    def start(self, machine: Machine) -> Value:
        """`__enter__`."""
        made = machine.call(self.function, self.args, self.kwargs)
        self.generator = made.taken() if isinstance(made, Stream) else iter(machine.iterate(made))
        try:
            return next(self.generator)
        except StopIteration:
            raise machine.error("RuntimeError", "generator didn't yield") from None


class ManagerAdapter:
    """Managers as values: by hand, and as decorators."""

    def attribute(self, machine: Machine, owner: Value, name: str) -> Value:
        """`manager.__enter__` and `manager.__exit__`."""
        if name == "__enter__":
            return Native(name, lambda args, kwargs: machine.enter(owner), raw=True)
        if name == "__exit__":
            return Native(name, lambda args, kwargs: _exit_by_hand(machine, owner, args), raw=True)
        return MISSING

    def call(
        self, machine: Machine, owner: Value, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        """`@manager` on a function."""
        if not isinstance(owner, Manager):
            return MISSING
        (function,) = args

        def run(given: list[Value], named: dict[str, Value]) -> Value:
            manager = Manager(owner.function, owner.args, owner.kwargs)
            return run_inside(machine, manager, lambda: machine.call(function, given, named))

        return Native(getattr(function, "name", "decorated"), run, raw=True, method=True)


def run_inside(machine: Machine, manager: Value, body: Any) -> Value:
    """Run something as the body of a `with` block."""
    machine.enter(manager)
    swallowing = machine.may_swallow(manager)
    machine.handlers += swallowing
    try:
        try:
            result = body()
        finally:
            machine.handlers -= swallowing
    except Raised as raised:
        if machine.exit(manager, raised):
            return None
        raise
    machine.exit(manager, None)
    return result


def _exit_by_hand(machine: Machine, owner: Value, args: list[Value]) -> bool:
    value = args[1] if len(args) > 1 else None
    return machine.exit(owner, Raised(value) if isinstance(value, Instance) else None)


class Suppress:
    """`contextlib.suppress`."""

    def __init__(self, kinds: tuple[Value, ...]) -> None:
        self.kinds = kinds


class Fixed:
    """A context manager that gives a value and does nothing."""

    def __init__(self, value: Value = None) -> None:
        self.value = value


class Managers:
    """Entering and leaving `with` blocks; mixed into the machine."""

    def __init__(self) -> None:
        self._swallowing: dict[int, tuple[Any, bool]] = {}
        super().__init__()

    def enter(self, manager: Value) -> Value:
        """`__enter__`."""
        machine: Any = self
        if isinstance(manager, Manager):
            return manager.start(machine)
        if isinstance(manager, Suppress):
            return None
        if isinstance(manager, Fixed):
            return manager.value
        if isinstance(manager, (Opaque, Unknown)):
            return Unknown(f"with {manager.name}", "outside the tree")
        hook = machine.class_hook(manager, "__enter__")
        if hook is not MISSING:
            return machine.call(machine.bind(hook, manager, manager.cls), [], {})
        method = MISSING if is_instance(manager) else machine.lookup(manager, "__enter__")
        if method is not MISSING:
            return machine.call(method, [], {})
        if is_instance(manager) and manager.cls.opaque_base is not None:
            return Unknown(f"with {manager.cls.name}", "its base class lies outside the tree")
        text = (
            f"{machine.type_name(manager)!r} object does not support the context manager protocol"
        )
        raise machine.error("TypeError", text)

    def exit(self, manager: Value, raised: Raised | None) -> bool:
        """`__exit__`; True where the exception is swallowed."""
        machine: Any = self
        if isinstance(manager, Suppress):
            return raised is not None and machine.catches(manager.kinds, raised.value)
        if isinstance(manager, Manager):
            return self._finish(manager, raised)
        hook = machine.class_hook(manager, "__exit__")
        if hook is not MISSING:
            value = None if raised is None else raised.value
            kind = None if value is None else value.cls
            answer = machine.call(machine.bind(hook, manager, manager.cls), [kind, value, None], {})
            return raised is not None and machine.truth(answer)
        return False

    def may_swallow(self, manager: Value) -> bool:
        """Whether leaving the block may turn an exception into its end."""
        if isinstance(manager, Suppress):
            return True
        if isinstance(manager, Manager):
            return self._looks(manager.function, ast.ExceptHandler)
        if is_instance(manager):
            hook = manager.cls.find("__exit__")
            return isinstance(hook, Function) and self._looks(hook, ast.Return)
        return False

    def _looks(self, function: Value, kind: type[ast.AST]) -> bool:
        """Whether a function holds an `except`, or a `return` of something but None and False."""
        if not isinstance(function, Function):
            return True
        node = function.code.node
        found = self._swallowing.get(id(node))
        if found is None or found[0] is not node:
            answer = any(
                isinstance(item, kind) and not _gives_nothing(item)
                for item in walk_scope(node.body)
            )
            found = self._swallowing[id(node)] = (node, answer)
        return found[1]

    def _finish(self, manager: Manager, raised: Raised | None) -> bool:
        machine: Any = self
        if raised is None:
            try:
                next(manager.generator)
            except StopIteration:
                return False
            raise machine.error("RuntimeError", "generator didn't stop")
        try:
            manager.generator.throw(raised)
        except StopIteration:
            return True
        except Raised as again:
            if again.value is raised.value:
                return False
            raise
        raise machine.error("RuntimeError", "generator didn't stop after throw()")


def _gives_nothing(node: ast.AST) -> bool:
    if not isinstance(node, ast.Return):
        return False
    value = node.value
    return value is None or (isinstance(value, ast.Constant) and not value.value)


def _exit_stack(standins: Standins) -> Class:
    """`ExitStack`: leaves in reverse what it entered."""
    machine = standins.machine
    cls = Class("ExitStack", (machine.object_class,), {}, "contextlib")

    def entries(item: Value) -> list[Value]:
        found: list[Value] = item.d.setdefault("entries", [])
        return found

    def enter_context(item: Value, manager: Value) -> Value:
        value = machine.enter(manager)
        machine.touch(entries(item))
        entries(item).append(manager)
        return value

    def callback(item: Value, function: Value, *args: Value, **kwargs: Value) -> Value:
        machine.touch(entries(item))
        entries(item).append(
            Native("callback", lambda a, k: machine.call(function, list(args), kwargs), raw=True)
        )
        return function

    def leave(item: Value, kind: Value = None, value: Value = None, trace: Value = None) -> Value:
        raised = Raised(value) if isinstance(value, Instance) else None
        machine.touch(entries(item))
        while entries(item):
            manager = entries(item).pop()
            if isinstance(manager, Native):
                machine.call(manager, [], {})
            elif machine.exit(manager, raised):
                raised = None
        return value is not None and raised is None

    methods: dict[str, Callable[..., Value]] = {
        "__enter__": lambda item: item,
        "__exit__": leave,
        "close": lambda item: leave(item) and None,
        "enter_context": enter_context,
        "callback": callback,
    }
    for name, run in methods.items():
        cls.ns[name] = standins.native(name, run, raw=True)
        cls.ns[name].method = True
    return cls


def build(standins: Standins, module: Module) -> None:
    """`contextlib`."""
    machine = standins.machine

    def contextmanager(function: Value) -> Value:
        def run(args: list[Value], kwargs: dict[str, Value]) -> Value:
            return Manager(function, args, kwargs)

        native = Native(getattr(function, "name", "contextmanager"), run, raw=True, method=True)
        native.d["__wrapped__"] = function
        for name in ("__name__", "__qualname__", "__module__", "__doc__"):
            found = machine.lookup(function, name)
            if isinstance(found, str):
                native.d[name] = found
        return native

    adapter = ManagerAdapter()
    for kind in (Manager, Suppress, Fixed):
        machine.imports.hosts.register(kind, adapter)
    standins.define(
        module,
        raw=True,
        contextmanager=contextmanager,
        asynccontextmanager=lambda function: function,
        suppress=lambda *kinds: Suppress(kinds),
        nullcontext=lambda value=None: Fixed(value),
        redirect_stdout=lambda target: Fixed(target),
        redirect_stderr=lambda target: Fixed(target),
        closing=Fixed,
    )
    module.ns["ExitStack"] = _exit_stack(standins)
    for name in ("AbstractContextManager", "ContextDecorator"):
        module.ns[name] = Class(name, (machine.object_class,), {}, "contextlib")
