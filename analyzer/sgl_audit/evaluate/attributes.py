"""Reading, writing and deleting attributes: Python's data model on interpreter values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate import tensors
from sgl_audit.evaluate.journal import CHANGED_CLASSES
from sgl_audit.evaluate.values import (
    INSTANCE_TYPES,
    MISSING,
    Annotation,
    Bound,
    Cases,
    Class,
    ClassMethod,
    Function,
    Instance,
    Lazy,
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
    is_instance,
    short,
)

NUMBER_PARTS = ("real", "imag", "numerator", "denominator")


# Marks how often something unknown was done to an unknown.
EPOCH = ("epoch",)


class Attributes:
    """Attribute access."""

    touch: Any
    unknown_state: Any
    imports: Any
    types: dict[type, Class]
    tracer: Any
    object_methods: dict[str, Native]
    if TYPE_CHECKING:
        error: Any
        call: Any
        force: Any
        fork_case: Any
        native_method: Any
        native_method_of_class: Any
        bound_native: Any
        host_attribute: Any
        host_setattr: Any

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
        if value.__class__ is Super:
            return "super"
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
            text = f"module {owner.name!r} has no attribute {name!r}"
        elif isinstance(owner, Class):
            text = f"type object {owner.name!r} has no attribute {name!r}"
        elif owner.__class__ is Bound:
            return self.attribute_error(owner.function, name)
        else:
            text = f"{self.type_name(owner)!r} object has no attribute {name!r}"
        raised: Raised = self.error("AttributeError", text)
        raised.value.d.update({"name": name, "obj": owner})
        return raised

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
        """An attribute of something unknown; of several cases, each on its own."""
        if isinstance(owner, Cases):
            return self.fork_case(owner, lambda item: self.getattr(item, name))
        written = self.unknown_state.get((owner.key, name), MISSING)
        if written is not MISSING:
            return written
        if tensors.lacks(self, owner, name):
            return MISSING
        key = ("attr", owner.key, name, *self.epoch_of(owner))
        return Unknown(f"{owner.name}.{name}", owner.reason, key, owner.kind)

    def epoch_of(self, owner: Unknown) -> tuple[Value, ...]:
        """Part of the keys of what is read from an unknown that something unknown was done to."""
        epoch = self.unknown_state.get((owner.key, EPOCH))
        return () if epoch is None else (epoch,)

    def write_unknown(self, owner: Unknown, name: Any, value: Value) -> None:
        """A write to an attribute or item of an unknown: later reads give what was written."""
        if isinstance(owner, Cases):
            raise Undecidable(f"writes to one of several: {owner.name}")
        self.touch(self.unknown_state)
        self.unknown_state[owner.key, name] = value

    def disturb(self, owner: Unknown) -> None:
        """Something unknown happens to an unknown: nothing read from it before still counts."""
        state = self.unknown_state
        self.touch(state)
        count = state.get((owner.key, EPOCH), 0)
        for key in [key for key in state if key[0] == owner.key]:
            del state[key]
        state[owner.key, EPOCH] = count + 1 if isinstance(count, int) else ("again", count)

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
            if not is_attribute_error(raised):
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
                return self._property_value(owner, name, hit, use_getattr)
            if kind is Instance and hit.cls.find("__set__") is not MISSING:
                getter = hit.cls.find("__get__")
                if getter is not MISSING:
                    return self.call(getter, [hit, owner, cls], {})
            if name in own:
                return self._forced(own, name, own[name])
            return self.bind(self._forced_class(cls, name, hit), owner, cls)
        value = own.get(name, MISSING)
        if value is not MISSING:
            return self._forced(own, name, value)
        if owner.__class__ is not Instance:
            method = self.native_method(owner, name)
            if method is not None:
                return self.bound_native(method, owner, name)
        special = self.special_attribute(owner, name)
        if special is not MISSING:
            return special
        return self._absent(owner, name, use_getattr)

    def _absent(self, owner: Value, name: str, use_getattr: bool) -> Value:
        """What an instance gives for a name that neither it nor its class has."""
        cls = owner.cls
        if use_getattr:
            fallback = cls.find("__getattr__")
            if fallback is not MISSING:
                return self.call(self.bind(fallback, owner, cls), [name], {})
        if cls.opaque_base is not None:
            if tensors.is_tensor_class(cls) and name not in tensors.NAMES:
                return MISSING
            return Unknown(
                f"{cls.name}.{name}",
                f"{cls.name} derives from {short(cls.opaque_base)}, which lies outside the tree",
                ("opaque-base", id(owner), name),
                "external",
            )
        return MISSING

    def _property_value(
        self, owner: Value, name: str, hit: Property, use_getattr: bool = True
    ) -> Value:
        own = owner.d
        if hit.cached and name in own:
            return own[name]
        try:
            value = self.call(hit.getter, [owner], {})
        except Raised as raised:
            if not use_getattr or not is_attribute_error(raised):
                raise
            fallback = owner.cls.find("__getattr__")
            if fallback is MISSING:
                raise
            return self.call(self.bind(fallback, owner, owner.cls), [name], {})
        if hit.cached:
            self.touch(own)
            own[name] = value
        return value

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
            return self._bound_to_class(value, cls)
        if kind is Property:
            return self.call(value.getter, [owner], {})
        if kind is Instance:
            getter = value.cls.find("__get__")
            if getter is not MISSING:
                return self.call(getter, [value, owner, cls], {})
        return value

    def _bound_to_class(self, value: ClassMethod, cls: Class) -> Value:
        function = value.function
        if function.__class__ is Property:
            return self.call(function.getter, [cls], {})
        return Bound(function, cls)

    def class_attribute(self, cls: Class, name: str) -> Value:
        """Attribute of a class."""
        hit = cls.find(name)
        meta = cls.meta
        if meta is not None and (own := meta.find(name)).__class__ is Property:
            return self.call(own.getter, [cls], {})
        if name == "__annotations__":
            return self.shown_annotations(cls)
        if hit is not MISSING:
            hit = self._forced_class(cls, name, hit)
            kind = hit.__class__
            if kind is StaticMethod:
                return hit.function
            if kind is ClassMethod:
                return self._bound_to_class(hit, cls)
            if kind is Instance:
                getter = hit.cls.find("__get__")
                if getter is not MISSING:
                    return self.call(getter, [hit, None, cls], {})
            return hit
        special = self._class_special(cls, name)
        if special is not MISSING:
            return special
        if meta is not None:
            hit = meta.find(name)
            if hit is not MISSING:
                return self.bind(hit, cls, meta)
            hook = meta.find("__getattr__")
            if hook is not MISSING:
                return self.call(self.bind(hook, cls, meta), [name], {})
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
            case "__base__":
                return next((base for base in cls.bases if isinstance(base, Class)), None)
            case "__dict__":
                return cls.ns
            case "__class__":
                return cls.meta or self.types[type]
            case "__module__":
                return cls.module
            case "__subclasses__":
                return Native("__subclasses__", lambda args, kwargs: list(cls.children))
            case "mro":
                return Native("mro", lambda args, kwargs: list(cls.mro))
        return MISSING

    def shown_annotations(self, owner: Class) -> Value:
        """`cls.__annotations__` as the program sees it: evaluated, or text where they stay text."""
        raw = owner.ns.get("__annotations__")
        if raw is None:
            self.touch(owner.ns)
            raw = owner.ns["__annotations__"] = {}
            owner.forget()
        if not any(isinstance(note, Annotation) for note in raw.values()):
            return raw
        return {
            name: note.shown() if isinstance(note, Annotation) else note
            for name, note in raw.items()
        }

    def super_attribute(self, owner: Super, name: str) -> Value:
        """Attribute through `super()`."""
        target = owner.owner
        of_class = isinstance(target, Class) and owner.after in target.mro
        cls: Any = target if of_class else target.meta if isinstance(target, Class) else target.cls
        after = cls.mro[cls.mro.index(owner.after) + 1 :] if owner.after in cls.mro else cls.mro[1:]
        for parent in after:
            if name in parent.ns:
                hit = parent.ns[name]
                if not of_class:
                    return self.bind(hit, target, cls)
                if isinstance(hit, ClassMethod):
                    return Bound(hit.function, target)
                return hit.function if isinstance(hit, StaticMethod) else hit
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
        if name == "__dict__":
            return module.ns
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
        if kind in (StaticMethod, ClassMethod) and name in ("__func__", "__wrapped__"):
            return owner.function
        if name == "__class__":
            return self.type_of(owner)
        method = self.native_method(owner, name)
        if method is not None:
            return self.bound_native(method, owner, name)
        if name in NUMBER_PARTS and isinstance(owner, (int, float, complex)):
            return getattr(owner, name, MISSING)
        host = self.host_attribute(owner, name)
        if host is not MISSING:
            return host
        if name in self.object_methods:
            return Bound(self.object_methods[name], owner)
        return MISSING

    def function_attribute(self, owner: Value, name: str) -> Value:
        """`__name__`, `__wrapped__` and the like."""
        if "func" in owner.d and name in ("__name__", "__qualname__"):
            return MISSING
        match name:
            case "__name__":
                return owner.name.rsplit(".", 1)[-1]
            case "__qualname__":
                return getattr(owner, "qualname", owner.name)
            case "__module__":
                return getattr(owner, "module", "builtins")
            case "__doc__":
                return owner.code.doc if isinstance(owner, Function) else None
            case "__dict__":
                return owner.d
            case "__call__":
                return owner
            case "__annotations__":
                return owner.code.shown_annotations(owner) if isinstance(owner, Function) else {}
            case "__defaults__":
                return getattr(owner, "defaults", None) or None
            case "__kwdefaults__":
                return getattr(owner, "kwdefaults", None) or None
            case "__globals__":
                return getattr(owner, "globals", MISSING)
            case "__class__":
                return self.type_of(owner)
            case "__get__":
                return Native("__get__", lambda args, kw: bind_function(owner, *args))
        return MISSING

    def property_attribute(self, owner: Property, name: str) -> Value:
        """`@x.setter` and its kin."""

        def changed(part: str, value: Value) -> Property:
            parts = {"getter": owner.getter, "setter": owner.setter, "deleter": owner.deleter}
            parts[part] = value
            return Property(parts["getter"], parts["setter"], owner.cached, parts["deleter"])

        match name:
            case "setter" | "getter" | "deleter":
                return Native(name, lambda args, kw: changed(name, args[0]), raw=True)
            case "fget" | "func":
                return owner.getter
            case "fset":
                return owner.setter
            case "fdel":
                return owner.deleter
            case "__doc__":
                return self.lookup(owner.getter, "__doc__")
            case "__isabstractmethod__":
                return owner.abstract
            case "__class__":
                return self.type_of(owner)
            case "__get__":
                return Native(name, lambda args, kw: self.call(owner.getter, args[:1], {}))
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
            setter = MISSING if owner.meta is None else owner.meta.find("__setattr__")
            if isinstance(setter, Function):
                self.call(setter, [owner, name, value], {})
                return
            self.set_class_attribute(owner, name, value)
        elif kind is Module:
            self.imports.ensure(owner)
            self.touch(owner.ns)
            owner.ns[name] = value
        elif kind in (Function, Native, Opaque):
            self.touch(owner.d)
            owner.d[name] = value
        elif kind is Bound:
            raise self.attribute_error(owner, name)
        elif kind is Cases:
            self.fork_case(owner, lambda item: self.setattr(item, name, value))
        elif isinstance(owner, Unknown):
            self.write_unknown(owner, name, value)
        else:
            self.host_setattr(owner, name, value)

    def set_class_attribute(self, cls: Class, name: str, value: Value) -> None:
        """Write to a class; look-ups through it and its heirs are forgotten."""
        if cls.meta is not None and (hit := cls.meta.find(name)).__class__ is Property:
            if hit.setter is None:
                raise self._no_access(hit, name, cls.meta, "setter")
            self.call(hit.setter, [cls, value], {})
            return
        self.touch(cls.ns)
        CHANGED_CLASSES[id(cls.ns)] = cls
        cls.ns[name] = value
        cls.forget()

    def plain_setattr(self, owner: Value, name: str, value: Value) -> None:
        """`object.__setattr__`: data descriptors first, then the instance."""
        if owner.__class__ is Class:
            self.set_class_attribute(owner, name, value)
            return
        hit = owner.cls.find(name)
        if hit.__class__ is Property:
            if hit.cached:
                pass
            elif hit.setter is None:
                raise self._no_access(hit, name, owner.cls, "setter")
            else:
                self.call(hit.setter, [owner, value], {})
                return
        elif hit.__class__ is Instance:
            setter = hit.cls.find("__set__")
            if setter is not MISSING:
                self.call(setter, [hit, owner, value], {})
                return
        own = owner.d
        if name not in own and (owner.cls.data or name == "__class__"):
            self._check_new_attribute(owner, name)
        self.touch(own)
        if self.tracer is not None:
            self.tracer.stored(owner, name, value)
        own[name] = value

    def _check_new_attribute(self, owner: Value, name: str) -> None:
        if name == "__class__":
            raise Undecidable(f"changes the class of {short(owner)}")
        only = owner.cls.data.get("slots")
        if only is not None and name not in only:
            raise self.attribute_error(owner, name)

    def _no_access(self, hit: Property, name: str, cls: Class, what: str) -> Raised:
        text = f"property {name!r} of {cls.qualname!r} object has no {what}"
        raised: Raised = self.error("AttributeError", text)
        return raised

    def delattr(self, owner: Value, name: str) -> None:
        """`del owner.name`."""
        if is_instance(owner):
            hook = owner.cls.find("__delattr__")
            if hook is not MISSING:
                self.call(self.bind(hook, owner, owner.cls), [name], {})
                return
        self.plain_delattr(owner, name)

    def plain_delattr(self, owner: Value, name: str) -> None:
        """`object.__delattr__`."""
        if isinstance(owner, Unknown):
            raise Undecidable(f"deletes {owner.name}.{name}: {owner.reason}")
        if isinstance(owner, Class):
            if name not in owner.ns:
                raise self.attribute_error(owner, name)
            self.touch(owner.ns)
            CHANGED_CLASSES[id(owner.ns)] = owner
            del owner.ns[name]
            owner.forget()
            return
        if is_instance(owner):
            hit = owner.cls.find(name)
            if hit.__class__ is Property and not hit.cached:
                if hit.deleter is None:
                    raise self._no_access(hit, name, owner.cls, "deleter")
                self.call(hit.deleter, [owner], {})
                return
            if hit.__class__ is Instance:
                remover = hit.cls.find("__delete__")
                if remover is not MISSING:
                    self.call(remover, [hit, owner], {})
                    return
        holder = owner.ns if isinstance(owner, Module) else getattr(owner, "d", None)
        if holder is None or name not in holder:
            raise self.attribute_error(owner, name)
        self.touch(holder)
        del holder[name]


def bind_function(function: Value, owner: Value = None, *rest: Value) -> Value:
    """`function.__get__(owner, cls)`."""
    return function if owner is None else Bound(function, owner)


def is_attribute_error(raised: Raised) -> bool:
    """Whether an exception is an AttributeError of any kind."""
    return any(cls.name == "AttributeError" for cls in raised.value.cls.mro)
