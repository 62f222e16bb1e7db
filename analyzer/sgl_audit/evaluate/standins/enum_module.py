"""`enum`.

Assumes: CPython 3.11's members, aliases, `auto()`, `_missing_`, `_generate_next_value_`, mixed-in
types and flags.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.classes import make_class, new_instance
from sgl_audit.evaluate.values import (
    MISSING,
    Cases,
    Class,
    ClassMethod,
    Function,
    Instance,
    Module,
    Native,
    Opaque,
    Property,
    StaticMethod,
    Unknown,
    Value,
    is_instance,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.standins import Standins

SKIPPED = (Function, Native, Property, StaticMethod, ClassMethod, Class)


class Enums:
    """Enum classes."""

    def __init__(self, standins: Standins) -> None:
        self.standins = standins
        self.machine = standins.machine
        root = self.machine.object_class
        self.auto = Class("auto", (root,), {}, "enum")
        self.marked = Class("nonmember", (root,), {}, "enum")
        for sign, name in (("BitOr", "or"), ("BitAnd", "and"), ("BitXor", "xor")):
            self.auto.ns[f"__{name}__"] = self._deferred(sign)
        self.meta = Class("EnumType", (self.machine.types[type],), {}, "enum")
        self._native(self.meta, "__getattr__", self._no_member)
        self._native(self.meta, "__contains__", self._in_class)
        self.base = Class("Enum", (root,), {}, "enum")
        self.base.meta = self.meta
        self.base.data["on_subclass"] = self.on_subclass
        self.lookup = Native("Enum", lambda args, kw: self.by_value(*args, **kw), raw=True)
        self.lookup.d["done"] = True
        self.base.data["new"] = self.lookup
        self._native(self.base, "__repr__", self._repr)
        self._native(self.base, "__str__", self._str)
        self._native(self.base, "__hash__", lambda item: hash(item.d["_name_"]))
        self._native(self.base, "__format__", self._format)
        self.base.ns["name"] = Property(Native("name", lambda a, k: a[0].d["_name_"], raw=True))
        self.base.ns["value"] = Property(Native("value", lambda a, k: a[0].d["_value_"], raw=True))
        self.flag = Class("Flag", (self.base,), {}, "enum")
        self._flag_methods()

    def _native(self, cls: Class, name: str, run: Callable[..., Value]) -> None:
        cls.ns[name] = Native(name, lambda args, kw: run(*args), raw=True, method=True)

    def derived(self, name: str, bases: tuple[Class, ...]) -> Class:
        """IntEnum, StrEnum, IntFlag: text and format are those of the mixed-in type."""
        cls = Class(name, bases, {}, "enum")
        cls.meta = self.meta
        cls.data.update({"abstract": True, "new": self.lookup})
        self._native(cls, "__str__", lambda item: str(item.d["_value_"]))
        self._native(cls, "__format__", self.machine.default_payload_format)
        return cls

    def _repr(self, item: Value) -> Value:
        name, value = item.d["_name_"], self.machine.piece(item.d["_value_"])
        shown = [f"<{item.cls.name}", "" if name is None else f".{name}", ": ", value, ">"]
        return self.machine.assemble(shown)

    def _str(self, item: Value) -> Value:
        name = item.d["_name_"]
        inside = f"({item.d['_value_']})" if name is None else f".{name}"
        return item.cls.name + inside

    def _format(self, item: Value, spec: Value) -> Value:
        return self.machine.format(self.machine.as_text(item), spec, "")

    def _no_member(self, cls: Class, name: Value) -> Value:
        raise self.machine.error("AttributeError", name)

    def _in_class(self, cls: Class, item: Value) -> Value:
        """`item in EnumClass`, as CPython 3.11 answers."""
        if isinstance(item, Unknown):
            return item.derive(f"{item.name} in {cls.name}", "in-enum", cls.qualname)
        if not is_instance(item) or self.base not in item.cls.mro:
            text = "unsupported operand type(s) for 'in': "
            text += f"{self.machine.type_name(item)!r} and 'EnumType'"
            raise self.machine.error("TypeError", text)
        return cls in item.cls.mro

    def _deferred(self, sign: str) -> Native:
        """`auto() | auto()` in a class body: computed when the members are made."""

        def combine(args: list[Value], kwargs: dict[str, Value]) -> Value:
            item = Instance(self.auto)
            item.d["parts"] = (sign, args[0], args[1])
            return item

        return Native(sign, combine, raw=True, method=True)

    def on_subclass(self, cls: Class, options: dict[str, Value]) -> None:
        """Collect the members of a new enum class."""
        cls.data["on_subclass"] = self.on_subclass
        # Calling an enum class looks a member up, whatever type is mixed in before it.
        cls.data["new"] = self.lookup
        options.pop("boundary", None)
        if cls.module.startswith("enum"):
            return
        for base in cls.mro[1:]:
            if base.data.get("canonical"):
                text = f"<enum {cls.name!r}> cannot extend <enum {base.name!r}>"
                raise self.machine.error("TypeError", text)
        members: dict[str, Value] = {}
        canonical: list[Value] = []
        values: list[Value] = []
        cls.data.update({"members": members, "canonical": canonical})
        for name, raw in list(cls.ns.items()):
            if isinstance(raw, Instance) and raw.cls is self.marked:
                cls.ns[name] = raw.d["value"]
            elif self._is_member(cls, name, raw):
                members[name] = cls.ns[name] = self._add(cls, name, raw, values)
        if self.flag in cls.mro:
            canonical[:] = [m for m in canonical if single_bit(m.d["_value_"])]
        cls.ns["__members__"] = members
        cls.cache.clear()

    def _add(self, cls: Class, name: str, raw: Value, values: list[Value]) -> Value:
        canonical, members = cls.data["canonical"], cls.data["members"]
        value = self._value(cls, name, raw, values)
        values.append(value)
        known = next((m for m in members.values() if _same(m.d["_value_"], value)), None)
        if known is not None:
            return known
        member = self._member(cls, name, value)
        canonical.append(member)
        init = cls.find("__init__")
        if isinstance(init, Function):
            args = list(value) if isinstance(value, tuple) else [value]
            self.machine.call(init, [member, *args], {})
        return member

    def _is_member(self, cls: Class, name: str, raw: Value) -> bool:
        reserved = name.startswith("_") and name.endswith("_")
        private = name.startswith(f"_{cls.name.lstrip('_')}__")
        if reserved or private or isinstance(raw, SKIPPED):
            return False
        return not (isinstance(raw, Instance) and raw.cls.find("__get__") is not MISSING)

    def _value(self, cls: Class, name: str, raw: Value, values: list[Value]) -> Value:
        if isinstance(raw, tuple):
            return tuple(self._value(cls, name, item, values) for item in raw)
        if not (isinstance(raw, Instance) and raw.cls is self.auto):
            return raw
        if "value" not in raw.d:
            raw.d["value"] = self._automatic(cls, name, raw, values)
        return raw.d["value"]

    def _automatic(self, cls: Class, name: str, raw: Instance, values: list[Value]) -> Value:
        if "parts" in raw.d:
            sign, one, other = raw.d["parts"]
            left = self._value(cls, name, one, values)
            return self.machine.binary(sign, left, self._value(cls, name, other, values))
        hook = cls.find("_generate_next_value_")
        if hook is not MISSING:
            function = hook.function if isinstance(hook, StaticMethod) else hook
            return self.machine.call(function, [name, 1, len(values), list(values)], {})
        if any(base.name == "StrEnum" for base in cls.mro):
            return name.lower()
        numbers = [value for value in values if isinstance(value, int)]
        if self.flag in cls.mro:
            return 1 << max(numbers, default=0).bit_length()
        return max(numbers) + 1 if numbers else 1

    def _member(self, cls: Class, name: str, value: Value) -> Value:
        maker = next(
            (p.ns["__new__"] for p in cls.mro if isinstance(p.ns.get("__new__"), Function)), None
        )
        if maker is not None:
            args = list(value) if isinstance(value, tuple) else [value]
            member = self.machine.call(maker, [cls, *args], {})
            member.d.setdefault("_value_", value)
        elif cls.layout is not None and not isinstance(value, Unknown):
            member = new_instance(cls, value)
            # A tuple holds the arguments of the mixed-in type; the value is what that type makes.
            mixed = isinstance(value, tuple) and cls.layout is not tuple
            member.d["_value_"] = cls.layout(*value) if mixed else value
        else:
            member = Instance(cls)
            member.d["_value_"] = value
        member.d["_name_"] = name
        return member

    def by_value(self, cls: Class, *args: Value, **kwargs: Value) -> Value:
        """`EnumClass(value)`."""
        if not args:
            text = f"{cls.name}.__call__() missing 1 required positional argument: 'value'"
            raise self.machine.error("TypeError", text)
        if not cls.data.get("members"):
            return self.functional(cls, *args, **kwargs)
        value = args[0]
        if isinstance(value, Cases):
            return self.machine.fork_case(value, lambda case: self.by_value(cls, case))
        if isinstance(value, Unknown):
            return value.derive(f"{cls.name}({value.name})", "enum", cls.qualname)
        for member in cls.data["members"].values():
            if member is value or _same(member.d["_value_"], value):
                return member
        hook = cls.find("_missing_")
        if hook is not MISSING:
            function = hook.function if isinstance(hook, ClassMethod) else hook
            found = self.machine.call(function, [cls, value], {})
            if found is not None:
                return found
        if self.flag in cls.mro and isinstance(value, int):
            return self.combined(cls, value)
        shown = self.machine.as_repr(value)
        text = self.machine.assemble([shown, f" is not a valid {cls.qualname}"])
        raise self.machine.error("ValueError", text)

    def combined(self, cls: Class, value: int) -> Value:
        """The flag of several bits; each is made once."""
        for member in cls.data["members"].values():
            if member.d["_value_"] == value:
                return member
        every = all_bits(cls)
        if value < 0:
            value += every + 1
            return self.by_value(cls, value)
        if value & ~every and int not in (cls.layout,):
            text = f"<flag {cls.name!r}> invalid value {value!r}"
            raise self.machine.error("ValueError", text)
        table = cls.data.setdefault("combined", {})
        if value not in table:
            self.machine.touch(table)
            member = new_instance(cls, value) if cls.layout else Instance(cls)
            parts = [m.d["_name_"] for m in cls.data["canonical"] if m.d["_value_"] & value]
            name = "|".join(parts) if parts and not value & ~every else None
            member.d.update({"_name_": name, "_value_": value})
            table[value] = member
        return table[value]

    def _flag_methods(self) -> None:
        """Operators of flags; those of IntFlag take numbers too."""

        def number(cls: Class, item: Value) -> Value:
            if is_instance(item) and cls in item.cls.mro:
                return item.d["_value_"]
            return item if cls.layout is int and isinstance(item, int) else NotImplemented

        def operate(sign: str) -> Callable[..., Value]:
            def run(item: Value, other: Value) -> Value:
                value = number(item.cls, other)
                if value is NotImplemented:
                    return NotImplemented
                result = self.machine.binary(sign, int(item.d["_value_"]), int(value))
                return self.combined(item.cls, result)

            return run

        for name, sign in (("or", "BitOr"), ("and", "BitAnd"), ("xor", "BitXor")):
            self._native(self.flag, f"__{name}__", operate(sign))
            self._native(self.flag, f"__r{name}__", operate(sign))

        def contains(item: Value, other: Value) -> Value:
            value = number(item.cls, other)
            if value is NotImplemented:
                text = "unsupported operand type(s) for 'in'"
                raise self.machine.error("TypeError", text)
            return value & item.d["_value_"] == value

        def parts(item: Value) -> Value:
            return [m for m in item.cls.data["canonical"] if m.d["_value_"] & item.d["_value_"]]

        self._native(self.flag, "__contains__", contains)
        self._native(self.flag, "__iter__", parts)
        self._native(self.flag, "__len__", lambda item: len(parts(item)))
        self._native(self.flag, "__bool__", lambda item: bool(item.d["_value_"]))
        self._native(
            self.flag,
            "__invert__",
            lambda item: self.combined(item.cls, all_bits(item.cls) & ~item.d["_value_"]),
        )

    def functional(self, cls: Class, name: Value, names: Value = None, **kwargs: Value) -> Value:
        """`Enum("Name", names)`."""
        if names is None:
            shown = self.machine.as_repr(name)
            text = self.machine.assemble([shown, f" is not a valid {cls.qualname}"])
            raise self.machine.error("ValueError", text)
        if isinstance(names, str):
            names = names.replace(",", " ").split()
        if isinstance(names, dict):
            pairs = dict(names)
        else:
            start = kwargs.get("start", 1)
            pairs = dict(
                (item, index + start) if isinstance(item, str) else tuple(item)
                for index, item in enumerate(self.machine.iterate(names))
            )
        return make_class(self.machine, name, (cls,), pairs, {})

    def unique(self, cls: Value) -> Value:
        """`@unique`."""
        doubled = [
            f"{name} -> {member.d['_name_']}"
            for name, member in cls.data.get("members", {}).items()
            if member.d["_name_"] != name
        ]
        if doubled:
            text = f"duplicate values found in <enum {cls.name!r}>: {', '.join(doubled)}"
            raise self.machine.error("ValueError", text)
        return cls

    def non_member(self, value: Value) -> Value:
        """`nonmember(value)`."""
        item = Instance(self.marked)
        item.d["value"] = value
        return item


def single_bit(value: Value) -> bool:
    """Whether a flag is one bit: others are aliases and are not listed."""
    return not isinstance(value, int) or (value > 0 and not value & (value - 1))


def all_bits(cls: Class) -> int:
    """All bits that a flag class names."""
    bits = 0
    for member in cls.data["members"].values():
        bits |= member.d["_value_"]
    return bits


def _same(a: Value, b: Value) -> bool:
    if a is b:
        return True
    equal = a == b
    return equal is True and (
        is_instance(a) or is_instance(b) or type(a) is type(b) or isinstance(a, (int, float))
    )


def _build(standins: Standins, module: Module) -> None:
    enums = Enums(standins)
    types = standins.machine.types
    ns = module.ns
    ns["Enum"] = enums.base
    ns["ReprEnum"] = enums.derived("ReprEnum", (enums.base,))
    ns["IntEnum"] = enums.derived("IntEnum", (types[int], enums.base))
    ns["StrEnum"] = enums.derived("StrEnum", (types[str], enums.base))
    ns["Flag"] = enums.flag
    enums.flag.meta = enums.meta
    enums.flag.data["new"] = enums.lookup
    # The operators of flags come before those of int.
    ns["IntFlag"] = enums.derived("IntFlag", (types[int], enums.flag))
    ns["EnumMeta"] = ns["EnumType"] = enums.meta
    ns["auto"] = enums.auto
    standins.define(
        module,
        raw=True,
        unique=enums.unique,
        global_enum=lambda cls: cls,
        member=lambda value: value,
        nonmember=enums.non_member,
        verify=lambda *checks: standins.native("identity", lambda cls: cls, raw=True),
    )
    ns["property"] = types[Property]
    for name in ("KEEP", "STRICT", "CONFORM", "EJECT", "UNIQUE", "CONTINUOUS", "NAMED_FLAGS"):
        ns[name] = Opaque(f"enum.{name}")


BUILDERS: dict[str, Any] = {"enum": _build}
