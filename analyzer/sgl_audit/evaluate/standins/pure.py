"""Pure standard modules, used for real on known values.

Assumes: this Python's own `re`, `math`, `json` and the like behave as the server's.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.standins.bounds import check_cost
from sgl_audit.evaluate.values import (
    Class,
    Instance,
    LayoutMixin,
    Module,
    Native,
    Opaque,
    Undecidable,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.standins import Standins

PURE = {
    "math": None,
    "re": None,
    "string": None,
    "textwrap": None,
    "ipaddress": None,
    "urllib.parse": None,
    "hashlib": None,
    "base64": None,
    "bisect": None,
    "difflib": None,
    "fnmatch": None,
    "html": None,
    "numbers": None,
    "statistics": None,
    "binascii": None,
    "packaging.version": None,
    "packaging.specifiers": None,
    "datetime": ("timedelta", "timezone", "date"),
    "decimal": ("Decimal",),
    "fractions": ("Fraction",),
    "shlex": ("split", "quote", "join"),
    "ast": ("literal_eval",),
    "keyword": None,
    "unicodedata": None,
    "errno": None,
    "signal": None,
    "stat": None,
}
SIMPLE = (int, float, str, bytes, tuple, frozenset, bool, type(None))


def _build_pure(standins: Standins, module: Module) -> None:
    real = importlib.import_module("re" if module.name == "regex" else module.name)
    names = PURE.get(module.name) or [name for name in dir(real) if not name.startswith("__")]
    for name in names:
        value = getattr(real, name)
        if isinstance(value, SIMPLE) and not isinstance(value, Callable):  # type: ignore[arg-type]
            module.ns[name] = value
        elif isinstance(value, type) and issubclass(value, BaseException):
            module.ns[name] = exception_class(standins, value)
        elif callable(value) and _may_run(module.name, name):
            module.ns[name] = _wrap(standins, module.name, name, value)


# These have names only: what their functions do is done to this very process, or to its files.
NAMES_ONLY = {"signal"}
PROGRAMS = {"base64": ("main", "test", "encode", "decode")}
# These answer differently on every day.
CLOCKS = {"today", "now", "utcnow"}


def _may_run(module: str, name: str) -> bool:
    return not (module in NAMES_ONLY or name.startswith("_") or name in PROGRAMS.get(module, ()))


def _wrap(standins: Standins, module: str, name: str, function: Any) -> Value:
    machine = standins.machine

    def run(args: list[Value], kwargs: dict[str, Value]) -> Value:
        for arg in (*args, *kwargs.values()):
            if isinstance(arg, (Instance, Opaque)):
                return Unknown(f"{module}.{name}(...)", "an argument is an object of the program")
        check_cost(module, name, [*args, *kwargs.values()])
        given = [machine.iterate_counted(arg) if type(arg) is range else arg for arg in args]
        return machine.imports.hosts.run(function, given, kwargs)

    if not isinstance(function, type):
        return Native(f"{module}.{name}", run)
    cls = Class(name, (machine.object_class,), {}, module)
    cls.data["check"] = lambda value: isinstance(value, function)
    cls.data["new"] = Native(name, lambda args, kwargs: run(args[1:], kwargs))
    for attr in dir(function):
        if not attr.startswith("_") and callable(getattr(function, attr)):
            cls.ns[attr] = _class_level(standins, function, attr)
    return cls


def _class_level(standins: Standins, kind: type, attr: str) -> Native:
    """A method read from a class of a standard module."""
    static = getattr(kind, attr)
    if attr in CLOCKS:
        return Native(
            attr,
            lambda args, kwargs: Unknown(f"{kind.__name__}.{attr}()", "depends on the day"),
        )
    hosts = standins.machine.imports.hosts
    return Native(f"{kind.__name__}.{attr}", lambda args, kw: hosts.run(static, args, kw))


def exception_class(standins: Standins, kind: type) -> Class:
    """An exception class of a standard module as an interpreted one."""
    known = standins.machine.exceptions
    if kind.__name__ not in known:
        bases = tuple(
            exception_class(standins, base)
            for base in kind.__bases__
            if issubclass(base, BaseException)
        )
        known[kind.__name__] = Class(kind.__name__, bases, {}, kind.__module__)
    return known[kind.__name__]


def _build_json(standins: Standins, module: Module) -> None:
    machine = standins.machine
    error = exception_class(standins, json.JSONDecodeError)
    module.ns["JSONDecodeError"] = error
    machine.imports.modules.get("json.decoder")

    hooks = ("object_hook", "object_pairs_hook", "parse_float", "parse_int", "parse_constant")

    def loads(text: Value, **options: Value) -> Value:
        given = {
            name: machine.imports.hosts.plain(options[name])
            for name in hooks
            if options.get(name) is not None
        }
        try:
            return json.loads(text, **given)
        except json.JSONDecodeError as problem:
            raise machine.error("JSONDecodeError", str(problem)) from None

    def load(handle: Value, **options: Value) -> Value:
        if isinstance(handle.content, Unknown):
            return handle.content.derive(f"JSON of {handle.content.name}", "json")
        return loads(handle.content, **options)

    def dumps(value: Value, **options: Value) -> Value:
        names = ("indent", "sort_keys", "ensure_ascii", "separators", "skipkeys")
        allowed = {k: v for k, v in options.items() if k in names}
        return json.dumps(to_plain(machine, value, 0, options.get("default")), **allowed)

    def dump(value: Value, handle: Value, **options: Value) -> None:
        handle.write(dumps(value, **options))

    standins.define(module, loads=loads, load=load, dump=dump, raw=False)
    module.ns["dumps"] = standins.native("json.dumps", dumps, raw=True)


def to_plain(machine: Any, value: Value, depth: int = 0, default: Value = None) -> Any:
    """A value as `json.dumps` writes it.

    Raises:
        Undecidable: a part of it is unknown.
    """
    if depth > 60:
        raise machine.error("ValueError", "Circular reference detected")
    if isinstance(value, Unknown):
        raise Undecidable(f"{value.name}: {value.reason}")
    if isinstance(value, dict):
        return {
            _key(machine, k): to_plain(machine, v, depth + 1, default) for k, v in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [to_plain(machine, v, depth + 1, default) for v in value]
    if isinstance(value, LayoutMixin):
        # A number or text of the program's own class is written as what it is underneath.
        for kind in (str, int, float):
            if isinstance(value, kind):
                return kind.__new__(kind, value)
    if isinstance(value, (str, int, float, bool, type(None))):
        return value
    if default is not None:
        return to_plain(machine, machine.call(default, [value], {}), depth + 1, default)
    raise machine.error(
        "TypeError", f"Object of type {machine.type_name(value)} is not JSON serializable"
    )


def _key(machine: Any, key: Value) -> Any:
    if isinstance(key, (str, int, float, bool, type(None))):
        return key
    kind = machine.type_name(key)
    text = f"keys must be str, int, float, bool or None, not {kind}"
    raise machine.error("TypeError", text)


BUILDERS: dict[str, Any] = dict.fromkeys(PURE, _build_pure)
BUILDERS["regex"] = _build_pure
BUILDERS["json"] = _build_json
BUILDERS["orjson"] = _build_json
