"""`inspect`.

Assumes: CPython's own answers on functions and classes of the tree; what lies outside it may be
a class or a function or neither.
"""

from __future__ import annotations

import ast
import inspect as real
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.scopes import has_yield
from sgl_audit.evaluate.standins.functions import directory
from sgl_audit.evaluate.values import (
    MISSING,
    Bound,
    Class,
    ClassMethod,
    Function,
    Instance,
    Module,
    Native,
    Opaque,
    StaticMethod,
    Unknown,
    Value,
    freeze,
    short,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine
    from sgl_audit.evaluate.standins import Standins

KINDS = (
    "POSITIONAL_ONLY",
    "POSITIONAL_OR_KEYWORD",
    "VAR_POSITIONAL",
    "KEYWORD_ONLY",
    "VAR_KEYWORD",
)


class Reflection:
    """Signatures and questions about kinds of values."""

    def __init__(self, standins: Standins) -> None:
        self.machine: Machine = standins.machine
        root = self.machine.object_class
        self.empty = Class("_empty", (root,), {}, "inspect")
        self.parameter = Class("Parameter", (root,), {"empty": self.empty}, "inspect")
        self.parameter.ns.update({name: index for index, name in enumerate(KINDS)})
        self.made = Class("Signature", (root,), {"empty": self.empty}, "inspect")

    def signature(self, target: Value, **options: Value) -> Value:
        """`inspect.signature`."""
        function, skipped = underlying(target)
        if not isinstance(function, Function):
            return Unknown(f"signature of {short(target)}", "of something outside the tree")
        parameters = [self._parameter(function, *entry) for entry in listed(function)][skipped:]
        item = Instance(self.made)
        item.d["parameters"] = {made.d["name"]: made for made in parameters}
        notes = function.code.shown_annotations(function)
        item.d["return_annotation"] = notes.get("return", self.empty)
        return item

    def _parameter(self, function: Function, name: str, kind: int, default: Value) -> Instance:
        item = Instance(self.parameter)
        note = function.code.notes_of(function).get(name)
        item.d.update(
            {
                "name": name,
                "kind": kind,
                "default": self.empty if default is MISSING else default,
                "annotation": self.empty if note is None else note.shown(),
            }
        )
        return item

    def ask(self, name: str, test: Callable[[Value], bool]) -> Native:
        """A question on the kind of a value; open for what is not of the tree."""

        def run(args: list[Value], kwargs: dict[str, Value]) -> Value:
            (value,) = args
            if isinstance(value, (Opaque, Unknown)):
                reason = value.reason if isinstance(value, Unknown) else "outside the tree"
                return Unknown(f"{name}({value.name})", reason, (name, freeze(value)))
            return test(value)

        return Native(f"inspect.{name}", run, raw=True)

    def members(self, target: Value, test: Value = None) -> Value:
        """`inspect.getmembers`."""
        pairs = []
        for name in directory(self.machine, target):
            value = self.machine.lookup(target, name)
            if value is not MISSING and (
                test is None or self.machine.truth(self.machine.call(test, [value], {}))
            ):
                pairs.append((name, value))
        return pairs

    def document(self, target: Value) -> Value:
        """`inspect.getdoc`."""
        text = self.machine.lookup(target, "__doc__")
        return real.cleandoc(text) if isinstance(text, str) else None


def underlying(target: Value) -> tuple[Value, int]:
    """The function behind a callable, and how many of its parameters are filled in."""
    skipped = 0
    while True:
        if isinstance(target, Bound):
            target, skipped = target.function, skipped + 1
        elif isinstance(target, (StaticMethod, ClassMethod)):
            target = target.function
        elif isinstance(target, (Native, Function)) and "__wrapped__" in target.d:
            target = target.d["__wrapped__"]
        elif isinstance(target, Class):
            target, skipped = target.find("__init__"), skipped + 1
        else:
            return target, skipped


def listed(function: Function) -> list[tuple[str, int, Value]]:
    """Parameters in order: name, kind and default or MISSING."""
    code = function.code
    first = len(code.positional) - len(function.defaults)
    found: list[tuple[str, int, Value]] = []
    for index, name in enumerate(code.positional):
        default = function.defaults[index - first] if index >= first else MISSING
        found.append((name, 0 if index < code.posonly else 1, default))
    if code.vararg:
        found.append((code.vararg, 2, MISSING))
    found += [(name, 3, function.kwdefaults.get(name, MISSING)) for name in code.kwonly]
    if code.kwarg:
        found.append((code.kwarg, 4, MISSING))
    return found


def _code(value: Value) -> Any:
    function, _ = underlying(value)
    return function.code if isinstance(function, Function) else None


def _yields(value: Value) -> bool:
    code = _code(value)
    return code is not None and not isinstance(code.node, ast.Lambda) and has_yield(code.node.body)


def build(standins: Standins, module: Module) -> None:
    """`inspect`."""
    tools = Reflection(standins)
    machine = standins.machine
    ask = tools.ask
    questions: dict[str, Callable[[Value], bool]] = {
        "isclass": lambda value: isinstance(value, Class),
        "isfunction": lambda value: isinstance(value, Function),
        "ismethod": lambda value: isinstance(value, Bound) and isinstance(value.function, Function),
        "isroutine": lambda value: isinstance(value, (Function, Bound, Native)),
        "ismodule": lambda value: isinstance(value, Module),
        "iscoroutinefunction": lambda value: bool(getattr(_code(value), "is_async", False)),
        "isgeneratorfunction": _yields,
        "isabstract": lambda value: bool(getattr(value, "data", {}).get("abstract_names")),
    }
    module.ns.update({name: ask(name, test) for name, test in questions.items()})
    standins.define(
        module,
        raw=True,
        signature=tools.signature,
        getmro=lambda cls: machine.getattr(cls, "__mro__"),
        getdoc=tools.document,
        unwrap=lambda value: underlying(value)[0],
        currentframe=lambda: Unknown("the frame", "frames are not followed"),
        stack=lambda: Unknown("the stack", "frames are not followed"),
        getmodule=lambda value: machine.imports.modules.get(getattr(value, "module", "")),
        getmembers=tools.members,
    )
    module.ns.update({"Parameter": tools.parameter, "Signature": tools.made, "_empty": tools.empty})
    standins.define(module, cleandoc=real.cleandoc)
