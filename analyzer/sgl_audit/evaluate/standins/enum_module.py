"""`enum`.

Assumes: CPython 3.11's members, aliases, `auto()`, `_missing_`, `_generate_next_value_`, mixed-in
types and flags.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.classes import new_instance
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
        self.auto = Class("auto", (self.machine.object_class,), {}, "enum")
        root = self.machine.object_class
        self.base = Class("Enum", (root,), {}, "enum")
        self.base.data["on_subclass"] = self.on_subclass
        self.base.data["new"] = Native(
            "Enum", lambda args, kw: self.by_value(*args, **kw), raw=True
        )
        for name, function in {
            "__repr__": self._repr,
            "__str__": self._str,
            "__hash__": lambda item: hash(item.d["_name_"]),
        }.items():
            self.base.ns[name] = Native(name, lambda a, k, f=function: f(*a), raw=True, method=True)  # type: ignore[misc]
        self.base.ns["name"] = Property(Native("name", lambda a, k: a[0].d["_name_"], raw=True))
        self.base.ns["value"] = Property(Native("value", lambda a, k: a[0].d["_value_"], raw=True))

    def derived(self, name: str, kind: type) -> Class:
        """IntEnum, StrEnum, IntFlag."""
        cls = Class(name, (self.machine.types[kind], self.base), {}, "enum")
        cls.data["abstract"] = True
        text = Native("__str__", lambda a, k: str(a[0].d["_value_"]), raw=True, method=True)
        cls.ns["__str__"] = text
        return cls

    def _repr(self, item: Value) -> Value:
        return f"<{item.cls.name}.{item.d['_name_']}: {self.machine.part(item.d['_value_'], 0)}>"

    def _str(self, item: Value) -> Value:
        return f"{item.cls.name}.{item.d['_name_']}"

    def on_subclass(self, cls: Class, options: dict[str, Value]) -> None:
        """Collect the members of a new enum class."""
        cls.data["on_subclass"] = self.on_subclass
        # Calling an enum class looks a member up, whatever type is mixed in before it.
        cls.data["new"] = self.base.data["new"]
        members: dict[str, Value] = {}
        canonical: list[Value] = []
        values: list[Value] = []
        if cls.module.startswith("enum"):
            return
        for name, raw in list(cls.ns.items()):
            if not self._is_member(name, raw):
                continue
            value = self._value(cls, name, raw, values)
            values.append(value)
            known = next((m for m in canonical if _same(m.d["_value_"], value)), None)
            if known is None:
                known = self._member(cls, name, value)
                canonical.append(known)
            members[name] = known
            cls.ns[name] = known
        cls.data["members"] = members
        cls.data["canonical"] = canonical
        cls.ns["__members__"] = members
        cls.cache.clear()
        for member in canonical:
            init = cls.find("__init__")
            if isinstance(init, Function):
                value = member.d["_value_"]
                args = list(value) if isinstance(value, tuple) else [value]
                self.machine.call(init, [member, *args], {})

    def _is_member(self, name: str, raw: Value) -> bool:
        if name.startswith("_") or isinstance(raw, SKIPPED):
            return False
        return not (isinstance(raw, Instance) and raw.cls.find("__get__") is not MISSING)

    def _value(self, cls: Class, name: str, raw: Value, values: list[Value]) -> Value:
        if isinstance(raw, Instance) and raw.cls is self.auto:
            hook = cls.find("_generate_next_value_")
            if hook is not MISSING:
                function = hook.function if isinstance(hook, StaticMethod) else hook
                return self.machine.call(function, [name, 1, len(values), list(values)], {})
            if any(base.name == "StrEnum" for base in cls.mro):
                return name.lower()
            if any("Flag" in base.name for base in cls.mro[1:]):
                return 1 << len(values)
            numbers = [value for value in values if isinstance(value, int)]
            return (max(numbers) + 1) if numbers else 1
        return raw

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
            raise self.machine.error("TypeError", f"{cls.name}() missing value")
        if "members" not in cls.data or not cls.data["canonical"]:
            return self.functional(cls, *args, **kwargs)
        value = args[0]
        if isinstance(value, Unknown):
            return value.derive(f"{cls.name}({value.name})", "enum", cls.qualname)
        for member in cls.data["canonical"]:
            if member is value or _same(member.d["_value_"], value):
                return member
        hook = cls.find("_missing_")
        if hook is not MISSING:
            function = hook.function if isinstance(hook, ClassMethod) else hook
            found = self.machine.call(function, [cls, value], {})
            if found is not None:
                return found
        if any("Flag" in base.name for base in cls.mro) and isinstance(value, int):
            member = new_instance(cls, value) if cls.layout else Instance(cls)
            member.d.update({"_name_": None, "_value_": value})
            return member
        raise self.machine.error(
            "ValueError", f"{self.machine.as_repr(value)} is not a valid {cls.qualname}"
        )

    def functional(self, cls: Class, name: Value, names: Value = None, **kwargs: Value) -> Value:
        """`Enum("Name", names)`."""
        from sgl_audit.evaluate.classes import make_class

        if names is None:
            raise self.machine.error(
                "ValueError", f"{self.machine.as_repr(name)} is not a valid {cls.qualname}"
            )
        if isinstance(names, str):
            names = names.replace(",", " ").split()
        pairs = (
            names.items()
            if isinstance(names, dict)
            else [
                (item, index + 1) if isinstance(item, str) else tuple(item)
                for index, item in enumerate(names)
            ]
        )
        return make_class(self.machine, name, (cls,), dict(pairs), {})


def _same(a: Value, b: Value) -> bool:
    if a is b:
        return True
    equal = a == b
    return equal is True and (
        is_instance(a) or is_instance(b) or type(a) is type(b) or isinstance(a, (int, float))
    )


def _build(standins: Standins, module: Module) -> None:
    enums = Enums(standins)
    ns = module.ns
    ns["Enum"] = enums.base
    ns["IntEnum"] = enums.derived("IntEnum", int)
    ns["StrEnum"] = enums.derived("StrEnum", str)
    ns["IntFlag"] = enums.derived("IntFlag", int)
    ns["Flag"] = enums.derived("Flag", int)
    ns["EnumMeta"] = ns["EnumType"] = Class("EnumMeta", (standins.machine.types[type],), {}, "enum")
    ns["auto"] = enums.auto
    standins.define(
        module,
        raw=True,
        unique=lambda cls: cls,
        global_enum=lambda cls: cls,
        member=lambda value: value,
        nonmember=lambda value: value,
    )
    ns["property"] = standins.machine.types[Property]
    ns["KEEP"] = ns["STRICT"] = Opaque("enum boundary")


BUILDERS: dict[str, Any] = {"enum": _build}
