"""`typing`, and what annotations become when somebody asks.

Assumes: typing constructs have no effect at run time beyond `get_origin`, `get_args` and
`get_type_hints`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.values import (
    Annotation,
    Bound,
    Class,
    ClassMethod,
    Function,
    Instance,
    Module,
    Native,
    Opaque,
    StaticMethod,
    Unknown,
    Value,
    is_instance,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.standins import Standins

SPECIAL = [
    "Any",
    "Union",
    "Optional",
    "Literal",
    "Annotated",
    "ClassVar",
    "Final",
    "Callable",
    "Type",
    "Protocol",
    "Generic",
    "NoReturn",
    "Never",
    "Concatenate",
    "ParamSpec",
    "TypeAlias",
    "TypeGuard",
    "Self",
    "Required",
    "NotRequired",
    "Unpack",
    "LiteralString",
    "TypeIs",
]
ALIASES = {
    "List": list,
    "Dict": dict,
    "Set": set,
    "FrozenSet": frozenset,
    "Tuple": tuple,
}
ABSTRACT = [
    "Iterable",
    "Iterator",
    "Sequence",
    "Mapping",
    "MutableMapping",
    "MutableSequence",
    "Hashable",
    "Sized",
    "Collection",
    "Generator",
    "AsyncGenerator",
    "AsyncIterator",
    "AsyncIterable",
    "Awaitable",
    "Coroutine",
    "Deque",
    "DefaultDict",
    "OrderedDict",
    "Counter",
    "ContextManager",
    "AsyncContextManager",
    "Pattern",
    "Match",
    "IO",
    "TextIO",
    "BinaryIO",
    "Text",
    "SupportsInt",
    "SupportsFloat",
    "SupportsIndex",
    "KeysView",
    "ValuesView",
    "ItemsView",
    "Container",
    "Reversible",
    "ByteString",
    "AbstractSet",
    "MutableSet",
    "ChainMap",
]


class Typing:
    """Typing constructs as instances that remember origin and arguments."""

    def __init__(self, standins: Standins) -> None:
        self.standins = standins
        self._alias_class: Class | None = None
        self._forms: dict[str, Class] = {}

    @property
    def alias_class(self) -> Class:
        """The class of `List[int]`, `Optional[str]` and the like."""
        if self._alias_class is None:
            machine = self.standins.machine
            self._alias_class = Class("GenericAlias", (machine.object_class,), {}, "typing")
            self._alias_class.ns["__eq__"] = Native(
                "__eq__", lambda a, k: _equal(a[0], a[1]), raw=True, method=True
            )
            self._alias_class.ns["__hash__"] = Native(
                "__hash__", lambda a, k: 7, raw=True, method=True
            )
            self._alias_class.ns["__call__"] = Native(
                "__call__",
                lambda a, k: machine.call(a[0].d["__origin__"], a[1:], k),
                raw=True,
                method=True,
            )
            self._alias_class.ns["__or__"] = Native(
                "__or__", lambda a, k: self.either(a), raw=True, method=True
            )
            self._alias_class.ns["__ror__"] = Native(
                "__ror__", lambda a, k: self.either(a[::-1]), raw=True, method=True
            )
            self._alias_class.ns["__getitem__"] = Native(
                "__getitem__", lambda a, k: self.subscripted(a[0], a[1]), raw=True, method=True
            )
        return self._alias_class

    def form(self, name: str) -> Class:
        """A special form such as Union; a class so that it can be subscripted and inherited."""
        if name not in self._forms:
            cls = Class(name, (self.standins.machine.object_class,), {}, "typing")
            cls.data["form"] = name
            self._forms[name] = cls
        return self._forms[name]

    def alias(self, origin: Value, key: Value) -> Value:
        """`origin[key]`."""
        args = key if isinstance(key, tuple) else (key,)
        name = origin.data.get("form") if isinstance(origin, Class) else None
        if name == "Optional":
            return self.union([args[0], None])
        if name == "Union":
            return self.union(list(args))
        if (
            name == "Annotated"
            and isinstance(args[0], Instance)
            and args[0].cls is self.alias_class
        ):
            inner = args[0]
            if inner.d["__origin__"] is origin:
                return self.make(origin, (*inner.d["__args__"], *args[1:]))
        if (
            isinstance(origin, Class)
            and name is None
            and origin.module not in ("builtins", "typing")
        ):
            return origin
        return self.make(origin, args)

    def subscripted(self, alias: Instance, key: Value) -> Value:
        """`List[int]` from the bare `List`; a generic alias keeps its arguments."""
        if alias.d["__args__"]:
            return alias
        return self.make(alias.d["__origin__"], key if isinstance(key, tuple) else (key,))

    def make(self, origin: Value, args: tuple[Value, ...]) -> Instance:
        """An alias object."""
        item = Instance(self.alias_class)
        item.d.update({"__origin__": origin, "__args__": args})
        if isinstance(origin, Class) and origin.data.get("form") == "Annotated":
            item.d["__metadata__"] = args[1:]
        return item

    def either(self, parts: list[Value]) -> Value:
        """`X | Y`: of plain classes it is a type of its own, of typing's constructs a Union."""
        known = self.form("UnionType")
        plain = all(
            part is None
            or isinstance(part, Class)
            or (isinstance(part, Instance) and part.d.get("__origin__") is known)
            for part in parts
        )
        return self.union(parts, "UnionType" if plain else "Union")

    def union(self, parts: list[Value], form: str = "Union") -> Value:
        """`Union[...]`, flattened; a single type stays itself."""
        flat: list[Value] = []
        for part in parts:
            part = self.standins.machine.types[type(None)] if part is None else part
            inner = self.union_args(part)
            for item in inner if inner is not None else (part,):
                if not any(item is known or _equal(item, known) is True for known in flat):
                    flat.append(item)
        if len(flat) == 1:
            return flat[0]
        return self.make(self.form(form), tuple(flat))

    def union_args(self, part: Value) -> tuple[Value, ...] | None:
        """The members of a union, or None for anything else."""
        if isinstance(part, Instance) and is_union(part.d.get("__origin__")):
            return part.d["__args__"]  # type: ignore[no-any-return]
        return None

    def check(self, value: Value, alias: Instance) -> Value:
        """`isinstance(value, X | Y)` and `isinstance(value, List)`."""
        from sgl_audit.evaluate.standins.functions import is_instance_of

        machine = self.standins.machine
        inner = self.union_args(alias)
        if inner is not None:
            return is_instance_of(machine, value, tuple(inner))
        if alias.d["__args__"]:
            text = "isinstance() argument 2 cannot be a parameterized generic"
            raise machine.error("TypeError", text)
        return is_instance_of(machine, value, alias.d["__origin__"])

    def hints(self, target: Value, include_extras: bool = False) -> Value:
        """`get_type_hints`: annotations of a class and its bases, evaluated."""
        found: dict[str, Value] = {}
        if isinstance(target, Class):
            for parent in reversed(target.mro):
                for name, note in parent.ns.get("__annotations__", {}).items():
                    found[name] = self.evaluate(note, include_extras)
        while isinstance(target, (Bound, StaticMethod, ClassMethod)):
            target = target.function
        notes: dict[str, Value] = {}
        if isinstance(target, Function):
            notes = target.code.notes_of(target)
        elif isinstance(target, Module):
            notes = target.ns.get("__annotations__", {})
        for name, note in notes.items():
            found[name] = self.evaluate(note, include_extras)
        return found

    def evaluate(self, note: Value, include_extras: bool = True) -> Value:
        """The type an annotation stands for."""
        if isinstance(note, Annotation):
            note = note.evaluate()
        if isinstance(note, str):
            return Unknown(note, "a forward reference")
        if note is None:
            return self.standins.machine.types[type(None)]
        if (
            not include_extras
            and isinstance(note, Instance)
            and note.d.get("__origin__") is self.form("Annotated")
        ):
            return note.d["__args__"][0]
        return note

    def fill(self, module: Module) -> None:
        """Names of `typing` and `typing_extensions`."""
        machine = self.standins.machine
        ns = module.ns
        for name in SPECIAL:
            ns[name] = self.form(name)
        for name, kind in ALIASES.items():
            ns[name] = self.make(machine.types[kind], ())
        for name in ABSTRACT:
            ns[name] = self.standins.machine.imports.load("collections.abc").ns.get(
                name
            ) or self.form(name)
        ns["Type"] = self.make(machine.types[type], ())
        ns["TYPE_CHECKING"] = False
        define = self.standins.define
        define(
            module,
            raw=True,
            get_origin=self.origin,
            get_args=lambda tp: tp.d.get("__args__", ()) if isinstance(tp, Instance) else (),
            get_type_hints=lambda target, *rest, include_extras=False, **kw: self.hints(
                target, include_extras
            ),
            cast=lambda kind, value: value,
            overload=lambda function: function,
            final=lambda item: item,
            runtime_checkable=lambda item: item,
            override=lambda item: item,
            no_type_check=lambda item: item,
            assert_never=lambda value: value,
            TypeVar=lambda name, *rest, **kw: Opaque(f"TypeVar {name}"),
            NewType=lambda name, kind: kind,
            ParamSpec=lambda name, **kw: Opaque(f"ParamSpec {name}"),
            dataclass_transform=lambda **kw: self.standins.native(
                "identity", lambda item: item, raw=True
            ),
            deprecated=lambda *a, **kw: self.standins.native(
                "identity", lambda item: item, raw=True
            ),
        )
        self._classes(ns)

    def origin(self, tp: Value) -> Value:
        """`get_origin`."""
        if not isinstance(tp, Instance):
            return None
        return tp.d.get("__origin__")

    def _classes(self, ns: dict[str, Value]) -> None:
        machine = self.standins.machine
        typed = Class("TypedDict", (machine.types[dict],), {}, "typing")
        typed.data["on_subclass"] = lambda cls, options: options.pop("total", None)
        ns["TypedDict"] = typed
        from sgl_audit.evaluate.standins.containers import named_tuple_base

        ns["NamedTuple"] = named_tuple_base(self.standins)


def is_union(origin: Value) -> bool:
    """Whether the origin of an alias is `Union`, written with a bar or not."""
    return isinstance(origin, Class) and origin.data.get("form") in ("Union", "UnionType")


def _equal(a: Value, b: Value) -> Any:
    if a is b:
        return True
    if is_instance(a) and is_instance(b) and "__origin__" in a.d and "__origin__" in b.d:
        one, other = a.d["__args__"], b.d["__args__"]
        origin = a.d["__origin__"]
        if is_union(origin) and is_union(b.d["__origin__"]):
            pairs = (any(_equal(x, y) is True for y in other) for x in one)
            return len(one) == len(other) and all(pairs)
        if origin is not b.d["__origin__"] or len(one) != len(other):
            return False
        return all(x is y or _equal(x, y) is True for x, y in zip(one, other, strict=True))
    if not is_instance(a) and not is_instance(b) and type(a) is type(b):
        return a == b if isinstance(a, (str, int, float, bytes)) else False
    return False
