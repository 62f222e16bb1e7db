"""`str`, `repr` and `format` of interpreter values, as Python would write them."""

from __future__ import annotations

from typing import Any

from sgl_audit.evaluate.values import (
    MISSING,
    Class,
    Function,
    Instance,
    Module,
    Opaque,
    Undecidable,
    Unknown,
    Value,
    is_instance,
)


class Text:
    """Text of values. Sets are written sorted: their order in Python means nothing."""

    def as_text(self, value: Value) -> Any:
        """`str(value)`; an Unknown where that is not known."""
        if isinstance(value, Unknown):
            return value.derive(f"str({value.name})", "str")
        if value.__class__ is str:
            return value
        if is_instance(value):
            for name in ("__str__", "__repr__"):
                hook = value.cls.find(name)
                if hook is not MISSING and hook is not None:
                    return self.call(self.bind(hook, value, value.cls), [], {})  # type: ignore[attr-defined]
            if isinstance(value, str):
                return str(value)
            if value.__class__ is Instance and "args" in value.d and self.is_exception(value):
                args = value.d["args"]
                return (
                    ""
                    if not args
                    else self.as_text(args[0])
                    if len(args) == 1
                    else self.as_repr(args)
                )
        return self.as_repr(value)

    def is_exception(self, value: Value) -> bool:
        """Whether the value is an instance of an exception class."""
        return any(cls.name == "BaseException" for cls in value.cls.mro)

    def as_repr(self, value: Value, depth: int = 0) -> Any:
        """`repr(value)`."""
        if depth > 20:
            raise Undecidable("a text of values nested too deeply")
        if isinstance(value, Unknown):
            return value.derive(f"repr({value.name})", "repr")
        if is_instance(value):
            return self._instance_repr(value, depth)
        kind = value.__class__
        if kind in (list, tuple, set, frozenset):
            return self._collection(value, depth)
        if kind is dict:
            pairs = [f"{self.part(k, depth)}: {self.part(v, depth)}" for k, v in value.items()]
            return "{" + ", ".join(pairs) + "}"
        if isinstance(value, Class):
            return f"<class '{value.qualname if value.module == 'builtins' else value.module + '.' + value.qualname}'>"
        if isinstance(value, (Function, Module, Opaque)):
            return repr(value) if not isinstance(value, Opaque) else value.name
        return repr(value)

    def part(self, value: Value, depth: int) -> str:
        """The text of an element; an unknown shows as such."""
        text = self.as_repr(value, depth + 1)
        return f"<{text.name}>" if isinstance(text, Unknown) else str(text)

    def _instance_repr(self, value: Value, depth: int) -> Any:
        hook = value.cls.find("__repr__")
        if hook is not MISSING:
            return self.call(self.bind(hook, value, value.cls), [], {})  # type: ignore[attr-defined]
        for kind in (str, int, float, list, dict, tuple, set):
            if isinstance(value, kind):
                return (
                    repr(kind(value))
                    if kind in (str, int, float)
                    else self.as_repr(kind(value), depth)
                )  # type: ignore[call-overload]
        if self.is_exception(value):
            args = value.d.get("args", ())
            inside = ", ".join(self.part(arg, depth) for arg in args)
            return f"{value.cls.name}({inside})"
        return f"<{value.cls.module}.{value.cls.qualname} object>"

    def _collection(self, value: Any, depth: int) -> str:
        items = [self.part(item, depth) for item in value]
        match value:
            case list():
                return "[" + ", ".join(items) + "]"
            case tuple():
                return "(" + ", ".join(items) + (",)" if len(items) == 1 else ")")
            case frozenset():
                return "frozenset({" + ", ".join(sorted(items)) + "})" if items else "frozenset()"
        return "{" + ", ".join(sorted(items)) + "}" if items else "set()"

    def format(self, value: Value, spec: str, conversion: str) -> Any:
        """One part of an f-string."""
        if conversion == "r":
            value = self.as_repr(value)
        elif conversion in ("s", "a"):
            value = self.as_text(value)
        if isinstance(value, Unknown):
            return value.derive(f"{{{value.name}}}", "format", spec)
        if is_instance(value):
            hook = value.cls.find("__format__")
            if hook is not MISSING:
                return self.call(self.bind(hook, value, value.cls), [spec], {})  # type: ignore[attr-defined]
        if not spec:
            return self.as_text(value)
        plain = isinstance(value, (int, float, str, bool)) or not isinstance(
            value, (Instance, Class, Function, Module, Opaque)
        )
        try:
            return format(value if plain else self.as_text(value), spec)
        except Exception as error:
            raise self.convert(error) from None  # type: ignore[attr-defined]

    def unknown_text(self, parts: list[Value]) -> Unknown:
        """An f-string of which a part is unknown; the known parts stay readable."""
        shown = "".join(f"<{part.name}>" if isinstance(part, Unknown) else part for part in parts)
        source = next(part for part in parts if isinstance(part, Unknown))
        keys = tuple(part.key if isinstance(part, Unknown) else part for part in parts)
        return Unknown(shown, source.reason, ("text", *keys), source.kind)
