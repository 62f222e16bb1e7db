"""Items, iteration, unpacking and containers of interpreter values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.values import (
    MISSING,
    BudgetReachedError,
    Cases,
    Class,
    ClassMethod,
    Function,
    Instance,
    LayoutMixin,
    Native,
    Opaque,
    Raised,
    StaticMethod,
    Undecidable,
    Unknown,
    Value,
    freeze,
    is_instance,
    short,
)

PLAIN_ORDER = (float, str, bytes)
ITEM_BUDGET = 1_000_000
# Methods of a built-in class, not of its instances.
CLASS_LEVEL = ("fromkeys", "fromhex", "from_bytes", "maketrans")


def _kind(item: Value) -> type:
    return next((kind for kind in (str, bytes) if isinstance(item, kind)), float)


class Items:
    """Item access and iteration."""

    touch: Any
    tracer: Any
    imports: Any
    types: dict[type, Class]
    methods: dict[type, dict[str, Any]]
    if TYPE_CHECKING:
        bind: Any
        call: Any
        call_method: Any
        convert: Any
        error: Any
        fork_case: Any
        is_same: Any
        iterate: Any
        disturb: Any
        epoch_of: Any
        lookup: Any
        over_cases: Any
        unknown_state: Any
        write_unknown: Any
        truth_value: Any
        type_name: Any

    def getitem(self, owner: Value, key: Value) -> Value:
        """`owner[key]`."""
        if isinstance(owner, Unknown):
            if isinstance(owner, Cases):
                return self.over_cases(owner, lambda item: self.getitem(item, key))
            name = f"{owner.name}[{short(key)}]"
            written = self.unknown_state.get((owner.key, ("item", freeze(key))), MISSING)
            if written is not MISSING:
                return written
            marks = self.epoch_of(owner)
            return Unknown(name, owner.reason, ("item", owner.key, freeze(key), *marks), owner.kind)
        if isinstance(key, Unknown) and not is_instance(owner):
            if isinstance(key, Cases):
                return self.over_cases(key, lambda item: self.getitem(owner, item))
            return Unknown(
                f"item {key.name}", key.reason, ("item-of", id(owner), key.key), key.kind
            )
        kind = owner.__class__
        if kind in (dict, list, tuple, str, bytes, range):
            try:
                return owner[self.as_index(key)] if kind is not dict else owner[key]
            except Exception as error:
                raise self.convert(error) from None
        return self._getitem_other(owner, key)

    def as_index(self, key: Value) -> Value:
        """What a value is as an index: an instance may answer for itself."""
        if key.__class__ is Instance and (hook := key.cls.find("__index__")) is not MISSING:
            return self.call(self.bind(hook, key, key.cls), [], {})
        if key.__class__ is slice:
            parts = [self.as_index(part) for part in (key.start, key.stop, key.step)]
            for part in parts:
                if isinstance(part, Unknown):
                    raise Undecidable(f"slices up to {part.name}: {part.reason}")
            return slice(*parts)
        return key

    def iterate_counted(self, value: Value) -> Iterator[Value]:
        """Iterate to the end, which must not be too far away.

        Raises:
            BudgetReachedError: more items than any configuration has.
        """
        kind = value.__class__
        if kind is list or kind is tuple:
            return iter(value)
        if kind is range and value and (value[-1] - value[0]) // value.step >= ITEM_BUDGET:
            raise BudgetReachedError("a sequence too long")
        return self._counted(self.iterate(value))

    def _counted(self, items: Iterable[Value]) -> Iterator[Value]:
        for index, item in enumerate(items):
            if index >= ITEM_BUDGET:
                raise BudgetReachedError("a sequence too long")
            yield item

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
            part = Opaque(f"{owner.name}[...]")
            part.d.update(owner.d)
            return part
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
        if cls.meta is not None and (hook := cls.meta.find("__getitem__")) is not MISSING:
            return self.call(self.bind(hook, cls, cls.meta), [key], {})
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
        return self.imports.generic_alias(cls, key)

    def setitem(self, owner: Value, key: Value, value: Value) -> None:
        """`owner[key] = value`."""
        if isinstance(owner, Unknown):
            if isinstance(owner, Cases):
                self.fork_case(owner, lambda item: self.setitem(item, key, value))
            elif isinstance(key, Unknown):
                self.disturb(owner)
            else:
                self.write_unknown(owner, ("item", freeze(key)), value)
            return
        if isinstance(key, Unknown):
            if isinstance(key, Cases):
                self.fork_case(key, lambda item: self.setitem(owner, item, value))
                return
            raise Undecidable(f"stores under {key.name}: {key.reason}")
        if is_instance(owner):
            hook = owner.cls.find("__setitem__")
            if hook is not MISSING:
                self.call(self.bind(hook, owner, owner.cls), [key, value], {})
                return
        if isinstance(owner, (dict, list)):
            self.touch(owner)
            if self.tracer is not None:
                self.tracer.put(owner, key, value)
            try:
                owner[key] = self._stored_slice(key, value)
            except Exception as error:
                raise self.convert(error) from None
            return
        self.host_setitem(owner, key, value)

    def _stored_slice(self, key: Value, value: Value) -> Value:
        if key.__class__ is slice and not isinstance(value, (list, tuple)):
            return list(self.iterate(value))
        return value

    def delitem(self, owner: Value, key: Value) -> None:
        """`del owner[key]`."""
        if isinstance(owner, Cases) or isinstance(key, Cases):
            first = owner if isinstance(owner, Cases) else key
            self.fork_case(
                first,
                lambda case: (
                    self.delitem(case, key) if first is owner else self.delitem(owner, case)
                ),
            )
            return
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

    def unpack(self, value: Value, count: int, star: int | None) -> list[Value]:
        """Values for `count` targets of which one may be starred."""
        if isinstance(value, Unknown):
            if star is not None or isinstance(value, Cases):
                return self._unpack_cases(value, count, star)
            return [self.getitem(value, index) for index in range(count)]
        if value.__class__ not in (list, tuple, str, dict, set) and not self.is_iterable(value):
            text = f"cannot unpack non-iterable {self.type_name(value)} object"
            raise self.error("TypeError", text)
        items = self._some(value, count if star is None else None)
        if star is None:
            if len(items) > count:
                text = f"too many values to unpack (expected {count})"
                raise self.error("ValueError", text)
            if len(items) < count:
                text = f"not enough values to unpack (expected {count}, got {len(items)})"
                raise self.error("ValueError", text)
            return items
        after = count - star - 1
        if len(items) < count - 1:
            raise self.error(
                "ValueError",
                f"not enough values to unpack (expected at least {count - 1}, got {len(items)})",
            )
        return [*items[:star], items[star : len(items) - after], *items[len(items) - after :]]

    def _unpack_cases(self, value: Unknown, count: int, star: int | None) -> list[Value]:
        if not isinstance(value, Cases):
            raise Undecidable(f"unpacks {value.name}: {value.reason}")
        listed = self.fork_case(value, lambda case: tuple(self.unpack(case, count, star)))
        if isinstance(listed, Unknown):
            return [self.getitem(listed, index) for index in range(count)]
        return list(listed)

    def is_iterable(self, value: Value) -> bool:
        """Whether `iter(value)` may work."""
        if is_instance(value) and value.__class__ is Instance:
            names = ("__iter__", "__getitem__", "__next__")
            known = any(value.cls.find(name) is not MISSING for name in names)
            return known or value.cls.opaque_base is not None
        return value is not None and not isinstance(value, (int, float, Function, Native))

    def _some(self, value: Value, count: int | None) -> list[Value]:
        """All items, or just enough to tell that they are more than `count`."""
        items = []
        for item in self.iterate(value):
            items.append(item)
            if count is not None and len(items) > count:
                break
        return items

    def spread(self, value: Value) -> Iterator[Value]:
        """What `*value` puts into a call."""
        if not isinstance(value, Unknown) and not self.is_iterable(value):
            text = f"Value after * must be an iterable, not {self.type_name(value)}"
            raise self.error("TypeError", text)
        return self.iterate_counted(value)

    def add_keywords(self, kwargs: dict[str, Value], more: dict[Any, Value]) -> None:
        """What `**more` adds to the keyword arguments of a call."""
        for name, value in more.items():
            if not isinstance(name, str):
                raise self.error("TypeError", "keywords must be strings")
            if name in kwargs:
                text = f"got multiple values for keyword argument {name!r}"
                raise self.error("TypeError", text)
            kwargs[str(name)] = value

    def mapping_of(self, args: list[Value], kwargs: dict[str, Value]) -> dict[Any, Value]:
        """What `dict(*args, **kwargs)` holds."""
        made: dict[Any, Value] = self.call(self.types[dict], args, kwargs)
        return made

    def mapping(self, value: Value) -> dict[Any, Value]:
        """What `**value` spreads."""
        if isinstance(value, Unknown):
            raise Undecidable(f"spreads {value.name}: {value.reason}")
        if isinstance(value, dict):
            return value
        if self.lookup(value, "keys") is MISSING:
            text = f"{self.type_name(value)!r} object is not a mapping"
            raise self.error("TypeError", text)
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
            try:
                result[key] = value
            except TypeError as error:
                raise self.convert(error) from None
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
        kind: Any = cls.layout or cls.data.get("kind")
        method = self.methods.get(kind, {}).get(name)
        if method is None:
            return None
        if name in CLASS_LEVEL:
            if name == "fromkeys":
                return Native(name, lambda args, kwargs: method(self, None, args, kwargs), raw=True)
            made = getattr(kind, name)
            return Native(name, lambda args, kwargs: made(*args, **kwargs))
        return Native(
            f"{cls.name}.{name}",
            lambda args, kwargs: self.call_native_method(method, args[0], args[1:], kwargs),
            raw=True,
            method=True,
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
            kind = self.type_name(owner)
            verb = "doesn't" if isinstance(owner, (tuple, str, int)) else "does not"
            raise self.error("TypeError", f"{kind!r} object {verb} support item deletion")

    def iterate_object(self, value: Value) -> Iterator[Value]:
        """Iterate over an instance, a class or an object of a permitted standard class."""
        if is_instance(value):
            found = self._iterate_instance(value)
            if found is not None:
                return found
        if isinstance(value, Class):
            if value.meta is not None and (hook := value.meta.find("__iter__")) is not MISSING:
                return iter(self.iterate(self.call(self.bind(hook, value, value.meta), [], {})))
            members = value.data.get("canonical")
            if members is not None:
                return iter(list(members))
        if isinstance(value, Opaque):
            raise Undecidable(f"iteration over {value.name}, outside the tree")
        items: Iterator[Value] | None = self.imports.hosts.iterate(value)
        if items is not None:
            return items
        raise self.error("TypeError", f"{self.type_name(value)!r} object is not iterable")

    def _iterate_instance(self, value: Value) -> Iterator[Value] | None:
        hook = value.cls.find("__iter__")
        if hook is not MISSING:
            made = self.call(self.bind(hook, value, value.cls), [], {})
            if is_instance(made) and (step := made.cls.find("__next__")) is not MISSING:
                stepping: Iterator[Value] = self._iterate_next(made, step)
                return stepping
            listed: Iterator[Value] = iter(self.iterate(made))
            return listed
        if isinstance(value, dict):
            return self.iterate_dict(value)
        if isinstance(value, LayoutMixin) and not isinstance(value, (int, float)):
            return iter(value)  # type: ignore[call-overload, no-any-return]
        hook = value.cls.find("__getitem__")
        if hook is not MISSING:
            return self._iterate_items(value)
        if value.cls.opaque_base is not None:
            text = f"iteration over {value.cls.name}, which derives from outside the tree"
            raise Undecidable(text)
        return None

    def iterate_dict(self, value: dict[Any, Value]) -> Iterator[Value]:
        """Keys; a change of size on the way is an error. Joining branches rewrites dicts, so a
        copy of the keys is walked."""
        size = len(value)
        for key in list(value):
            yield key
            if len(value) != size:
                raise self.error("RuntimeError", "dictionary changed size during iteration")

    def iterate_set(self, value: Iterable[Value]) -> Iterator[Value]:
        """Items in an order that does not change with the hash seed, where there is one."""
        items = list(value)
        if len(items) > 1 and all(isinstance(item, (int, *PLAIN_ORDER)) for item in items):
            items.sort(key=lambda item: (PLAIN_ORDER.index(_kind(item)), item))
        return iter(items)

    def _iterate_next(self, value: Value, hook: Value) -> Iterator[Value]:
        while True:
            try:
                item = self.call(self.bind(hook, value, value.cls), [], {})
            except Raised as raised:
                if any(cls.name == "StopIteration" for cls in raised.value.cls.mro):
                    return
                raise
            yield item

    def _iterate_items(self, value: Value) -> Iterator[Value]:
        index = 0
        while True:
            try:
                item = self.getitem(value, index)
            except Raised as raised:
                if any(cls.name in ("IndexError", "StopIteration") for cls in raised.value.cls.mro):
                    return
                raise
            yield item
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
