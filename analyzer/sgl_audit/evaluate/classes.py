"""Class statements and what happens when a class comes into being."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.expressions import Frame, Run, lower_expression
from sgl_audit.evaluate.scopes import GLOBALS, PARENT, Scope, bound_names
from sgl_audit.evaluate.statements import lower_statement
from sgl_audit.evaluate.values import (
    MISSING,
    Class,
    ClassMethod,
    Function,
    Instance,
    Namespace,
    Opaque,
    Raised,
    Undecidable,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.lowering import Lowering
    from sgl_audit.evaluate.machine import Machine


def lower_class(lowering: Lowering, node: ast.ClassDef, scope: Scope) -> Run:
    """The closure that runs a class statement and stores the class."""
    machine = lowering.machine
    bases = [lower_expression(lowering, base, scope) for base in node.bases]
    keywords = [(kw.arg or "", lower_expression(lowering, kw.value, scope)) for kw in node.keywords]
    decorators = [lower_expression(lowering, item, scope) for item in node.decorator_list]
    prefix = f"{scope.qualname}." if scope.qualname else ""
    inner = Scope("class", scope, set(), prefix + node.name)
    inner.names = bound_names(node.body, inner)
    runs: list[tuple[Run, str | None]] | None = None
    store = lowering.store_name(node.name, scope)
    in_class = scope.kind == "class"
    doc = ast.get_docstring(node, clean=False)

    def run(f: Frame) -> None:
        nonlocal runs
        if runs is None:
            lowered = [(lower_statement(lowering, item, inner), item) for item in node.body]
            runs = [(part, decorated_name(item)) for part, item in lowered if part is not None]
        applied = [decorator(f) for decorator in decorators]
        parents = tuple([base(f) for base in bases])
        options = {name: value(f) for name, value in keywords}
        cell: Frame = {GLOBALS: f[GLOBALS], PARENT: f[PARENT] if in_class else f}
        body: Frame = {GLOBALS: f[GLOBALS], PARENT: cell, "__module__": lowering.module}
        body["__qualname__"] = inner.qualname
        body["__doc__"] = doc
        for statement, names in runs:
            run_part(machine, statement, body, names)
        del body[GLOBALS], body[PARENT]
        value = make_class(machine, node.name, parents, body, options, (lowering.file, node.lineno))
        cell["__class__"] = value
        for decorator in reversed(applied):
            value = machine.decorate(decorator, value)
        store(f, value)

    return run


def decorated_name(node: ast.stmt) -> str | None:
    """The name of a decorated method: it alone is lost when its decorator cannot be followed."""
    decorated = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.decorator_list
    return node.name if decorated else None  # type: ignore[attr-defined]


def run_part(machine: Machine, statement: Run, body: Frame, name: str | None) -> None:
    """Run one statement of a class body."""
    if name is None:
        statement(body)
        return
    try:
        statement(body)
    except Undecidable as stop:
        body[name] = Unknown(name, stop.reason)
    except Raised as raised:
        body[name] = Unknown(name, f"its decorator raises {raised.value.cls.name}")


def make_class(
    machine: Machine,
    name: str,
    bases: tuple[Value, ...],
    ns: Namespace,
    options: dict[str, Value],
    place: tuple[str, int] | None = None,
) -> Value:
    """Create a class: metaclass, `__set_name__`, `__init_subclass__` and stand-in hooks."""
    bases = resolve_bases(machine, bases)
    meta = options.pop("metaclass", None)
    cls = Class(name, bases or (machine.object_class,), ns, str(ns.get("__module__", "")))
    cls.qualname = str(ns.get("__qualname__", name))
    cls.place = place
    if isinstance(meta, Class):
        cls.meta = meta
    hook = next(
        (base.data["on_subclass"] for base in cls.mro[1:] if "on_subclass" in base.data), None
    )
    if hook is not None:
        hook(cls, options)
    for key, value in list(ns.items()):
        setter = machine.class_hook(value, "__set_name__")
        if setter is not MISSING:
            machine.call(setter, [value, cls, key], {})
    initialise = _init_subclass(cls)
    if initialise is not None:
        machine.call(initialise, [cls], options)
    if cls.meta is not None and isinstance(init := cls.meta.find("__init__"), Function):
        machine.call(init, [cls, name, bases, ns], {})
    return cls


def _init_subclass(cls: Class) -> Value:
    for parent in cls.mro[1:]:
        hook = parent.ns.get("__init_subclass__")
        if hook is not None:
            return hook.function if isinstance(hook, ClassMethod) else hook
    return None


def resolve_bases(machine: Machine, bases: tuple[Value, ...]) -> tuple[Value, ...]:
    """Bases as they enter a class: typing constructs fall away, types become their classes."""
    resolved: list[Value] = []
    for base in bases:
        item = machine.as_class(base)
        if isinstance(item, (Class, Opaque, Unknown)):
            resolved.append(item)
        elif isinstance(item, Instance):
            origin = item.d.get("__origin__")
            if isinstance(origin, Class) and origin.name != "Generic":
                resolved.append(origin)
    return tuple(resolved)


def new_instance(cls: Class, payload: Any = MISSING) -> Value:
    """An empty instance with the layout the class needs."""
    from sgl_audit.evaluate.values import LAYOUTS

    if cls.layout is None:
        return Instance(cls)
    kind = LAYOUTS[cls.layout]
    if payload is MISSING:
        item = kind()
    elif isinstance(payload, tuple) and cls.layout is not tuple:
        item = kind(*payload)
    else:
        item = kind(payload)
    item.cls = cls
    item.d = {}
    return item
