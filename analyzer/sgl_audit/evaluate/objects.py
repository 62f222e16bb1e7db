"""Attributes, items and operators on interpreter values."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.expressions import OPERATORS
from sgl_audit.evaluate.values import (
    INSTANCE_TYPES,
    MISSING,
    Bound,
    Cases,
    Class,
    ClassMethod,
    Function,
    Instance,
    Lazy,
    Missing,
    Module,
    Native,
    Opaque,
    Property,
    Raised,
    StaticMethod,
    Super,
    Undecidable,
    Unknown,
    Value,
    freeze,
    is_instance,
    short,
)

_BY_NAME: dict[str, Callable[[Any, Any], Any]] = {
    kind.__name__: function for kind, function in OPERATORS.items()
}
_DUNDER = {
    "Add": "add",
    "Sub": "sub",
    "Mult": "mul",
    "Div": "truediv",
    "FloorDiv": "floordiv",
    "Mod": "mod",
    "Pow": "pow",
    "LShift": "lshift",
    "RShift": "rshift",
    "BitOr": "or",
    "BitXor": "xor",
    "BitAnd": "and",
    "MatMult": "matmul",
}
_INPLACE = {"Add": operator.iadd, "BitOr": operator.ior, "Mult": operator.imul}
SIZE_BUDGET = 1_000_000


class Objects:
    """The data model of Python, on interpreter values."""

    touch: Any
    imports: Any
    types: dict[type, Class]
    tracer: Any
    if TYPE_CHECKING:
        error: Any
        convert: Any
        call: Any
        call_method: Any
        iterate: Any
        force: Any
        as_text: Any

    def __init__(self) -> None:
        self.methods: dict[type, dict[str, Any]] = {}
        self.hosts: dict[type, Any] = {}
        super().__init__()

    def type_of(self, value: Value) -> Value:
        """The class of a value as `type(value)` gives it."""
        if isinstance(value, INSTANCE_TYPES):
            return value.cls
        if isinstance(value, Class):
            return value.meta or self.types[type]
        found = self.types.get(value.__class__)
        if found is not None:
            return found
        if isinstance(value, Unknown):
            return value.derive(f"type({value.name})", "type")
        if isinstance(value, Opaque):
            return Opaque(f"type({value.name})")
        return Opaque(type(value).__name__)

    def type_name(self, value: Value) -> str:
        """The name of the class of a value, for messages."""
        kind = self.type_of(value)
        return kind.name if isinstance(kind, (Class, Opaque, Unknown)) else type(value).__name__

    def getattr(self, owner: Value, name: str) -> Value:
        """`owner.name`."""
        value = self.lookup(owner, name)
        if value is MISSING:
            raise self.attribute_error(owner, name)
        return value

    def attribute_error(self, owner: Value, name: str) -> Raised:
        """The AttributeError of a failed look-up."""
        if isinstance(owner, Module):
            return self.error("AttributeError", f"module {owner.name!r} has no attribute {name!r}")
        if isinstance(owner, Class):
            return self.error(
                "AttributeError", f"type object {owner.name!r} has no attribute {name!r}"
            )
        return self.error(
            "AttributeError", f"{self.type_name(owner)!r} object has no attribute {name!r}"
        )

    def lookup(self, owner: Value, name: str) -> Value:
        """`owner.name`, or MISSING. A `__getattr__` of the program may still raise."""
        kind = owner.__class__
        if kind is Instance:
            return self.instance_attribute(owner, name)
        if kind is Module:
            return self.module_attribute(owner, name)
        if kind is Class:
            return self.class_attribute(owner, name)
        if isinstance(owner, Unknown):
            return self.unknown_attribute(owner, name)
        if kind is Opaque:
            return self.imports.opaque_attribute(owner, name)
        if is_instance(owner):
            found = self.instance_attribute(owner, name)
            if found is not MISSING:
                return found
        if kind is Super:
            return self.super_attribute(owner, name)
        return self.other_attribute(owner, name)

    def unknown_attribute(self, owner: Unknown, name: str) -> Value:
        """An attribute of something unknown."""
        if isinstance(owner, Cases):
            return owner.map(lambda item: MISSING if item is MISSING else self.lookup(item, name))
        return Unknown(f"{owner.name}.{name}", owner.reason, ("attr", owner.key, name), owner.kind)

    def instance_attribute(self, owner: Value, name: str) -> Value:
        """Attribute of an instance: hooks, data descriptors, own values, class values."""
        cls = owner.cls
        if not cls.finals:
            getter = cls.find("__getattribute__")
            if getter is not MISSING and isinstance(getter, Function):
                return self.hooked_attribute(owner, name, getter)
            cls.finals = True
        return self.plain_attribute(owner, name)

    def hooked_attribute(self, owner: Value, name: str, getter: Function) -> Value:
        """Attribute through an interpreted `__getattribute__`."""
        try:
            return self.call(getter, [owner, name], {})
        except Raised as raised:
            if raised.value.cls.name != "AttributeError":
                raise
            fallback = owner.cls.find("__getattr__")
            if fallback is MISSING:
                raise
            return self.call(fallback, [owner, name], {})

    def plain_attribute(self, owner: Value, name: str, use_getattr: bool = True) -> Value:
        """`object.__getattribute__`, then `__getattr__` where wanted."""
        cls = owner.cls
        hit = cls.find(name)
        own = owner.d
        if hit is not MISSING:
            kind = hit.__class__
            if kind is Property:
                if hit.cached:
                    if name in own:
                        return own[name]
                    value = self.call(hit.getter, [owner], {})
                    self.touch(own)
                    own[name] = value
                    return value
                return self.call(hit.getter, [owner], {})
            if kind is Instance and hit.cls.find("__set__") is not MISSING:
                getter = hit.cls.find("__get__")
                if getter is not MISSING:
                    return self.call(getter, [hit, owner, cls], {})
            if name in own:
                value = own[name]
                return self._forced(own, name, value)
            return self.bind(self._forced_class(cls, name, hit), owner, cls)
        value = own.get(name, MISSING)
        if value is not MISSING:
            return self._forced(own, name, value)
        special = self.special_attribute(owner, name)
        if special is not MISSING:
            return special
        if use_getattr:
            fallback = cls.find("__getattr__")
            if fallback is not MISSING:
                return self.call(self.bind(fallback, owner, cls), [name], {})
        if cls.opaque_base is not None:
            return Unknown(
                f"{cls.name}.{name}",
                f"{cls.name} derives from {short(cls.opaque_base)}, which lies outside the tree",
                ("opaque-base", id(owner), name),
                "external",
            )
        return MISSING

    def special_attribute(self, owner: Value, name: str) -> Value:
        """`__class__`, `__dict__`, `args` and methods every object has."""
        if name == "__class__":
            return owner.cls
        if name == "__dict__":
            return owner.d
        method = self.object_methods.get(name)
        if method is not None:
            return Bound(method, owner)
        return MISSING

    object_methods: dict[str, Native]

    def _forced(self, holder: dict[str, Value], name: str, value: Value) -> Value:
        return self.force(holder, name, value) if value.__class__ is Lazy else value

    def _forced_class(self, cls: Class, name: str, value: Value) -> Value:
        if value.__class__ is not Lazy:
            return value
        for parent in cls.mro:
            if name in parent.ns:
                cls.cache.pop(name, None)
                return self.force(parent.ns, name, value)
        return value

    def bind(self, value: Value, owner: Value, cls: Class) -> Value:
        """What a class attribute becomes when read through an instance."""
        kind = value.__class__
        if kind is Function:
            return Bound(value, owner)
        if kind is Native:
            return Bound(value, owner) if value.method else value
        if kind is StaticMethod:
            return value.function
        if kind is ClassMethod:
            return Bound(value.function, cls)
        if kind is Property:
            return self.call(value.getter, [owner], {})
        if kind is Instance:
            getter = value.cls.find("__get__")
            if getter is not MISSING:
                return self.call(getter, [value, owner, cls], {})
        return value

    def class_attribute(self, cls: Class, name: str) -> Value:
        """Attribute of a class."""
        hit = cls.find(name)
        if hit is not MISSING:
            hit = self._forced_class(cls, name, hit)
            kind = hit.__class__
            if kind is StaticMethod:
                return hit.function
            if kind is ClassMethod:
                return Bound(hit.function, cls)
            if kind is Instance:
                getter = hit.cls.find("__get__")
                if getter is not MISSING:
                    return self.call(getter, [hit, None, cls], {})
            return hit
        special = self._class_special(cls, name)
        if special is not MISSING:
            return special
        if cls.meta is not None:
            hit = cls.meta.find(name)
            if hit is not MISSING:
                return self.bind(hit, cls, cls.meta)
            hook = cls.meta.find("__getattr__")
            if hook is not MISSING:
                return self.call(self.bind(hook, cls, cls.meta), [name], {})
        method = self.native_method_of_class(cls, name)
        if method is not None:
            return method
        if name in self.object_methods:
            return self.object_methods[name]
        if cls.opaque_base is not None:
            return Unknown(f"{cls.name}.{name}", f"{short(cls.opaque_base)} lies outside the tree")
        return MISSING

    def _class_special(self, cls: Class, name: str) -> Value:
        match name:
            case "__name__":
                return cls.name
            case "__qualname__":
                return cls.qualname
            case "__mro__":
                return cls.mro
            case "__bases__":
                return cls.bases
            case "__dict__":
                return cls.ns
            case "__class__":
                return cls.meta or self.types[type]
            case "__module__":
                return cls.module
            case "__annotations__":
                if "__annotations__" not in cls.ns:
                    cls.ns["__annotations__"] = {}
                return cls.ns["__annotations__"]
            case "__subclasses__":
                return Native("__subclasses__", lambda args, kwargs: [])
            case "mro":
                return Native("mro", lambda args, kwargs: list(cls.mro))
        return MISSING

    def super_attribute(self, owner: Super, name: str) -> Value:
        """Attribute through `super()`."""
        target = owner.owner
        cls = target if isinstance(target, Class) else target.cls
        after = cls.mro[cls.mro.index(owner.after) + 1 :] if owner.after in cls.mro else cls.mro[1:]
        for parent in after:
            if name in parent.ns:
                hit = parent.ns[name]
                if isinstance(target, Class):
                    if isinstance(hit, ClassMethod):
                        return Bound(hit.function, target)
                    return hit.function if isinstance(hit, StaticMethod) else hit
                return self.bind(hit, target, cls)
            if "new" in parent.data and name == "__new__":
                return parent.data["new"]
        if not isinstance(target, Class):
            method = self.native_method(target, name)
            if method is not None:
                return self.bound_native(method, target, name)
        method = self.object_methods.get(name)
        if method is not None:
            return Bound(method, target) if name != "__new__" else method
        if cls.opaque_base is not None:
            return Opaque(f"{short(cls.opaque_base)}.{name}")
        return MISSING

    def module_attribute(self, module: Module, name: str) -> Value:
        """Attribute of a module: its names, submodules, then `__getattr__`."""
        self.imports.ensure(module)
        value = module.ns.get(name, MISSING)
        if value is not MISSING:
            return self._forced(module.ns, name, value)
        return self.imports.missing_attribute(module, name)

    def other_attribute(self, owner: Value, name: str) -> Value:
        """Attributes of functions, natives and plain Python values."""
        kind = owner.__class__
        if kind in (Function, Native):
            if name in owner.d:
                return owner.d[name]
            return self.function_attribute(owner, name)
        if kind is Bound:
            if name == "__self__":
                return owner.self
            if name == "__func__":
                return owner.function
            return self.lookup(owner.function, name)
        if kind is Property:
            return self.property_attribute(owner, name)
        if name == "__class__":
            return self.type_of(owner)
        method = self.native_method(owner, name)
        if method is not None:
            return self.bound_native(method, owner, name)
        host = self.host_attribute(owner, name)
        if host is not MISSING:
            return host
        if name in self.object_methods:
            return Bound(self.object_methods[name], owner)
        return MISSING

    def function_attribute(self, owner: Value, name: str) -> Value:
        """`__name__`, `__wrapped__` and the like."""
        match name:
            case "__name__":
                return owner.name.rsplit(".", 1)[-1]
            case "__qualname__":
                return getattr(owner, "qualname", owner.name)
            case "__module__":
                return getattr(owner, "module", "builtins")
            case "__doc__":
                return None
            case "__dict__":
                return owner.d
            case "__call__":
                return owner
            case "__annotations__":
                return {}
            case "__defaults__":
                return getattr(owner, "defaults", None) or None
            case "__get__":
                return Native(
                    "__get__",
                    lambda args, kw: Bound(owner, args[0]) if args[0] is not None else owner,
                )
        return MISSING

    def property_attribute(self, owner: Property, name: str) -> Value:
        """`@x.setter` and `@x.getter`."""
        match name:
            case "setter":
                return Native(
                    "setter", lambda args, kw: Property(owner.getter, args[0], owner.cached)
                )
            case "getter":
                return Native(
                    "getter", lambda args, kw: Property(args[0], owner.setter, owner.cached)
                )
            case "fget":
                return owner.getter
            case "fset":
                return owner.setter
            case "func":
                return owner.getter
        return MISSING

    def setattr(self, owner: Value, name: str, value: Value) -> None:
        """`owner.name = value`."""
        kind = owner.__class__
        if kind is Instance or (kind not in (Class, Module) and is_instance(owner)):
            setter = owner.cls.find("__setattr__")
            if setter is not MISSING:
                self.call(self.bind(setter, owner, owner.cls), [name, value], {})
                return
            self.plain_setattr(owner, name, value)
        elif kind is Class:
            self.set_class_attribute(owner, name, value)
        elif kind is Module:
            self.imports.ensure(owner)
            self.touch(owner.ns)
            owner.ns[name] = value
        elif kind in (Function, Native, Opaque):
            self.touch(owner.d)
            owner.d[name] = value
        elif kind is Bound:
            self.setattr(owner.function, name, value)
        elif isinstance(owner, Unknown):
            return
        else:
            self.host_setattr(owner, name, value)

    def set_class_attribute(self, cls: Class, name: str, value: Value) -> None:
        """Write to a class; look-ups through it and its heirs are forgotten."""
        self.touch(cls.ns)
        cls.ns[name] = value
        cls.forget()

    def plain_setattr(self, owner: Value, name: str, value: Value) -> None:
        """`object.__setattr__`: data descriptors first, then the instance."""
        hit = owner.cls.find(name)
        if hit.__class__ is Property:
            if hit.cached:
                pass
            elif hit.setter is None:
                raise self.error("AttributeError", f"can't set attribute {name!r}")
            else:
                self.call(hit.setter, [owner, value], {})
                return
        elif hit.__class__ is Instance:
            setter = hit.cls.find("__set__")
            if setter is not MISSING:
                self.call(setter, [hit, owner, value], {})
                return
        own = owner.d
        self.touch(own)
        if self.tracer is not None:
            self.tracer.stored(owner, name, value)
        own[name] = value

    def delattr(self, owner: Value, name: str) -> None:
        """`del owner.name`."""
        if isinstance(owner, Class):
            self.touch(owner.ns)
            owner.ns.pop(name, None)
            owner.forget()
            return
        holder = owner.ns if isinstance(owner, Module) else getattr(owner, "d", None)
        if holder is None or name not in holder:
            raise self.attribute_error(owner, name)
        self.touch(holder)
        del holder[name]

    def getitem(self, owner: Value, key: Value) -> Value:
        """`owner[key]`."""
        if isinstance(owner, Unknown):
            if isinstance(owner, Cases):
                return owner.map(lambda item: self.getitem(item, key))
            return Unknown(
                f"{owner.name}[{short(key)}]",
                owner.reason,
                ("item", owner.key, freeze(key)),
                owner.kind,
            )
        if isinstance(key, Unknown) and not is_instance(owner):
            if isinstance(key, Cases):
                return key.map(lambda item: self.getitem(owner, item))
            return Unknown(
                f"item {key.name}", key.reason, ("item-of", id(owner), key.key), key.kind
            )
        kind = owner.__class__
        if kind in (dict, list, tuple, str, bytes, range):
            try:
                return owner[key]
            except Exception as error:
                raise self.convert(error) from None
        return self._getitem_other(owner, key)

    def _getitem_other(self, owner: Value, key: Value) -> Value:
        if is_instance(owner):
            hook = owner.cls.find("__getitem__")
            if hook is not MISSING:
                return self.call(self.bind(hook, owner, owner.cls), [key], {})
            if owner.__class__ is not Instance:
                return self._layout_item(owner, key)
        if isinstance(owner, Class):
            return self.subscript_class(owner, key)
        if isinstance(owner, Opaque):
            return Opaque(f"{owner.name}[...]")
        host = self.host_getitem(owner, key)
        if host is not MISSING:
            return host
        raise self.error("TypeError", f"{self.type_name(owner)!r} object is not subscriptable")

    def _layout_item(self, owner: Value, key: Value) -> Value:
        try:
            return owner[key]
        except KeyError as error:
            missing = owner.cls.find("__missing__")
            if missing is not MISSING:
                return self.call(self.bind(missing, owner, owner.cls), [key], {})
            raise self.convert(error) from None
        except Exception as error:
            raise self.convert(error) from None

    def subscript_class(self, cls: Class, key: Value) -> Value:
        """`Class[key]`: enum members, generics."""
        hook = cls.find("__class_getitem__")
        if hook is not MISSING:
            function = hook.function if isinstance(hook, (ClassMethod, StaticMethod)) else hook
            return self.call(function, [cls, key], {})
        members = cls.data.get("members")
        if members is not None:
            if isinstance(key, Unknown):
                return key.derive(f"{cls.name}[{key.name}]", "enum", cls.name)
            if key not in members:
                raise self.error("KeyError", key)
            return members[key]
        if cls.meta is not None and (hook := cls.meta.find("__getitem__")) is not MISSING:
            return self.call(self.bind(hook, cls, cls.meta), [key], {})
        return self.imports.generic_alias(cls, key)

    def setitem(self, owner: Value, key: Value, value: Value) -> None:
        """`owner[key] = value`."""
        if isinstance(owner, Unknown):
            return
        if isinstance(key, Unknown):
            raise Undecidable(f"stores under {key.name}: {key.reason}")
        if is_instance(owner):
            hook = owner.cls.find("__setitem__")
            if hook is not MISSING:
                self.call(self.bind(hook, owner, owner.cls), [key, value], {})
                return
        if isinstance(owner, (dict, list)):
            self.touch(owner)
            if self.tracer is not None:
                self.tracer.stored_item(owner, key, value)
            try:
                owner[key] = value
            except Exception as error:
                raise self.convert(error) from None
            return
        self.host_setitem(owner, key, value)

    def delitem(self, owner: Value, key: Value) -> None:
        """`del owner[key]`."""
        if isinstance(key, Unknown) or isinstance(owner, Unknown):
            raise Undecidable(f"deletes {short(key)} of {short(owner)}")
        if is_instance(owner):
            hook = owner.cls.find("__delitem__")
            if hook is not MISSING:
                self.call(self.bind(hook, owner, owner.cls), [key], {})
                return
        if not isinstance(owner, (dict, list)):
            self.host_delitem(owner, key)
            return
        self.touch(owner)
        try:
            del owner[key]
        except Exception as error:
            raise self.convert(error) from None

    def contains(self, item: Value, container: Value) -> Value:
        """`item in container`."""
        kind = container.__class__
        if kind is dict and item.__class__ is str:
            return item in container
        if isinstance(item, Cases):
            return item.map(lambda case: self.contains(case, container))
        if isinstance(container, Cases):
            return container.map(lambda case: self.contains(item, case))
        if isinstance(container, Unknown):
            return container.derive(f"{short(item)} in {container.name}", "contains", freeze(item))
        if isinstance(item, Unknown):
            return self.unknown_member(item, container)
        if kind in (list, tuple):
            return self._in_sequence(item, container)
        if kind in (dict, set, frozenset, str, bytes, range):
            try:
                return item in container
            except Exception as error:
                raise self.convert(error) from None
        return self._contains_other(item, container)

    def _in_sequence(self, item: Value, container: Iterable[Value]) -> Value:
        doubt: Any = None
        for entry in container:
            equal = entry is item or entry == item
            if equal is True:
                return True
            if isinstance(equal, Unknown):
                doubt = equal
        return False if doubt is None else doubt

    def _contains_other(self, item: Value, container: Value) -> Value:
        if is_instance(container):
            hook = container.cls.find("__contains__")
            if hook is not MISSING:
                return self.call(self.bind(hook, container, container.cls), [item], {})
            if container.__class__ is not Instance:
                return item in container
        if isinstance(container, Class) and (members := container.data.get("members")) is not None:
            return any(item is member for member in members.values())
        if isinstance(container, (Opaque, Native, Function, Class)) and not isinstance(
            container, Class
        ):
            raise self.error(
                "TypeError", f"argument of type {self.type_name(container)!r} is not iterable"
            )
        return self._in_sequence(item, self.iterate(container))

    def unknown_member(self, item: Unknown, container: Value) -> Value:
        """`unknown in container`: no for an empty container, else a question of its own."""
        entries = list(self.iterate(container))
        if not entries:
            return False
        if item in [entry for entry in entries if isinstance(entry, Unknown) and entry is item]:
            return True
        return Unknown(
            f"{item.name} in {short_list(entries)}",
            item.reason,
            ("in", tuple(sorted((freeze(entry) for entry in entries), key=repr)), item.key),
            item.kind,
        )

    def is_same(self, a: Value, b: Value) -> Value:
        """`a is b`."""
        if a is b:
            return True
        if isinstance(a, Unknown) or isinstance(b, Unknown):
            one, other = (a, b) if isinstance(a, Unknown) else (b, a)
            if isinstance(one, Cases):
                return one.map(lambda case: self.is_same(case, other))
            if isinstance(other, Cases):
                return other.map(lambda case: self.is_same(one, case))
            return one.derive(f"{one.name} is {short(other)}", "is", freeze(other))
        kind = a.__class__
        if kind is b.__class__ and kind in (int, str, float, bytes, tuple):
            return bool(a == b)
        return kind is Bound and a == b

    def binary(self, symbol: str, a: Value, b: Value) -> Value:
        """A binary operator."""
        if isinstance(a, Unknown) or isinstance(b, Unknown):
            return self._binary_unknown(symbol, a, b)
        dunder = _DUNDER[symbol]
        if is_instance(a) and (hook := a.cls.find(f"__{dunder}__")) is not MISSING:
            return self.call(self.bind(hook, a, a.cls), [b], {})
        if is_instance(b) and (hook := b.cls.find(f"__r{dunder}__")) is not MISSING:
            return self.call(self.bind(hook, b, b.cls), [a], {})
        if symbol == "BitOr" and (self._is_type(a) or self._is_type(b)):
            return self.imports.union_type(a, b)
        if isinstance(a, Opaque) or isinstance(b, Opaque):
            return Unknown(f"{short(a)} {symbol} {short(b)}", "outside the tree")
        self._check_size(symbol, a, b)
        if symbol == "Mod" and isinstance(a, str):
            return self.percent_format(a, b)
        try:
            return _BY_NAME[symbol](a, b)
        except Exception as error:
            raise self.convert(error) from None

    def _is_type(self, value: Value) -> bool:
        return isinstance(value, Class) or (isinstance(value, Instance) and "__origin__" in value.d)

    def _check_size(self, symbol: str, a: Value, b: Value) -> None:
        if symbol in ("Pow", "LShift") and isinstance(a, int) and isinstance(b, int):
            if b > 4096 or abs(a) > 1 << 4096:
                raise Undecidable("a number too large to compute")
        elif symbol == "Mult":
            size = len(a) if hasattr(a, "__len__") else len(b) if hasattr(b, "__len__") else 0
            count = b if isinstance(b, int) else a if isinstance(a, int) else 0
            if size and size * count > SIZE_BUDGET:
                raise Undecidable("a sequence too large to build")

    def _binary_unknown(self, symbol: str, a: Value, b: Value) -> Value:
        if isinstance(a, Cases):
            return a.map(lambda case: self.binary(symbol, case, b))
        if isinstance(b, Cases):
            return b.map(lambda case: self.binary(symbol, a, case))
        source = a if isinstance(a, Unknown) else b
        return Unknown(
            f"{short(a)} {symbol} {short(b)}",
            source.reason,
            ("op", symbol, freeze(a), freeze(b)),
            source.kind,
        )

    def inplace(self, symbol: str, a: Value, b: Value) -> Value:
        """`a op= b`: lists, sets and dicts change in place."""
        if type(a) in (list, set, dict) and symbol in _INPLACE and not isinstance(b, Unknown):
            self.touch(a)
            try:
                return _INPLACE[symbol](
                    a, list(self.iterate(b)) if type(a) is list and symbol == "Add" else b
                )
            except Exception as error:
                raise self.convert(error) from None
        return self.binary(symbol, a, b)

    def unary(self, function: Callable[[Any], Any], value: Value) -> Value:
        """`-x`, `+x`, `~x`."""
        if isinstance(value, Unknown):
            return value.derive(f"{function.__name__} {value.name}", function.__name__)
        try:
            return function(value)
        except Exception as error:
            raise self.convert(error) from None

    def both(self, a: Value, b: Value) -> Value:
        """The conjunction of two truth values of which one at least is unknown."""
        if a is False or b is False:
            return False
        if a is True:
            return b
        if b is True:
            return a
        return Unknown(f"{a.name} and {b.name}", a.reason, ("and", a.key, b.key), a.kind)

    def unpack(self, value: Value, count: int, star: int | None) -> list[Value]:
        """Values for `count` targets of which one may be starred."""
        if isinstance(value, Unknown):
            if star is not None:
                raise Undecidable(f"unpacks {value.name}: {value.reason}")
            return [self.getitem(value, index) for index in range(count)]
        items = list(self.iterate(value))
        if star is None:
            if len(items) != count:
                raise self.error(
                    "ValueError", f"expected {count} values to unpack, got {len(items)}"
                )
            return items
        after = count - star - 1
        if len(items) < count - 1:
            raise self.error("ValueError", "not enough values to unpack")
        return [*items[:star], items[star : len(items) - after], *items[len(items) - after :]]

    def mapping(self, value: Value) -> dict[Any, Value]:
        """What `**value` spreads."""
        if isinstance(value, Unknown):
            raise Undecidable(f"spreads {value.name}: {value.reason}")
        if isinstance(value, dict):
            return value
        keys = list(self.iterate(self.call_method(value, "keys", [], {})))
        return {key: self.getitem(value, key) for key in keys}

    def make_set(self, items: list[Value]) -> Value:
        """A set display."""
        for item in items:
            if isinstance(item, Unknown):
                raise Undecidable(f"set of {item.name}: {item.reason}")
        try:
            return set(items)
        except Exception as error:
            raise self.convert(error) from None

    def make_dict(self, pairs: Iterable[tuple[Value, Value]]) -> Value:
        """A dict from pairs."""
        result: dict[Value, Value] = {}
        for key, value in pairs:
            if isinstance(key, Unknown):
                raise Undecidable(f"dictionary key {key.name}: {key.reason}")
            result[key] = value
        return result

    def native_method(self, owner: Value, name: str) -> Any:
        """The stand-in for a method of a built-in type, or None."""
        for kind in type(owner).__mro__:
            table = self.methods.get(kind)
            if table is not None:
                return table.get(name)
        return None

    def native_method_of_class(self, cls: Class, name: str) -> Value:
        """`str.lower` and the like, unbound."""
        if cls.layout is None or cls.layout not in self.methods:
            return None
        method = self.methods[cls.layout].get(name)
        if method is None:
            return None
        return Native(
            f"{cls.name}.{name}",
            lambda args, kwargs: self.call_native_method(method, args[0], args[1:], kwargs),
            raw=True,
        )

    def bound_native(self, method: Any, owner: Value, name: str) -> Native:
        """A bound method of a built-in type."""
        return Native(
            name,
            lambda args, kwargs: self.call_native_method(method, owner, args, kwargs),
            raw=True,
        )

    def call_native_method(
        self, method: Any, owner: Value, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        """Call a stand-in for a method of a built-in type."""
        return method(self, owner, args, kwargs)

    def host_attribute(self, owner: Value, name: str) -> Value:
        """Attribute of an object of a permitted standard class."""
        return self.imports.hosts.attribute(owner, name)

    def host_call(self, owner: Value, args: Any, kwargs: dict[str, Value]) -> Value:
        """Call of an object of a permitted standard class."""
        return self.imports.hosts.call(owner, args, kwargs)

    def host_getitem(self, owner: Value, key: Value) -> Value:
        """Item of an object of a permitted standard class."""
        return self.imports.hosts.getitem(owner, key)

    def host_setattr(self, owner: Value, name: str, value: Value) -> None:
        """Write to an object of a permitted standard class."""
        if not self.imports.hosts.setattr(owner, name, value):
            raise self.error(
                "AttributeError", f"{self.type_name(owner)!r} object has no attribute {name!r}"
            )

    def host_setitem(self, owner: Value, key: Value, value: Value) -> None:
        """`owner[key] = value` on an object of a permitted standard class."""
        if not self.imports.hosts.setitem(owner, key, value):
            raise self.error(
                "TypeError", f"{self.type_name(owner)!r} object does not support item assignment"
            )

    def host_delitem(self, owner: Value, key: Value) -> None:
        """`del owner[key]` on an object of a permitted standard class."""
        if not self.imports.hosts.delitem(owner, key):
            raise self.error(
                "TypeError", f"{self.type_name(owner)!r} object does not support item deletion"
            )

    def iterate_object(self, value: Value) -> Iterator[Value]:
        """Iterate over an instance, a class or an object of a permitted standard class."""
        if is_instance(value):
            hook = value.cls.find("__iter__")
            if hook is not MISSING:
                return self.iterate(self.call(self.bind(hook, value, value.cls), [], {}))
            if value.__class__ is not Instance:
                return iter(list(value))
            hook = value.cls.find("__next__")
            if hook is not MISSING:
                return self._iterate_next(value, hook)
            hook = value.cls.find("__getitem__")
            if hook is not MISSING:
                return self._iterate_items(value)
            if value.cls.opaque_base is not None:
                raise Undecidable(
                    f"iteration over {value.cls.name}, which derives from outside the tree"
                )
        if isinstance(value, Class):
            members = value.data.get("canonical")
            if members is not None:
                return iter(list(members))
            if value.meta is not None and (hook := value.meta.find("__iter__")) is not MISSING:
                return self.iterate(self.call(self.bind(hook, value, value.meta), [], {}))
        if isinstance(value, Opaque):
            raise Undecidable(f"iteration over {value.name}, outside the tree")
        items = self.imports.hosts.iterate(value)
        if items is not None:
            return items  # type: ignore[no-any-return]
        raise self.error("TypeError", f"{self.type_name(value)!r} object is not iterable")

    def _iterate_next(self, value: Value, hook: Value) -> Iterator[Value]:
        while True:
            try:
                yield self.call(self.bind(hook, value, value.cls), [], {})
            except Raised as raised:
                if raised.value.cls.name == "StopIteration":
                    return
                raise

    def _iterate_items(self, value: Value) -> Iterator[Value]:
        index = 0
        while True:
            try:
                yield self.getitem(value, index)
            except Raised as raised:
                if raised.value.cls.name == "IndexError":
                    return
                raise
            index += 1

    def class_hook(self, value: Value, name: str) -> Value:
        """A special method of the class of a value, bound to nothing, or MISSING."""
        if is_instance(value):
            hook = value.cls.find(name)
            if hook is not MISSING:
                return hook
        return MISSING

    def as_class(self, value: Value) -> Value:
        """A built-in type given by its Python form becomes its class; others stay."""
        if isinstance(value, Native) and "class" in value.d:
            return value.d["class"]
        return value

    def percent_format(self, template: str, values: Value) -> Value:
        """`"..." % values`."""
        items = values if isinstance(values, tuple) else (values,)
        texts = tuple(
            self.as_text(item) if not isinstance(item, (int, float, str)) else item
            for item in items
        )
        if isinstance(values, dict):
            texts = {key: self.as_text(item) for key, item in values.items()}  # type: ignore[assignment]
        try:
            return template % texts
        except Exception as error:
            raise self.convert(error) from None


def short_list(entries: list[Value]) -> str:
    """A short text for a list of alternatives."""
    shown = ", ".join(short(entry) for entry in entries[:4])
    return f"({shown}, ...)" if len(entries) > 4 else f"({shown})"


__all__ = ["Missing", "Objects"]
