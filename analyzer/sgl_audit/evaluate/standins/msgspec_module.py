"""`msgspec` structs, and the little of pydantic that configuration code uses.

Assumes: msgspec's field order, defaults, `kw_only`, `frozen`, `__post_init__`, `defstruct`.
"""

from __future__ import annotations

import operator
from functools import partial
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.standins import records
from sgl_audit.evaluate.standins.records import RecordField
from sgl_audit.evaluate.values import (
    MISSING,
    Class,
    ClassMethod,
    Function,
    Instance,
    Module,
    Native,
    Opaque,
    Property,
    StaticMethod,
    Value,
    is_instance,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine
    from sgl_audit.evaluate.standins import Standins

NOT_FIELDS = (Function, StaticMethod, ClassMethod, Property)


def bind_struct(
    signature: records.Signature,
    machine: Machine,
    given: list[Value],
    kwargs: dict[str, Value],
) -> dict[str, Value]:
    """Arguments by name, with msgspec's own words where they do not fit."""
    if len(given) > len(signature.positional):
        raise machine.error("TypeError", "Extra positional arguments provided")
    values = dict(zip(signature.positional, given, strict=False))
    for name, value in kwargs.items():
        if name in values:
            text = f"Argument {name!r} given by name and position"
            raise machine.error("TypeError", text)
        if name not in signature.positional and name not in signature.keyword_only:
            raise machine.error("TypeError", f"Unexpected keyword argument {name!r}")
        values[name] = value
    for name in signature.required:
        if name not in values:
            raise machine.error("TypeError", f"Missing required argument {name!r}")
    return values


class Structs:
    """Struct classes."""

    def __init__(self, standins: Standins) -> None:
        self.standins = standins
        self.machine = standins.machine
        root = self.machine.object_class
        self.no_default = Opaque("msgspec.NODEFAULT")
        self.marker = Class("Field", (root,), {}, "msgspec")
        self.info = Class("FieldInfo", (root,), {}, "msgspec.structs")
        self.struct = Class("Struct", (root,), {}, "msgspec")
        self.struct.data["on_subclass"] = self.on_subclass
        self.struct.ns["__struct_fields__"] = ()

    def on_subclass(self, cls: Class, options: dict[str, Value]) -> None:
        """Collect the fields of a new struct class."""
        inherited: dict[str, RecordField] = {}
        settings: dict[str, Value] = {}
        for parent in reversed(cls.mro[1:]):
            inherited.update({f.name: f for f in parent.data.get("own", ())})
            settings.update(parent.data.get("settings", {}))
        names = (
            "frozen",
            "kw_only",
            "eq",
            "order",
            "dict",
            "omit_defaults",
            "gc",
            "tag",
            "tag_field",
            "forbid_unknown_fields",
            "rename",
            "array_like",
            "weakref",
            "repr_omit_defaults",
            "cache_hash",
        )
        own_settings = {name: options.pop(name) for name in names if name in options}
        settings.update({k: v for k, v in own_settings.items() if k != "kw_only"})
        cls.data["settings"] = settings
        own = self._own(cls, bool(own_settings.get("kw_only")))
        cls.data["own"] = own
        merged = {**inherited}
        for field in own:
            merged.pop(field.name, None)
            merged[field.name] = field
        fields = sorted(merged.values(), key=lambda f: f.keyword_only)
        cls.data["record"] = fields
        self._methods(cls, fields, settings)
        # Without dict=True an instance has room for its fields only.
        pure = all(p is self.struct or "own" in p.data for p in cls.mro[:-1])
        if pure and not settings.get("dict"):
            cls.data["slots"] = frozenset(f.name for f in fields)

    def _methods(self, cls: Class, fields: list[RecordField], settings: dict[str, Value]) -> None:
        listed = [f.name for f in fields]
        frozen, equal = bool(settings.get("frozen")), bool(settings.get("eq", True))
        cls.ns["__struct_fields__"] = tuple(listed)
        take = partial(bind_struct, records.Signature.of("", fields))
        start = records.initialiser(self.machine, cls, fields, True, take)
        cls.ns.setdefault("__init__", start)
        if equal:
            cls.ns.setdefault("__eq__", records.equality(listed))
            if not frozen:
                cls.ns.setdefault("__hash__", None)
        cls.ns.setdefault("__repr__", records.text(self.machine, listed, qualified=False))
        if settings.get("order"):
            for name in ("lt", "le", "gt", "ge"):
                function = getattr(operator, name)
                cls.ns[f"__{name}__"] = records.ordering(self.machine, listed, function)
        if frozen:
            cls.ns.setdefault(
                "__setattr__", Native("__setattr__", self._refuse, raw=True, method=True)
            )
            cls.ns.setdefault("__hash__", records.hashing(listed))
        cls.cache.clear()

    def _refuse(self, args: list[Value], kwargs: dict[str, Value]) -> None:
        raise self.machine.error("AttributeError", f"immutable type: {args[0].cls.name!r}")

    def _own(self, cls: Class, keyword_only: bool) -> list[RecordField]:
        fields = []
        for name, note in cls.ns.get("__annotations__", {}).items():
            if records.is_class_var(note):
                continue
            value = cls.ns.get(name, MISSING)
            if isinstance(value, NOT_FIELDS):
                value = MISSING
            field = self._field(name, note, value, keyword_only)
            if name in cls.ns:
                del cls.ns[name]
            fields.append(field)
        return fields

    def _field(self, name: str, note: Value, value: Value, keyword_only: bool) -> RecordField:
        if isinstance(value, Instance) and value.cls is self.marker:
            default = value.d["spec"].get("default", MISSING)
            factory = value.d["spec"].get("default_factory", MISSING)
        else:
            default, factory = value, MISSING
        if default is self.no_default:
            default = MISSING
        if factory is self.no_default:
            factory = MISSING
        if type(default) in (list, dict, set) and not default:
            factory, default = self.machine.types[type(default)], MISSING
        return RecordField(name, default, factory, keyword_only=keyword_only, type=note)

    def field(self, **spec: Value) -> Value:
        """`msgspec.field(...)`."""
        item = Instance(self.marker)
        item.d["spec"] = spec
        return item

    def fields(self, target: Value) -> Value:
        """`msgspec.structs.fields(x)`."""
        cls = target.cls if is_instance(target) else target
        found = cls.data.get("field_objects")
        if found is None:
            hints = cls.data.get("record", ())
            found = tuple(records.field_object(self.info, f, self.no_default) for f in hints)
            for item, field in zip(found, hints, strict=True):
                item.d["type"] = self.standins.typing.evaluate(field.type)
            cls.data["field_objects"] = found
        return found

    def as_dict(self, target: Value) -> Value:
        """`msgspec.structs.asdict(x)`."""
        return {f.name: target.d.get(f.name) for f in target.cls.data["record"]}

    def replace(self, target: Value, **changes: Value) -> Value:
        """`msgspec.structs.replace(x, **changes)`."""
        return self.machine.call(target.cls, [], {**self.as_dict(target), **changes})

    def force_setattr(self, target: Value, name: str, value: Value) -> None:
        """`msgspec.structs.force_setattr`."""
        self.machine.plain_setattr(target, name, value)

    def define(
        self,
        name: str,
        fields: Value,
        *,
        bases: Value = None,
        namespace: Value = None,
        module: Value = None,
        **options: Value,
    ) -> Value:
        """`msgspec.defstruct`."""
        from sgl_audit.evaluate.classes import make_class

        ns: dict[str, Value] = dict(namespace or {})
        notes: dict[str, Value] = {}
        for entry in self.machine.iterate(fields):
            parts = (entry,) if isinstance(entry, str) else tuple(entry)
            notes[parts[0]] = parts[1] if len(parts) > 1 else None
            if len(parts) > 2:
                ns[parts[0]] = parts[2]
        ns["__annotations__"] = notes
        if module is not None:
            ns["__module__"] = module
        parents = tuple(bases) if bases else (self.struct,)
        return make_class(self.machine, name, parents, ns, dict(options))


def _tools(standins: Standins) -> Structs:
    extra = standins.world.extra
    tools = extra.get("structs")
    if tools is None or tools.standins is not standins:
        tools = extra["structs"] = Structs(standins)
    return tools


def _msgspec(standins: Standins, module: Module) -> None:
    tools = _tools(standins)
    module.ns.update(
        {"Struct": tools.struct, "NODEFAULT": tools.no_default, "UNSET": Opaque("msgspec.UNSET")}
    )
    module.ns["UnsetType"] = Class("UnsetType", (standins.machine.object_class,), {}, "msgspec")
    standins.define(module, raw=True, field=tools.field, defstruct=tools.define)
    from sgl_audit.evaluate.standins.pure import exception_class

    module.ns["ValidationError"] = exception_class(standins, ValueError)


def _structs(standins: Standins, module: Module) -> None:
    tools = _tools(standins)
    standins.define(
        module,
        raw=True,
        fields=tools.fields,
        asdict=tools.as_dict,
        replace=tools.replace,
        force_setattr=tools.force_setattr,
        astuple=lambda target: tuple(tools.as_dict(target).values()),
    )


BUILDERS: dict[str, Any] = {"msgspec": _msgspec, "msgspec.structs": _structs}
