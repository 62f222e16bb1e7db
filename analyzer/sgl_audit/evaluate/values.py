"""What the interpreter computes with.

Plain constants, tuples, lists, dicts and sets stand for themselves. Everything that the analysed
code defines (classes, instances, functions, modules) is one of the types below: no class or
function of the analysed tree ever becomes a Python class or function.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from sgl_audit.evaluate.unknowns import (
    MISSING,
    BudgetReachedError,
    Cases,
    Cube,
    Junction,
    Missing,
    Namespace,
    Negation,
    Opaque,
    Undecidable,
    Unknown,
    Value,
    freeze,
    join_cubes,
    merge_equal,
    same,
    short,
)


class Raised(Exception):
    """An exception of the analysed program on its way up.

    Attributes:
        value: the exception instance.
        place: (file, line) of the statement that raised it.
        explicit: whether a `raise` or `assert` of the program raised it. Others come out of an
            operation, and may be this interpreter's own shortcoming.
    """

    def __init__(self, value: Instance, place: tuple[str, int] | None = None) -> None:
        super().__init__()
        self.value = value
        self.place = place
        self.explicit = place is not None


class Class:
    """A class of the analysed code, or a built-in one that takes part in inheritance.

    Attributes:
        ns: class attributes.
        layout: the Python type that instances need underneath (str, int, dict ...), or None.
        data: facts kept by stand-ins (dataclass fields, enum members).
    """

    __slots__ = (
        "__weakref__",
        "bases",
        "cache",
        "children",
        "data",
        "finals",
        "heirs",
        "layout",
        "meta",
        "module",
        "mro",
        "name",
        "ns",
        "opaque_base",
        "place",
        "qualname",
        "scope",
    )

    def __init__(
        self,
        name: str,
        bases: tuple[Value, ...],
        ns: Namespace,
        module: str = "builtins",
        layout: type | None = None,
    ) -> None:
        self.name = name
        self.qualname = name
        self.module = module
        self.bases = bases
        self.ns = ns
        self.meta: Class | None = None
        self.layout = layout
        self.data: dict[str, Any] = {}
        self.cache: dict[str, Value] = {}
        self.place: tuple[str, int] | None = None
        self.scope: Any = None
        self.opaque_base: Opaque | Unknown | None = None
        self.mro: tuple[Class, ...] = self._linearise()
        self.children: list[Class] = []
        self.finals: bool = False
        self.heirs: weakref.WeakSet[Class] | None = None
        for base in self.mro[1:]:
            if base.module != "builtins":
                base.heirs = base.heirs or weakref.WeakSet()
                base.heirs.add(self)
            if self.layout is None and base.layout is not None:
                self.layout = base.layout
            if base.meta is not None and self.meta is None:
                self.meta = base.meta
            if base.opaque_base is not None and self.opaque_base is None:
                self.opaque_base = base.opaque_base

    def _linearise(self) -> tuple[Class, ...]:
        parents = [base for base in self.bases if isinstance(base, Class)]
        for base in self.bases:
            if isinstance(base, (Opaque, Unknown)):
                self.opaque_base = base
        sequences = [list(parent.mro) for parent in parents] + [list(parents)]
        order: list[Class] = [self]
        while sequences := [sequence for sequence in sequences if sequence]:
            for sequence in sequences:
                head = sequence[0]
                if not any(head in other[1:] for other in sequences):
                    break
            else:
                names = ", ".join(parent.name for parent in parents)
                raise TypeError(
                    "Cannot create a consistent method resolution\norder (MRO) for bases " + names
                )
            order.append(head)
            for sequence in sequences:
                if sequence[0] is head:
                    del sequence[0]
                elif head in sequence:
                    sequence.remove(head)
        return tuple(order)

    def find(self, name: str) -> Value:
        """Attribute along the resolution order, or MISSING. Cached until a class is written to."""
        hit = self.cache.get(name, self)
        if hit is not self:
            return hit
        found: Value = MISSING
        for owner in self.mro:
            if name in owner.ns:
                found = owner.ns[name]
                break
        self.cache[name] = found
        return found

    def forget(self) -> None:
        """Empty the look-up caches of this class and its heirs, after a write to it."""
        self.cache.clear()
        self.finals = False
        for heir in self.heirs or ():
            heir.cache.clear()
            heir.finals = False

    def describe(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<class {self.module}.{self.qualname}>"


class Instance:
    """An instance of an interpreted class."""

    __slots__ = ("cls", "d")

    def __init__(self, cls: Class) -> None:
        self.cls = cls
        self.d: Namespace = {}

    def describe(self) -> str:
        return f"<{self.cls.name}>"

    def __repr__(self) -> str:
        return f"<{self.cls.name} instance>"

    def __eq__(self, other: object) -> Any:
        hook = self.cls.find("__eq__")
        if hook is MISSING:
            return True if self is other else NotImplemented
        return hook_call(hook, self, other)

    def __ne__(self, other: object) -> Any:
        hook = self.cls.find("__ne__")
        if hook is not MISSING:
            return hook_call(hook, self, other)
        return Negation.of(self == other)

    def __hash__(self) -> int:
        hook = self.cls.find("__hash__")
        if hook is None:
            raise TypeError(f"unhashable type: {self.cls.name!r}")
        if hook is MISSING:
            return id(self) >> 4
        return int(hook_call(hook, self))

    def _order(self, other: object, name: str) -> Any:
        hook = self.cls.find(name)
        return NotImplemented if hook is MISSING else hook_call(hook, self, other)

    def __lt__(self, other: object) -> Any:
        return self._order(other, "__lt__")

    def __le__(self, other: object) -> Any:
        return self._order(other, "__le__")

    def __gt__(self, other: object) -> Any:
        return self._order(other, "__gt__")

    def __ge__(self, other: object) -> Any:
        return self._order(other, "__ge__")


_HOOKS: list[Callable[..., Value]] = []


def set_hook_caller(caller: Callable[..., Value]) -> None:
    """Tell comparisons of instances how interpreted methods are called."""
    _HOOKS[:] = [caller]


def hook_call(function: Value, *args: Value) -> Value:
    """Call an interpreted special method from a Python operator."""
    return _HOOKS[0](function, args, {})


class LayoutMixin:
    """What instances of classes that derive from built-in types share with Instance."""

    __slots__ = ()
    cls: Class
    d: Namespace

    def describe(self) -> str:
        return f"<{self.cls.name}>"

    def __eq__(self, other: object) -> Any:
        hook = self.cls.find("__eq__")
        return super().__eq__(other) if hook is MISSING else hook_call(hook, self, other)

    def __ne__(self, other: object) -> Any:
        hook = self.cls.find("__ne__")
        if hook is not MISSING:
            return hook_call(hook, self, other)
        return (
            super().__ne__(other)
            if self.cls.find("__eq__") is MISSING
            else Negation.of(self == other)
        )


class StrInstance(LayoutMixin, str):
    """An instance of a class that derives from str."""

    __hash__ = str.__hash__

    __slots__ = ("cls", "d")
    cls: Class
    d: Namespace


class IntInstance(LayoutMixin, int):
    """An instance of a class that derives from int."""

    __hash__ = int.__hash__

    cls: Class
    d: Namespace


class FloatInstance(LayoutMixin, float):
    """An instance of a class that derives from float."""

    __hash__ = float.__hash__

    __slots__ = ("cls", "d")
    cls: Class
    d: Namespace


class DictInstance(LayoutMixin, dict):  # type: ignore[type-arg]
    """An instance of a class that derives from dict."""

    __slots__ = ("cls", "d")
    cls: Class
    d: Namespace


class ListInstance(LayoutMixin, list):  # type: ignore[type-arg]
    """An instance of a class that derives from list."""

    __slots__ = ("cls", "d")
    cls: Class
    d: Namespace


class SetInstance(LayoutMixin, set):  # type: ignore[type-arg]
    """An instance of a class that derives from set."""

    __slots__ = ("cls", "d")
    cls: Class
    d: Namespace


class TupleInstance(LayoutMixin, tuple):  # type: ignore[type-arg]
    """An instance of a class that derives from tuple (a named tuple)."""

    __hash__ = tuple.__hash__

    cls: Class
    d: Namespace


LAYOUTS: dict[type, type] = {
    str: StrInstance,
    int: IntInstance,
    float: FloatInstance,
    dict: DictInstance,
    list: ListInstance,
    set: SetInstance,
    tuple: TupleInstance,
}
INSTANCE_TYPES: tuple[type[Any], ...] = (Instance, *LAYOUTS.values())


def is_instance(value: Value) -> bool:
    """Whether the value is an instance of an interpreted class."""
    return isinstance(value, INSTANCE_TYPES)


class Function:
    """An interpreted function with what it closes over."""

    __slots__ = (
        "code",
        "d",
        "defaults",
        "env",
        "globals",
        "kwdefaults",
        "module",
        "name",
        "qualname",
    )

    def __init__(
        self,
        code: Any,
        env: Any,
        global_ns: Namespace,
        defaults: tuple[Value, ...],
        kwdefaults: dict[str, Value],
    ) -> None:
        self.code = code
        self.env = env
        self.globals = global_ns
        self.defaults = defaults
        self.kwdefaults = kwdefaults
        self.name: str = code.name
        self.qualname: str = code.qualname
        self.module: str = code.module
        self.d: Namespace = {}

    def describe(self) -> str:
        return self.qualname

    def __repr__(self) -> str:
        return f"<function {self.qualname}>"


class Bound:
    """A callable with its first argument filled in."""

    __slots__ = ("function", "self")

    def __init__(self, function: Value, owner: Value) -> None:
        self.function = function
        self.self = owner

    def describe(self) -> str:
        return short(self.function)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Bound) and other.function is self.function and other.self is self.self
        )

    def __hash__(self) -> int:
        return hash((id(self.function), id(self.self)))


class Native:
    """A function of this tool that stands in for one outside the tree.

    `run(args, kwargs)` gets interpreter values. `raw` natives handle unknown arguments
    themselves; for all others an unknown argument makes the result unknown.
    """

    __slots__ = ("d", "method", "name", "raw", "run")

    def __init__(
        self,
        name: str,
        run: Callable[[list[Value], dict[str, Value]], Value],
        raw: bool = False,
        method: bool = False,
    ) -> None:
        self.name = name
        self.run = run
        self.raw = raw
        self.method = method
        self.d: Namespace = {}

    def describe(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<native {self.name}>"


class Module:
    """A module of the tree, or a stand-in for one outside it."""

    __slots__ = ("file", "name", "ns", "state")

    def __init__(self, name: str, file: str | None = None) -> None:
        self.name = name
        self.file = file
        self.ns: Namespace = {"__name__": name, "__file__": file, "__doc__": None}
        self.state = "new"

    def describe(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<module {self.name}>"


class Property:
    """A property or cached property."""

    __slots__ = ("abstract", "cached", "deleter", "getter", "name", "setter")

    def __init__(
        self,
        getter: Value,
        setter: Value = None,
        cached: bool = False,
        deleter: Value = None,
    ) -> None:
        self.getter = getter
        self.setter = setter
        self.deleter = deleter
        self.cached = cached
        self.abstract: bool = bool(getattr(getter, "d", {}).get("__isabstractmethod__"))
        self.name = getattr(getter, "name", "")


class StaticMethod:
    """A static method in a class namespace."""

    __slots__ = ("function",)

    def __init__(self, function: Value) -> None:
        self.function = function


class ClassMethod:
    """A class method in a class namespace."""

    __slots__ = ("function",)

    def __init__(self, function: Value) -> None:
        self.function = function


class Lazy:
    """A name imported from a module that is loaded on first use."""

    __slots__ = ("attribute", "module", "where")

    def __init__(self, module: str, attribute: str, where: tuple[str, int]) -> None:
        self.module = module
        self.attribute = attribute
        self.where = where


class Super:
    """`super()` inside a method."""

    __slots__ = ("after", "owner")

    def __init__(self, after: Class, owner: Value) -> None:
        self.after = after
        self.owner = owner


class Annotation:
    """An annotation kept as source, evaluated when somebody asks.

    Attributes:
        postponed: whether the program itself sees text (quoted, or postponed by a future import).
    """

    __slots__ = ("evaluate", "postponed", "text")

    def __init__(self, text: str, evaluate: Callable[[], Value], postponed: bool = True) -> None:
        self.text = text
        self.evaluate = evaluate
        self.postponed = postponed

    def shown(self) -> Value:
        """What the program finds in `__annotations__`."""
        if self.postponed:
            return self.text
        try:
            return self.evaluate()
        except (Raised, Undecidable) as stop:
            reason = stop.reason if isinstance(stop, Undecidable) else stop.value.cls.name
            return Unknown(self.text, f"the annotation cannot be evaluated: {reason}")


__all__ = [
    "INSTANCE_TYPES",
    "LAYOUTS",
    "MISSING",
    "Annotation",
    "Bound",
    "BudgetReachedError",
    "Cases",
    "Class",
    "ClassMethod",
    "Cube",
    "DictInstance",
    "FloatInstance",
    "Function",
    "Instance",
    "IntInstance",
    "Junction",
    "LayoutMixin",
    "Lazy",
    "ListInstance",
    "Missing",
    "Module",
    "Namespace",
    "Native",
    "Negation",
    "Opaque",
    "Property",
    "Raised",
    "SetInstance",
    "StaticMethod",
    "StrInstance",
    "Super",
    "TupleInstance",
    "Undecidable",
    "Unknown",
    "Value",
    "freeze",
    "hook_call",
    "is_instance",
    "join_cubes",
    "merge_equal",
    "same",
    "set_hook_caller",
    "short",
]
