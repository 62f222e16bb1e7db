"""Class statements and what happens when a class comes into being."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.expressions import Frame, Run, lower_expression
from sgl_audit.evaluate.scopes import GLOBALS, PARENT, Scope, bound_names
from sgl_audit.evaluate.statements import lower_statement
from sgl_audit.evaluate.values import (
    LAYOUTS,
    MISSING,
    Class,
    ClassMethod,
    Function,
    Instance,
    Namespace,
    Native,
    Opaque,
    Property,
    Raised,
    StaticMethod,
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
    keywords = [(kw.arg, lower_expression(lowering, kw.value, scope)) for kw in node.keywords]
    decorators = [lower_expression(lowering, item, scope) for item in node.decorator_list]
    name = getattr(node, "shown_name", node.name)
    inner = Scope("class", scope, set(), scope.prefix + name)
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
        options: dict[str, Value] = {}
        for key, value in keywords:
            options.update(machine.mapping(value(f)) if key is None else {key: value(f)})
        cell: Frame = {GLOBALS: f[GLOBALS], PARENT: f[PARENT] if in_class else f}
        body: Frame = {GLOBALS: f[GLOBALS], PARENT: cell, "__module__": lowering.module}
        body["__qualname__"] = inner.qualname
        body["__doc__"] = doc
        for statement, names in runs:
            run_part(machine, statement, body, names)
        del body[GLOBALS], body[PARENT]
        made = make_class(machine, name, parents, body, options, (lowering.file, node.lineno))
        cell["__class__"] = made
        for decorator in reversed(applied):
            made = machine.decorate(decorator, made)
        store(f, made)

    return run


def decorated_name(node: ast.stmt) -> str | None:
    """The name of a decorated method: it alone is lost when its decorator cannot be followed."""
    decorated = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.decorator_list
    return node.name if decorated else None  # type: ignore[attr-defined]


def run_part(machine: Machine, statement: Run, body: Frame, name: str | None) -> None:
    """Run one statement of a class body."""
    if name is None:
        if statement(body) is not None:
            raise Undecidable("a class body that depends on what is not known")
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
    """Create a class as a class statement does: by its metaclass where it has one."""
    resolved = resolve_bases(machine, bases)
    options = dict(options)
    meta = options.pop("metaclass", None)
    if not isinstance(meta, Class):
        inherited = (base.meta for base in resolved if isinstance(base, Class) and base.meta)
        meta = next(inherited, None)
    maker = MISSING if meta is None else meta.find("__new__")
    if isinstance(maker, StaticMethod):
        maker = maker.function
    if isinstance(maker, Function):
        cls = machine.call(maker, [meta, name, resolved, ns], options)
    else:
        cls = build_class(machine, name, resolved, ns, options, meta, place)
    if not isinstance(cls, Class):
        return cls
    cls.place = cls.place or place
    if meta is not None and isinstance(init := meta.find("__init__"), Function):
        machine.call(init, [cls, name, resolved, ns], options)
    return cls


def build_class(
    machine: Machine,
    name: str,
    bases: tuple[Value, ...],
    ns: Namespace,
    options: dict[str, Value],
    meta: Class | None = None,
    place: tuple[str, int] | None = None,
) -> Class:
    """`type.__new__`: the class itself, `__set_name__`, `__init_subclass__`, stand-in hooks."""
    bases = resolve_bases(machine, bases)
    options = dict(options)
    if "__eq__" in ns and "__hash__" not in ns:
        ns["__hash__"] = None
    try:
        cls = Class(name, bases or (machine.object_class,), ns, str(ns.get("__module__", "")))
    except TypeError as error:
        raise machine.convert(error) from None
    cls.qualname = str(ns.get("__qualname__", name))
    cls.place = place
    if meta is not None:
        cls.meta = meta
    for base in bases:
        if isinstance(base, Class) and base.module != "builtins":
            machine.touch(base.children)
            base.children.append(cls)
    _note_slots(cls)
    _note_abstract(cls)
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
    elif (
        options
        and hook is None
        and cls.opaque_base is None
        and all("form" not in base.data for base in cls.mro)
    ):
        text = f"{cls.name}.__init_subclass__() takes no keyword arguments"
        raise machine.error("TypeError", text)
    return cls


def _note_slots(cls: Class) -> None:
    """Attribute names that instances are limited to, where every class on the way limits them."""
    if "__slots__" not in cls.ns or cls.opaque_base is not None or cls.layout is not None:
        return
    names: set[str] = set()
    for owner in cls.mro[:-1]:
        slots = owner.ns.get("__slots__")
        if slots is None:
            return
        names.update((slots,) if isinstance(slots, str) else slots)
    if "__dict__" not in names:
        cls.data["slots"] = frozenset(names)


def _note_abstract(cls: Class) -> None:
    """Names of abstract methods that are still to be defined."""
    if cls.meta is None or all(owner.name != "ABCMeta" for owner in cls.meta.mro):
        return
    names = {name for owner in cls.mro[1:] for name in owner.data.get("abstract_names", ())}
    names.update(cls.ns)
    missing = sorted(name for name in names if is_abstract(cls.find(name)))
    if missing:
        cls.data["abstract_names"] = tuple(missing)


def is_abstract(value: Value) -> bool:
    """Whether a class attribute is marked by `abstractmethod`."""
    if isinstance(value, Property):
        return value.abstract
    if isinstance(value, (ClassMethod, StaticMethod)):
        return is_abstract(value.function)
    return isinstance(value, (Function, Native)) and bool(value.d.get("__isabstractmethod__"))


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
