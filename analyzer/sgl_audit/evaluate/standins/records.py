"""What dataclasses and msgspec structs share: fields with defaults and an initialiser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.values import (
    MISSING,
    Annotation,
    Class,
    Instance,
    Native,
    Opaque,
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


def initialiser(
    machine: Machine, cls: Class, fields: list[RecordField], object_set: bool
) -> Native:
    """`__init__` of a record class.

    Args:
        object_set: write around an interpreted `__setattr__` (frozen classes, structs).
    """
    ordered = [f for f in fields if f.init and not f.keyword_only]
    names = [f.name for f in ordered]
    keyword_only = {f.name for f in fields if f.init and f.keyword_only}

    def run(args: list[Value], kwargs: dict[str, Value]) -> None:
        owner, given = args[0], args[1:]
        if len(given) > len(names):
            raise machine.error(
                "TypeError", f"{cls.name}.__init__() takes {len(names) + 1} positional arguments"
            )
        values = dict(zip(names, given, strict=False))
        for name, value in kwargs.items():
            if name in values or (name not in names and name not in keyword_only):
                raise machine.error(
                    "TypeError",
                    f"{cls.name}.__init__() got an unexpected keyword argument {name!r}",
                )
            values[name] = value
        _check_required(machine, cls, fields, values)
        _store(machine, owner, fields, values, object_set)
        post = owner.cls.find("__post_init__")
        if post is not MISSING:
            extra = [values.get(f.name, f.default) for f in fields if f.init_only]
            machine.call(machine.bind(post, owner, owner.cls), extra, {})

    return Native(f"{cls.name}.__init__", run, raw=True, method=True)


def _check_required(
    machine: Machine, cls: Class, fields: list[RecordField], values: dict[str, Value]
) -> None:
    missing = [f.name for f in fields if f.init and not f.has_default and f.name not in values]
    if missing:
        listed = ", ".join(repr(name) for name in missing)
        raise machine.error(
            "TypeError",
            f"{cls.name}.__init__() missing {len(missing)} required positional argument: {listed}",
        )


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
    """`__eq__` by fields."""

    def run(args: list[Value], kwargs: dict[str, Value]) -> Value:
        one, other = args
        if not is_instance(other) or one.cls is not other.cls:
            return False
        for name in names:
            equal = one.d.get(name) == other.d.get(name)
            if equal is not True:
                return equal
        return True

    return Native("__eq__", run, raw=True, method=True)


def text(machine: Machine, names: list[str]) -> Native:
    """`__repr__` by fields."""

    def run(args: list[Value], kwargs: dict[str, Value]) -> Value:
        owner = args[0]
        inside = ", ".join(f"{name}={machine.part(owner.d.get(name), 0)}" for name in names)
        return f"{owner.cls.qualname}({inside})"

    return Native("__repr__", run, raw=True, method=True)


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
            "repr": True,
            "compare": True,
            "hash": None,
            "kw_only": field.keyword_only,
            "metadata": field.metadata if field.metadata is not None else {},
            "required": not field.has_default,
        }
    )
    return item
