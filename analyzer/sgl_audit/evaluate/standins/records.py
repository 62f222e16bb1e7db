"""What dataclasses and msgspec structs share: fields with defaults and an initialiser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.calling import missing_text, too_many_text
from sgl_audit.evaluate.values import (
    MISSING,
    Annotation,
    Class,
    Instance,
    Junction,
    Native,
    Opaque,
    Unknown,
    Value,
    is_instance,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine


@dataclass(frozen=True, slots=True)
class RecordField:
    """One field of a record class."""

    name: str
    default: Value = MISSING
    factory: Value = MISSING
    init: bool = True
    keyword_only: bool = False
    metadata: Value = None
    init_only: bool = False
    type: Value = None
    repr: bool = True
    compare: bool = True
    hash: bool | None = None

    @property
    def has_default(self) -> bool:
        """Whether the field may be left out."""
        return self.default is not MISSING or self.factory is not MISSING

    def value(self, machine: Machine) -> Value:
        """The default of a new instance."""
        if self.factory is not MISSING:
            return machine.call(self.factory, [], {})
        default = self.default
        if type(default) in (list, dict, set):
            return type(default)(default)
        return default


def annotation_text(note: Value) -> str:
    """The source text of an annotation."""
    return note.text if isinstance(note, Annotation) else str(note)


def is_class_var(note: Value) -> bool:
    """Whether an annotation says ClassVar."""
    text = annotation_text(note)
    return text.startswith(("ClassVar", "typing.ClassVar", "t.ClassVar"))


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a record class, and its own words for arguments that do not fit."""

    callee: str
    positional: tuple[str, ...]
    keyword_only: tuple[str, ...]
    required: tuple[str, ...]
    optional: int

    @staticmethod
    def of(callee: str, fields: list[RecordField]) -> Signature:
        """The signature that the fields make."""
        taken = [f for f in fields if f.init]
        return Signature(
            callee,
            tuple(f.name for f in taken if not f.keyword_only),
            tuple(f.name for f in taken if f.keyword_only),
            tuple(f.name for f in taken if not f.has_default),
            sum(f.has_default and not f.keyword_only for f in taken),
        )

    def bind(
        self, machine: Machine, given: list[Value], kwargs: dict[str, Value]
    ) -> dict[str, Value]:
        """Arguments by name, as a function with these parameters takes them."""
        values = dict(zip(self.positional, given, strict=False))
        for name, value in kwargs.items():
            if name in values:
                text = f"{self.callee} got multiple values for argument {name!r}"
                raise machine.error("TypeError", text)
            if name not in self.positional and name not in self.keyword_only:
                text = f"{self.callee} got an unexpected keyword argument {name!r}"
                raise machine.error("TypeError", text)
            values[name] = value
        if len(given) > len(self.positional):
            named = sum(name in values for name in self.keyword_only)
            text = too_many_text(
                self.callee, len(self.positional) + 1, self.optional, len(given) + 1, named
            )
            raise machine.error("TypeError", text)
        for names, kind in ((self.positional, "positional"), (self.keyword_only, "keyword-only")):
            missing = [n for n in names if n in self.required and n not in values]
            if missing:
                raise machine.error("TypeError", missing_text(self.callee, missing, kind))
        return values


Bind = Callable[["Machine", list[Value], dict[str, Value]], dict[str, Value]]


def initialiser(
    machine: Machine,
    cls: Class,
    fields: list[RecordField],
    object_set: bool,
    bind: Bind | None = None,
) -> Native:
    """`__init__` of a record class.

    Args:
        object_set: write around an interpreted `__setattr__` (frozen classes, structs).
        bind: takes the arguments, where that is not as a function would.
    """
    callee = f"{cls.qualname}.__init__()"
    take = bind or Signature.of(callee, fields).bind

    def run(args: list[Value], kwargs: dict[str, Value]) -> None:
        owner, given = args[0], args[1:]
        values = take(machine, given, kwargs)
        _store(machine, owner, fields, values, object_set)
        post = owner.cls.find("__post_init__")
        if post is not MISSING:
            extra = [values.get(f.name, f.default) for f in fields if f.init_only]
            machine.call(machine.bind(post, owner, owner.cls), extra, {})

    return Native(f"{cls.name}.__init__", run, raw=True, method=True)


def _store(
    machine: Machine,
    owner: Any,
    fields: list[RecordField],
    values: dict[str, Value],
    object_set: bool,
) -> None:
    machine.touch(owner.d)
    custom = not object_set and owner.cls.find("__setattr__") is not MISSING
    for field in fields:
        if field.init_only:
            continue
        if field.name in values:
            value = values[field.name]
        elif field.has_default:
            value = field.value(machine)
        else:
            continue
        if custom:
            machine.setattr(owner, field.name, value)
        else:
            owner.d[field.name] = value
    if machine.tracer is not None:
        machine.tracer.began(owner)


def equality(names: list[str]) -> Native:
    """`__eq__` by fields: unknown only where no field tells the two apart."""

    def run(args: list[Value], kwargs: dict[str, Value]) -> Value:
        one, other = args
        if not is_instance(other) or one.cls is not other.cls:
            return NotImplemented
        doubts: list[Unknown] = []
        for name in names:
            equal = one.d.get(name) == other.d.get(name)
            if isinstance(equal, Unknown):
                doubts.append(equal)
            elif not equal:
                return False
        return Junction.of(doubts, False)

    return Native("__eq__", run, raw=True, method=True)


def ordering(machine: Machine, names: list[str], function: Callable[[Any, Any], Any]) -> Native:
    """`__lt__` and its kin: by the fields in order."""

    def run(args: list[Value], kwargs: dict[str, Value]) -> Value:
        one, other = args
        if not is_instance(other) or one.cls is not other.cls:
            return NotImplemented
        left = tuple(one.d.get(name) for name in names)
        right = tuple(other.d.get(name) for name in names)
        return machine.compare(function, left, right)

    return Native(function.__name__, run, raw=True, method=True)


def hashing(names: list[str]) -> Native:
    """`__hash__` by fields."""
    return Native(
        "__hash__",
        lambda args, kwargs: hash(tuple(args[0].d.get(name) for name in names)),
        raw=True,
        method=True,
    )


def text(machine: Machine, names: list[str], qualified: bool = True) -> Native:
    """`__repr__` by fields."""

    def run(args: list[Value], kwargs: dict[str, Value]) -> Value:
        owner = args[0]
        parts: list[Any] = [(owner.cls.qualname if qualified else owner.cls.name) + "("]
        for index, name in enumerate(names):
            value = machine.lookup(owner, name)
            parts += [", " if index else "", f"{name}=", machine.piece(value)]
        return machine.assemble([*parts, ")"])

    return Native("__repr__", run, raw=True, method=True)


def fill_bag(machine: Machine, cls: Class, shown: str) -> None:
    """Equality and text of a class whose instances are what was put into them."""

    def equal(args: list[Value], kwargs: dict[str, Value]) -> Value:
        one, other = args
        if not is_instance(other) or cls not in other.cls.mro:
            return NotImplemented
        return one.d == other.d

    def written(args: list[Value], kwargs: dict[str, Value]) -> Value:
        parts: list[Any] = [f"{shown}("]
        for index, (name, value) in enumerate(args[0].d.items()):
            parts += [", " if index else "", f"{name}=", machine.piece(value)]
        return machine.assemble([*parts, ")"])

    cls.ns["__eq__"] = Native("__eq__", equal, raw=True, method=True)
    cls.ns["__hash__"] = None
    cls.ns["__repr__"] = Native("__repr__", written, raw=True, method=True)


def field_object(cls: Class, field: RecordField, missing: Opaque) -> Instance:
    """What `dataclasses.fields()` and `msgspec.structs.fields()` give."""
    item = Instance(cls)
    item.d.update(
        {
            "name": field.name,
            "encode_name": field.name,
            "type": field.type,
            "default": missing if field.default is MISSING else field.default,
            "default_factory": missing if field.factory is MISSING else field.factory,
            "init": field.init,
            "repr": field.repr,
            "compare": field.compare,
            "hash": field.hash,
            "kw_only": field.keyword_only,
            "metadata": field.metadata if field.metadata is not None else {},
            "required": not field.has_default,
        }
    )
    return item
