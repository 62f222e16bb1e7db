"""`dataclasses`.

Assumes: CPython's own behaviour for fields, inheritance, keyword-only, frozen and `__post_init__`.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.standins import copying, records
from sgl_audit.evaluate.standins.records import RecordField
from sgl_audit.evaluate.values import (
    MISSING,
    Annotation,
    Class,
    Instance,
    Module,
    Native,
    Opaque,
    Property,
    Value,
    is_instance,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.standins import Standins


class Dataclasses:
    """The module's functions."""

    def __init__(self, standins: Standins) -> None:
        self.standins = standins
        self.machine = standins.machine
        self.missing = Opaque("dataclasses.MISSING")
        self.marker = Class("Field", (self.machine.object_class,), {}, "dataclasses")
        self.marker.ns["type"] = Property(Native("type", _shown_type, raw=True))
        attribute_error = self.machine.exceptions["AttributeError"]
        self.frozen_error = Class("FrozenInstanceError", (attribute_error,), {}, "dataclasses")
        self.machine.exceptions.setdefault("FrozenInstanceError", self.frozen_error)

    def decorate(self, cls: Value = None, **options: Value) -> Value:
        """`@dataclass` with or without options."""
        if cls is None:
            return self.standins.native(
                "dataclass", lambda target: self.process(target, options), raw=True
            )
        return self.process(cls, options)

    def process(self, cls: Value, options: dict[str, Value]) -> Value:
        """Turn a class into a dataclass."""
        if not isinstance(cls, Class):
            return cls
        fields = self._inherited(cls)
        own = self._own_fields(cls, bool(options.get("kw_only")))
        fields.update(own)
        listed = list(fields.values())
        self._check_order(listed)
        cls.data["record"] = listed
        cls.ns["__dataclass_fields__"] = {
            name: records.field_object(self.marker, field, self.missing)
            for name, field in fields.items()
        }
        parameters = Instance(Class("_DataclassParams", (self.machine.object_class,), {}))
        defaults = {"init": True, "repr": True, "eq": True, "order": False, "frozen": False}
        parameters.d.update({**defaults, "unsafe_hash": False, **options})
        cls.ns["__dataclass_params__"] = parameters
        self._methods(cls, listed, options)
        if options.get("slots") and cls.layout is None and cls.opaque_base is None:
            cls.data["slots"] = frozenset(f.name for f in listed)
        cls.forget()
        return cls

    def _check_order(self, fields: list[RecordField]) -> None:
        seen_default = False
        for field in fields:
            if not field.init or field.keyword_only:
                continue
            if field.has_default:
                seen_default = True
            elif seen_default:
                text = f"non-default argument {field.name!r} follows default argument"
                raise self.machine.error("TypeError", text)

    def _methods(self, cls: Class, fields: list[RecordField], options: dict[str, Value]) -> None:
        machine = self.machine
        frozen, equal = bool(options.get("frozen")), bool(options.get("eq", True))
        real = [f for f in fields if not f.init_only]
        compared = [f.name for f in real if f.compare]
        if options.get("init", True) and "__init__" not in cls.ns:
            ordered = sorted(fields, key=lambda f: f.keyword_only)
            cls.ns["__init__"] = records.initialiser(machine, cls, ordered, frozen)
        explicit = cls.ns.get("__hash__") is not None
        if equal and "__eq__" not in cls.ns:
            cls.ns["__eq__"] = records.equality(compared)
        hashed = [f.name for f in real if (f.compare if f.hash is None else f.hash)]
        if options.get("unsafe_hash") or (equal and frozen and not explicit):
            cls.ns["__hash__"] = records.hashing(hashed)
        elif equal and not frozen and not explicit:
            cls.ns["__hash__"] = None
        if options.get("repr", True) and "__repr__" not in cls.ns:
            cls.ns["__repr__"] = records.text(machine, [f.name for f in real if f.repr])
        if options.get("order"):
            for name in ("lt", "le", "gt", "ge"):
                cls.ns[f"__{name}__"] = records.ordering(machine, compared, getattr(operator, name))
        if frozen:
            cls.ns.setdefault("__setattr__", self._frozen("__setattr__", "assign to"))
            cls.ns.setdefault("__delattr__", self._frozen("__delattr__", "delete"))

    def _frozen(self, name: str, verb: str) -> Native:
        def refuse(args: list[Value], kwargs: dict[str, Value]) -> None:
            raised = self.machine.error("AttributeError", f"cannot {verb} field {args[1]!r}")
            raised.value.cls = self.frozen_error
            raise raised

        return Native(name, refuse, raw=True, method=True)

    def _inherited(self, cls: Class) -> dict[str, RecordField]:
        fields: dict[str, RecordField] = {}
        for parent in reversed(cls.mro[1:]):
            for field in parent.data.get("record", ()):
                fields[field.name] = field
        return fields

    def _own_fields(self, cls: Class, keyword_only: bool) -> dict[str, RecordField]:
        fields: dict[str, RecordField] = {}
        for name, note in cls.ns.get("__annotations__", {}).items():
            text = records.annotation_text(note)
            if records.is_class_var(note):
                continue
            if "KW_ONLY" in text:
                keyword_only = True
                continue
            fields[name] = self._field(cls, name, note, keyword_only)
        return fields

    def _field(self, cls: Class, name: str, note: Value, keyword_only: bool) -> RecordField:
        value = cls.ns.get(name, MISSING)
        init_only = records.annotation_text(note).startswith(("InitVar", "dataclasses.InitVar"))
        if isinstance(value, Instance) and value.cls is self.marker:
            spec = value.d["spec"]
            field = RecordField(
                name,
                spec.get("default", MISSING),
                spec.get("default_factory", MISSING),
                bool(spec.get("init", True)),
                bool(spec.get("kw_only", keyword_only)),
                spec.get("metadata"),
                init_only,
                note,
                bool(spec.get("repr", True)),
                bool(spec.get("compare", True)),
                spec.get("hash"),
            )
            if field.default is MISSING:
                cls.ns.pop(name)
            else:
                cls.ns[name] = field.default
            return field
        mutable = is_instance(value) and value.cls.find("__hash__") is None
        if isinstance(value, (list, dict, set)) or mutable:
            shown = self.machine.as_repr(self.machine.type_of(value))
            text = f"mutable default {shown} for field {name} is not allowed: use default_factory"
            raise self.machine.error("ValueError", text)
        return RecordField(name, value, keyword_only=keyword_only, init_only=init_only, type=note)

    def field(self, **spec: Value) -> Value:
        """`field(...)`."""
        item = Instance(self.marker)
        item.d["spec"] = spec
        return item

    def fields(self, target: Value) -> Value:
        """`fields(x)`."""
        cls = target.cls if is_instance(target) else target
        listed = cls.data.get("record") if isinstance(cls, Class) else None
        if listed is None:
            for parent in cls.mro if isinstance(cls, Class) else ():
                listed = parent.data.get("record", listed)
        if listed is None:
            raise self.machine.error(
                "TypeError", "must be called with a dataclass type or instance"
            )
        return tuple(cls.find("__dataclass_fields__")[f.name] for f in listed if not f.init_only)

    def is_dataclass(self, target: Value) -> Value:
        """`is_dataclass(x)`."""
        cls = target.cls if is_instance(target) else target
        return isinstance(cls, Class) and cls.find("__dataclass_fields__") is not MISSING

    def as_dict(self, target: Value, *, dict_factory: Value = None) -> Value:
        """`asdict(x)`."""
        pairs = [
            (f.d["name"], self._plain(self.machine.getattr(target, f.d["name"]), dict_factory))
            for f in self.fields(target)
        ]
        return dict(pairs) if dict_factory is None else self.machine.call(dict_factory, [pairs], {})

    def _plain(self, value: Value, factory: Value = None) -> Value:
        if is_instance(value) and self.is_dataclass(value):
            return self.as_dict(value, dict_factory=factory)
        if type(value) in (list, tuple):
            return type(value)(self._plain(item, factory) for item in value)
        if type(value) is dict:
            return {
                self._plain(key, factory): self._plain(item, factory) for key, item in value.items()
            }
        return copying.deep(self.machine, value)

    def replace(self, target: Value, **changes: Value) -> Value:
        """`replace(x, **changes)`."""
        values = {
            f.d["name"]: self.machine.getattr(target, f.d["name"])
            for f in self.fields(target)
            if f.d["init"]
        }
        return self.machine.call(target.cls, [], {**values, **changes})

    def make(
        self, name: str, fields: Value, bases: Value = (), namespace: Value = None, **options: Value
    ) -> Value:
        """`make_dataclass`."""
        from sgl_audit.evaluate.classes import make_class

        ns: dict[str, Value] = dict(namespace or {})
        notes: dict[str, Value] = {}
        for entry in fields:
            parts = (entry, "Any") if isinstance(entry, str) else tuple(entry)
            notes[parts[0]] = parts[1] if len(parts) > 1 else "Any"
            if len(parts) > 2:
                ns[parts[0]] = parts[2]
        ns["__annotations__"] = notes
        cls = make_class(self.machine, name, tuple(bases), ns, {})
        return self.process(cls, options)


def _shown_type(args: list[Value], kwargs: dict[str, Value]) -> Value:
    note = args[0].d["type"]
    return note.shown() if isinstance(note, Annotation) else note


def _build(standins: Standins, module: Module) -> None:
    tools = Dataclasses(standins)
    standins.define(
        module,
        raw=True,
        dataclass=tools.decorate,
        field=tools.field,
        fields=tools.fields,
        is_dataclass=tools.is_dataclass,
        asdict=tools.as_dict,
        astuple=lambda target: tuple(tools.as_dict(target).values()),
        replace=tools.replace,
        make_dataclass=tools.make,
    )
    module.ns["MISSING"] = tools.missing
    module.ns["Field"] = tools.marker
    module.ns["InitVar"] = standins.typing.form("InitVar")
    module.ns["KW_ONLY"] = Opaque("KW_ONLY")
    module.ns["FrozenInstanceError"] = tools.frozen_error


BUILDERS: dict[str, Any] = {"dataclasses": _build}
