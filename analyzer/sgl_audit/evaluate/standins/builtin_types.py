"""The classes that stand for Python's built-in types and exceptions.

Assumes: CPython 3.11's hierarchy.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.values import (
    MISSING,
    Bound,
    Class,
    ClassMethod,
    Function,
    Module,
    Native,
    Property,
    StaticMethod,
    Value,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine

LAID_OUT: tuple[type, ...] = (str, int, float, dict, list, set, tuple)
OTHERS: tuple[type, ...] = (frozenset, bytes, complex, range, slice, bytearray, memoryview)


def make_types(machine: Machine) -> dict[type, Class]:
    """The classes that stand for Python's built-in types."""
    root = Class("object", (), {})
    root.mro = (root,)
    root.bases = ()
    machine.object_class = root
    made: dict[type, Class] = {object: root}
    for kind in LAID_OUT:
        made[kind] = Class(kind.__name__, (root,), {}, layout=kind)
    for kind in OTHERS:
        made[kind] = Class(kind.__name__, (root,), {})
        made[kind].data["kind"] = kind
    made[bool] = Class("bool", (made[int],), {})
    made[type] = Class("type", (root,), {})
    made[type(None)] = Class("NoneType", (root,), {})
    made[type(NotImplemented)] = Class("NotImplementedType", (root,), {})
    made[type(...)] = Class("ellipsis", (root,), {})
    made[Function] = Class("function", (root,), {})
    made[Native] = Class("builtin_function_or_method", (root,), {})
    made[Bound] = Class("method", (root,), {})
    made[Module] = Class("module", (root,), {})
    made[Property] = Class("property", (root,), {})
    made[StaticMethod] = Class("staticmethod", (root,), {})
    made[ClassMethod] = Class("classmethod", (root,), {})
    made[type].ns["__call__"] = Native(
        "type.__call__",
        lambda args, kwargs: machine.create(args[0], args[1:], kwargs),
        raw=True,
        method=True,
    )
    return made


def make_exceptions(machine: Machine) -> dict[str, Class]:
    """Python's exception classes, by name."""
    made: dict[str, Class] = {}

    def make(kind: type) -> Class:
        name = kind.__name__
        if name not in made:
            bases = tuple(make(base) for base in kind.__bases__ if issubclass(base, BaseException))
            made[name] = Class(name, bases or (machine.object_class,), {})
            made[name].finals = True
        return made[name]

    for value in vars(builtins).values():
        if isinstance(value, type) and issubclass(value, BaseException):
            make(value)
    _fill_base(machine, made["BaseException"])
    made["EnvironmentError"] = made["IOError"] = made["OSError"]
    made["OSError"].ns["__init__"] = Native("OSError", fill_os_error, raw=True, method=True)
    for kind, name in (("SystemExit", "code"), ("StopIteration", "value")):
        made[kind].ns[name] = Property(Native(name, _first_argument, raw=True))
    made["ImportError"].ns["__init__"] = Native(
        "ImportError", _fill_import_error, raw=True, method=True
    )
    return made


def _fill_base(machine: Machine, base: Class) -> None:
    def make(args: list[Value], kwargs: dict[str, Value]) -> Value:
        from sgl_audit.evaluate.classes import new_instance

        item = new_instance(args[0])
        item.d["args"] = tuple(args[1:])
        return item

    def initialise(args: list[Value], kwargs: dict[str, Value]) -> None:
        if kwargs:
            text = f"{args[0].cls.name}() takes no keyword arguments"
            raise machine.error("TypeError", text)
        machine.touch(args[0].d)
        args[0].d["args"] = tuple(args[1:])

    def add_note(args: list[Value], kwargs: dict[str, Value]) -> None:
        own = args[0].d
        machine.touch(own)
        own["__notes__"] = [*own.get("__notes__", ()), args[1]]

    # The arguments are kept before any initialiser of the program runs, as BaseException.__new__
    # does: an initialiser that does not call its parent still leaves them.
    maker = Native("BaseException", make, raw=True)
    maker.d["then_init"] = True
    base.data["new"] = maker
    base.ns["__init__"] = Native("BaseException.__init__", initialise, raw=True, method=True)
    base.ns["with_traceback"] = Native(
        "with_traceback", lambda args, kwargs: args[0], raw=True, method=True
    )
    base.ns["add_note"] = Native("add_note", add_note, raw=True, method=True)
    for name in ("__cause__", "__context__", "__traceback__"):
        base.ns[name] = None
    base.ns["__suppress_context__"] = False


def fill_os_error(args: list[Value], kwargs: dict[str, Value]) -> None:
    """`OSError.__init__`: number, text and file name where two arguments or more are given."""
    own: dict[str, Any] = args[0].d
    given = args[1:]
    own["args"] = tuple(given[:2] if len(given) > 2 else given)
    own.update({"errno": None, "strerror": None, "filename": None})
    if len(given) >= 2:
        own.update({"errno": given[0], "strerror": given[1]})
        own["filename"] = given[2] if len(given) > 2 else None


def _fill_import_error(args: list[Value], kwargs: dict[str, Value]) -> None:
    own: dict[str, Any] = args[0].d
    own["args"] = tuple(args[1:])
    own.update({"name": kwargs.get("name"), "path": kwargs.get("path")})
    own["msg"] = args[1] if len(args) == 2 else None


def _first_argument(args: list[Value], kwargs: dict[str, Value]) -> Value:
    given = args[0].d.get("args", ())
    return given[0] if given else None


__all__ = ["MISSING", "fill_os_error", "make_exceptions", "make_types"]
