"""Lowering of functions, classes and assignment targets; bodies are lowered on first call."""

from __future__ import annotations

import ast
from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.expressions import Frame, Run, load_name, lower_expression
from sgl_audit.evaluate.scopes import (
    GLOBALS,
    PARENT,
    Scope,
    bound_names,
    has_yield,
    parameter_names,
)
from sgl_audit.evaluate.values import Annotation, Function, Value

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine

Store = Callable[[Frame, Value], None]


class Code:
    """One function of the source, lowered when it is first called.

    Attributes:
        positional: names that take positional arguments, in order.
        place: file and line of the definition.
    """

    __slots__ = (
        "_followed",
        "_lowered",
        "_lowering",
        "_node",
        "_scope",
        "annotations",
        "file",
        "generator",
        "is_async",
        "kwarg",
        "kwonly",
        "line",
        "module",
        "name",
        "positional",
        "posonly",
        "qualname",
        "simple",
        "vararg",
        "watch",
    )

    def __init__(self, lowering: Lowering, node: Any, scope: Scope) -> None:
        arguments = node.args
        name: Any = getattr(node, "shown_name", None) or getattr(node, "name", "<lambda>")
        self.name: str = name
        self.qualname = scope.prefix + self.name
        self.module = lowering.module
        self.file = lowering.file
        self.line = node.lineno
        self.positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        self.posonly = len(arguments.posonlyargs)
        self.kwonly = [a.arg for a in arguments.kwonlyargs]
        self.vararg = arguments.vararg.arg if arguments.vararg else None
        self.kwarg = arguments.kwarg.arg if arguments.kwarg else None
        self.simple = not (self.kwonly or self.vararg or self.kwarg)
        self.annotations = [
            (a.arg, a.annotation)
            for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
            if a.annotation is not None
        ]
        self.is_async = isinstance(node, ast.AsyncFunctionDef)
        self.generator = False
        self.watch: Any = None
        self._lowering = lowering
        self._node = node
        self._scope = scope
        self._lowered: Run | None = None
        self._followed: Run | None = None

    @property
    def body(self) -> Run:
        """The closure that runs the body; returns a signal (see statements)."""
        if self._lowered is None:
            self._lowered = self._lower(self._lowering)
        return self._lowered

    @property
    def followed(self) -> Run:
        """The closure that runs the body and goes on where something cannot be evaluated."""
        if self._followed is None:
            self._followed = self._lower(self._lowering.tolerating())
        return self._followed

    @property
    def node(self) -> Any:
        """The definition in the syntax tree."""
        return self._node

    def with_body(self, body: list[ast.stmt]) -> Code:
        """The same function with another body, not lowered yet."""
        node = copy(self._node)
        node.body = body
        return Code(self._lowering, node, self._scope)

    @property
    def scope(self) -> Scope:
        """The scope in which the function is defined."""
        return self._scope

    def notes_of(self, function: Function) -> dict[str, Annotation]:
        """The annotations of parameters and return value, not evaluated yet."""
        if isinstance(self._node, ast.Lambda):
            return {}
        frame = function.env
        if self._scope.kind == "class":
            frame = {GLOBALS: function.globals, PARENT: function.env}
        given = self._node.args
        listed = [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg]
        notes = [(a.arg, a.annotation) for a in listed if a is not None and a.annotation]
        if self._node.returns is not None:
            notes.append(("return", self._node.returns))
        return {name: self._lowering.annotation(node, self._scope, frame) for name, node in notes}

    def shown_annotations(self, function: Function) -> dict[str, Value]:
        """`function.__annotations__`."""
        return {name: note.shown() for name, note in self.notes_of(function).items()}

    @property
    def doc(self) -> str | None:
        """The docstring."""
        if isinstance(self._node, ast.Lambda):
            return None
        return ast.get_docstring(self._node, clean=False)

    def _lower(self, lowering: Lowering) -> Run:
        from sgl_audit.evaluate.statements import RETURN, lower_block, lower_generator

        node = self._node
        inner = Scope("function", self._scope, set(), self.qualname)
        inner.owner = self.positional[0] if self.positional else None
        names = set(parameter_names(node.args))
        if isinstance(node, ast.Lambda):
            inner.names = names | bound_names([node.body], inner)
            value = lower_expression(lowering, node.body, inner)
            return lambda f: RETURN(value(f))
        inner.names = names | bound_names(node.body, inner)
        inner.names -= inner.globals
        if has_yield(node.body):
            self.generator = True
            return lower_generator(lowering, node.body, inner)
        return lower_block(lowering, node.body, inner)


class Lowering:
    """Lowers the code of one file.

    Attributes:
        postponed: annotations stay text (`from __future__ import annotations`).
        tolerant: a statement that cannot be evaluated leaves unknowns and the next one runs.
    """

    def __init__(self, machine: Machine, module: str, file: str) -> None:
        self.machine = machine
        self.module = module
        self.file = file
        self.postponed = False
        self.tolerant = False
        self._tolerating: Lowering | None = None

    def tolerating(self) -> Lowering:
        """The lowering of the same code for following: see `following.tolerant`."""
        if self.tolerant:
            return self
        if self._tolerating is None:
            other = Lowering(self.machine, self.module, self.file)
            other.postponed = self.postponed
            other.tolerant = True
            self._tolerating = other
        return self._tolerating

    def place(self, node: ast.stmt) -> tuple[str, int] | None:
        """Where a statement stands; stand-ins stand nowhere, so that their callers are named."""
        return (self.file, node.lineno) if self.file else None

    def function(self, node: Any, scope: Scope) -> Run:
        """A closure that makes the function object for a definition or lambda."""
        code = Code(self, node, scope)
        defaults = [lower_expression(self, item, scope) for item in node.args.defaults]
        kwdefaults = [
            (argument.arg, lower_expression(self, item, scope))
            for argument, item in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            if item is not None
        ]
        in_class = scope.kind == "class"

        def make(f: Frame) -> Value:
            return Function(
                code,
                f[PARENT] if in_class else f,
                f[GLOBALS],
                tuple([run(f) for run in defaults]),
                {name: run(f) for name, run in kwdefaults},
            )

        return make

    def store_name(self, name: str, scope: Scope) -> Store:
        """Writing a name, wherever it is bound."""
        where, depth = scope.resolve(name)
        touch = self.machine.touch
        if where == "local":

            def local(f: Frame, value: Value) -> None:
                f[name] = value

            return local
        if where == "class":

            def in_class(f: Frame, value: Value) -> None:
                f[name] = value

            return in_class
        if where == "up":

            def up(f: Frame, value: Value) -> None:
                for _ in range(depth):
                    f = f[PARENT]
                touch(f)
                f[name] = value

            return up

        def to_globals(f: Frame, value: Value) -> None:
            ns = f[GLOBALS]
            touch(ns)
            ns[name] = value

        return to_globals

    def assign(self, target: ast.expr, scope: Scope) -> Store:
        """The closure that stores a value into a target."""
        machine = self.machine
        match target:
            case ast.Name(id=name):
                return self.store_name(name, scope)
            case ast.Attribute(value=owner, attr=attr):
                base = lower_expression(self, owner, scope)
                return lambda f, value: machine.setattr(base(f), attr, value)
            case ast.Subscript(value=owner, slice=index):
                base = lower_expression(self, owner, scope)
                key = lower_expression(self, index, scope)
                return lambda f, value: machine.setitem(base(f), key(f), value)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return self._unpack(items, scope)
            case ast.Starred(value=inner):
                return self.assign(inner, scope)
        raise AssertionError(ast.dump(target))

    def _unpack(self, items: list[ast.expr], scope: Scope) -> Store:
        machine = self.machine
        stores = [self.assign(item, scope) for item in items]
        star = next((i for i, item in enumerate(items) if isinstance(item, ast.Starred)), None)
        count = len(stores)

        names = [item.id for item in items if isinstance(item, ast.Name)]
        if (
            star is None
            and len(names) == count
            and all(scope.resolve(name)[0] == "local" for name in names)
        ):

            def to_locals(f: Frame, value: Value) -> None:
                if value.__class__ is not tuple or len(value) != count:
                    value = machine.unpack(value, count, None)
                for name, item in zip(names, value):  # noqa: B905
                    f[name] = item

            return to_locals

        def run(f: Frame, value: Value) -> None:
            values = machine.unpack(value, count, star)
            for store, item in zip(stores, values, strict=True):
                store(f, item)

        return run

    def annotation(self, node: ast.expr, scope: Scope, f: Frame) -> Annotation:
        """An annotation that is evaluated on demand, in the scope where it stands."""
        outer = {GLOBALS: f[GLOBALS], PARENT: f[PARENT]}
        text = node.value if isinstance(node, ast.Constant) else None

        known: list[Value] = []
        touch = self.machine.touch

        def evaluate() -> Value:
            if known:
                return known[0]
            parsed = ast.parse(text.strip(), mode="eval").body if isinstance(text, str) else node
            frame = {**f, **outer} if scope.kind == "class" else f
            value = lower_expression(self, parsed, scope)(frame)
            touch(known)
            known[:] = [value]
            return value

        quoted = isinstance(text, str)
        return Annotation(
            str(text) if quoted else ast.unparse(node), evaluate, quoted or self.postponed
        )

    def load(self, name: str, scope: Scope) -> Run:
        """Reading a name."""
        return load_name(self, name, scope)
