"""`str`, `repr` and `format` of interpreter values, as Python would write them."""

from __future__ import annotations

import re
from string import Formatter
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.values import (
    MISSING,
    Bound,
    Cases,
    Class,
    Function,
    Instance,
    LayoutMixin,
    Module,
    Native,
    Opaque,
    Undecidable,
    Unknown,
    Value,
    is_instance,
)

# Addresses differ from run to run; one stands for all.
ADDRESS = "0x7f0000000000"
FORMATTED = (int, float, str, bool, complex)
NESTING = 20


WIDE = re.compile(r"\d{6}")
LONGEST = 10_000_000
# `%s` and its like; `%%` is a sign and takes no value.
CONVERSION = re.compile(r"(?<!%)(?:%%)*%(?!%)")


def check_width(spec: str) -> None:
    """Refuse to pad a text to an absurd width.

    Raises:
        Undecidable: a width of six digits or more.
    """
    if WIDE.search(spec):
        raise Undecidable("a text too long to build")


def leads_inward(template: str) -> bool:
    """Whether `{0.__init__.__globals__}` would leave the program's values for this process's."""
    return any(
        "._" in (name or "") or leads_inward(spec or "")
        for _, name, spec, _ in Formatter().parse(template)
    )


def is_foreign(value: Value) -> bool:
    """Whether a value is an object of a standard class that is used for real (a version, ...)."""
    module = type(value).__module__
    return module != "builtins" and not module.startswith("sgl_audit")


class Text:
    """Text of values. Sets are written sorted: their order in Python means nothing."""

    if TYPE_CHECKING:
        bind: Any
        call: Any
        convert: Any
        error: Any
        getattr: Any
        getitem: Any
        over_cases: Any
        type_name: Any
        iterate_set: Any

    def as_text(self, value: Value) -> Any:
        """`str(value)`; an Unknown where that is not known."""
        if isinstance(value, Unknown):
            if isinstance(value, Cases):
                return self.over_cases(value, self.as_text)
            return value.derive(f"str({value.name})", "str")
        if value.__class__ is str:
            return value
        if is_instance(value):
            hook = value.cls.find("__str__")
            if hook is not MISSING and hook is not None:
                return self.call(self.bind(hook, value, value.cls), [], {})
            return self.default_text(value)
        if is_foreign(value):
            return str(value)
        return self.as_repr(value)

    def default_text(self, value: Value) -> Any:
        """What `object.__str__`, `str.__str__` or `BaseException.__str__` gives."""
        if isinstance(value, str):
            return str.__str__(value)
        if is_instance(value):
            hook = value.cls.find("__repr__")
            if value.__class__ is Instance and self.is_exception(value):
                if "args" in value.d:
                    return self._exception_text(value, value.d["args"])
            elif hook is not MISSING and hook is not None:
                return self.call(self.bind(hook, value, value.cls), [], {})
        return self.default_repr(value, 0)

    def _exception_text(self, value: Instance, args: tuple[Value, ...]) -> Any:
        names = {cls.name for cls in value.cls.mro}
        if "OSError" in names and len(args) == 2 and "errno" in value.d:
            parts: list[Any] = ["[Errno ", self.as_text(args[0]), "] ", self.as_text(args[1])]
            if value.d.get("filename") is not None:
                parts += [": ", self.as_repr(value.d["filename"])]
            return self.assemble(parts)
        if not args:
            return ""
        if len(args) > 1:
            return self.as_repr(args)
        return self.as_repr(args[0]) if "KeyError" in names else self.as_text(args[0])

    def is_exception(self, value: Value) -> bool:
        """Whether the value is an instance of an exception class."""
        return any(cls.name == "BaseException" for cls in value.cls.mro)

    def as_repr(self, value: Value, depth: int = 0) -> Any:
        """`repr(value)`; an Unknown where a part is not known."""
        if depth > NESTING:
            raise Undecidable("a text of values nested too deeply")
        if isinstance(value, Unknown):
            if isinstance(value, Cases):
                return self.over_cases(value, lambda case: self.as_repr(case, depth))
            return value.derive(f"repr({value.name})", "repr")
        if is_instance(value):
            hook = value.cls.find("__repr__")
            if hook is not MISSING:
                return self.call(self.bind(hook, value, value.cls), [], {})
        return self.default_repr(value, depth)

    def default_repr(self, value: Value, depth: int = 0) -> Any:
        """`repr` by the built-in type underneath."""
        if value.__class__ is Instance:
            return self._plain_instance(value, depth)
        if isinstance(value, (list, tuple, set, frozenset)):
            return self._collection(value, depth)
        if isinstance(value, dict):
            parts: list[Any] = ["{"]
            for key, item in value.items():
                parts += [self.as_repr(key, depth + 1), ": ", self.as_repr(item, depth + 1), ", "]
            return self.assemble([*(parts[:-1] if len(parts) > 1 else parts), "}"])
        if isinstance(value, LayoutMixin):
            kind: Any = next(kind for kind in (str, int, float) if isinstance(value, kind))
            return kind.__repr__(value)
        if isinstance(value, Class):
            prefix = "" if value.module == "builtins" else f"{value.module}."
            return f"<class '{prefix}{value.qualname}'>"
        if isinstance(value, Function):
            return f"<function {value.qualname} at {ADDRESS}>"
        if isinstance(value, Module):
            return f"<module {value.name!r} from {value.file!r}>"
        if isinstance(value, Bound):
            return self.assemble(
                [f"<bound method {value.describe()} of ", self.as_repr(value.self, depth + 1), ">"]
            )
        if isinstance(value, Native):
            return f"<built-in function {value.name}>"
        if isinstance(value, Opaque):
            return value.name
        if type(value).__name__ in ("dict_keys", "dict_values", "dict_items"):
            inside = self.as_repr(list(value), depth)
            return self.assemble([f"{type(value).__name__}(", inside, ")"])
        return repr(value)

    def piece(self, value: Value, depth: int = 0) -> Any:
        """The text of an element inside the text of something larger."""
        return self.as_repr(value, depth + 1)

    def part(self, value: Value, depth: int) -> str:
        """The text of an element for people; an unknown shows as such."""
        text = self.as_repr(value, depth + 1)
        return f"<{text.name}>" if isinstance(text, Unknown) else str(text)

    def _plain_instance(self, value: Instance, depth: int) -> Any:
        if self.is_exception(value):
            args = value.d.get("args", ())
            parts: list[Any] = [f"{value.cls.name}("]
            for arg in args:
                parts += [self.as_repr(arg, depth + 1), ", "]
            return self.assemble([*(parts[:-1] if args else parts), ")"])
        return f"<{value.cls.module}.{value.cls.qualname} object at {ADDRESS}>"

    def _collection(self, value: Any, depth: int) -> Any:
        items: list[Any] = [self.as_repr(item, depth + 1) for item in value]
        if isinstance(value, (set, frozenset)):
            ordered = self.iterate_set(value)
            items = [self.as_repr(item, depth + 1) for item in ordered]
            name = "" if isinstance(value, set) else "frozenset"
            if not items:
                return "set()" if isinstance(value, set) else "frozenset()"
            first, last = ("{", "}") if isinstance(value, set) else (f"{name}({{", "})")
        elif isinstance(value, list):
            first, last = "[", "]"
        else:
            first, last = "(", ",)" if len(items) == 1 else ")"
        parts: list[Any] = []
        for item in items:
            parts += [item, ", "]
        return self.assemble([first, *parts[:-1], last])

    def assemble(self, parts: list[Any]) -> Any:
        """Pieces of text put together; unknown where one is, case by case where one has cases."""
        for index, part in enumerate(parts):
            if isinstance(part, Cases):
                return self.over_cases(
                    part, lambda case: self.assemble([*parts[:index], case, *parts[index + 1 :]])
                )
        if any(isinstance(part, Unknown) for part in parts):
            return self.unknown_text(parts)
        if sum(map(len, parts)) > LONGEST:
            raise Undecidable("a text too long to build")
        return "".join(parts)

    def format(self, value: Value, spec: Value, conversion: str) -> Any:
        """One part of an f-string."""
        if conversion == "r":
            value = self.as_repr(value)
        elif conversion == "s":
            value = self.as_text(value)
        elif conversion == "a":
            value = self.as_repr(value)
            if isinstance(value, str):
                value = value.encode("ascii", "backslashreplace").decode()
        for doubt in (value, spec):
            if isinstance(doubt, Cases):
                return self.over_cases(
                    doubt,
                    lambda case, doubt=doubt: self.format(
                        case if value is doubt else value, case if spec is doubt else spec, ""
                    ),
                )
        if isinstance(spec, Unknown):
            return spec.derive(f"{{:{spec.name}}}", "format-spec")
        if isinstance(value, Unknown):
            return value.derive(f"{{{value.name}}}", "format", spec)
        if is_instance(value):
            hook = value.cls.find("__format__")
            if hook is not MISSING:
                return self.call(self.bind(hook, value, value.cls), [spec], {})
        return self.default_format(value, spec)

    def default_payload_format(self, value: Value, spec: str) -> Any:
        """`format` by the built-in type underneath, whatever `__str__` the class has."""
        kind = next(kind for kind in (str, int, float) if isinstance(value, kind))
        try:
            return kind.__format__(value, spec)
        except Exception as error:
            raise self.convert(error) from None

    def default_format(self, value: Value, spec: str) -> Any:
        """What `object.__format__` or the `__format__` of the type underneath gives."""
        if not spec:
            return self.as_text(value)
        check_width(spec)
        if value.__class__ in FORMATTED or isinstance(value, (LayoutMixin, *FORMATTED)):
            kind: Any = next((kind for kind in FORMATTED if isinstance(value, kind)), None)
            if kind is not None:
                try:
                    return kind.__format__(value, spec)
                except Exception as error:
                    raise self.convert(error) from None
        text = f"unsupported format string passed to {self.type_name(value)}.__format__"
        if isinstance(value, Opaque):
            return Unknown(f"format({value.name})", "outside the tree")
        if not isinstance(value, (list, dict, tuple, set, type(None), Instance, Class, Function)):
            try:
                return format(value, spec)
            except Exception as error:
                raise self.convert(error) from None
        raise self.error("TypeError", text)

    def unknown_text(self, parts: list[Value]) -> Unknown:
        """An f-string of which a part is unknown; the known parts stay readable."""
        shown = "".join(f"<{part.name}>" if isinstance(part, Unknown) else part for part in parts)
        source = next(part for part in parts if isinstance(part, Unknown))
        keys = tuple(part.key if isinstance(part, Unknown) else part for part in parts)
        return Unknown(shown, source.reason, ("text", *keys), source.kind)

    def percent_format(self, template: str, values: Value) -> Any:
        """`"..." % values`."""
        named = isinstance(values, dict) and "%(" in template
        listed = list(values) if isinstance(values, tuple) else [values]
        doubt = next(
            (v for v in (values.values() if named else listed) if isinstance(v, Unknown)), None
        )
        check_width(template)
        if doubt is not None:
            return self.unknown_text([template, " % ", doubt])
        given: Any = tuple(self.wrapped(item) for item in listed)
        if named:
            given = {key: self.wrapped(item) for key, item in values.items()}
        elif isinstance(values, (list, dict, bytes, range)) and not CONVERSION.search(template):
            # What could be a mapping need not be used.
            given = ()
        try:
            return template % given
        except UnknownTextError as stop:
            return self.unknown_text([template, " % ", stop.text])
        except Exception as error:
            raise self.convert(error) from None

    def format_method(self, template: str, args: list[Value], kwargs: dict[str, Value]) -> Any:
        """`"...".format(...)`."""
        doubt = next((v for v in (*args, *kwargs.values()) if isinstance(v, Unknown)), None)
        if doubt is not None:
            return self.unknown_text([template, ".format ", doubt])
        check_width(template)
        try:
            if leads_inward(template):
                raise Undecidable("a format that asks for private attributes")
            return template.format(
                *[self.wrapped(item) for item in args],
                **{key: self.wrapped(item) for key, item in kwargs.items()},
            )
        except UnknownTextError as stop:
            return self.unknown_text([template, ".format ", stop.text])
        except Exception as error:
            raise self.convert(error) from None

    def wrapped(self, value: Value) -> Any:
        """A value as the standard formatter can take it."""
        if value.__class__ in (str, int, float, bool) or value is None:
            return value
        if isinstance(value, int):
            return _WrappedInt(self, value)
        if isinstance(value, float):
            return _WrappedFloat(self, value)
        return _Wrapped(self, value)


class UnknownTextError(Undecidable):
    """A part of a text to be formatted is not known."""

    def __init__(self, text: Unknown) -> None:
        super().__init__(f"{text.name}: {text.reason}")
        self.text = text


class _Wrapping:
    """Gives the standard formatter the text that the interpreted value has."""

    machine: Any
    value: Value

    def known(self, text: Any) -> str:
        """A text that must be known.

        Raises:
            Undecidable: it is not.
        """
        if isinstance(text, Unknown):
            raise UnknownTextError(text)
        return str(text)

    def __str__(self) -> str:
        return self.known(self.machine.as_text(self.value))

    def __repr__(self) -> str:
        return self.known(self.machine.as_repr(self.value))

    def __format__(self, spec: str) -> str:
        return self.known(self.machine.format(self.value, spec, ""))


class _Wrapped(_Wrapping):
    def __init__(self, machine: Any, value: Value) -> None:
        self.machine = machine
        self.value = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.machine.wrapped(self.machine.getattr(self.value, name))

    def __getitem__(self, key: Any) -> Any:
        return self.machine.wrapped(self.machine.getitem(self.value, key))


class _WrappedInt(_Wrapping, int):
    def __new__(cls, machine: Any, value: Value) -> _WrappedInt:
        made = int.__new__(cls, int.__int__(value))
        made.machine, made.value = machine, value
        return made


class _WrappedFloat(_Wrapping, float):
    def __new__(cls, machine: Any, value: Value) -> _WrappedFloat:
        made = float.__new__(cls, float.__float__(value))
        made.machine, made.value = machine, value
        return made
