"""Names and what they are bound to, with the conditions around each binding."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from sgl_audit.extract.machine.values import Value

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


class How(Enum):
    """What kind of statement binds a name."""

    EXPRESSION = auto()
    ITEM = auto()
    FUNCTION = auto()
    CLASS = auto()
    IMPORT = auto()
    PARAMETER = auto()
    OPAQUE = auto()


@dataclass(frozen=True, slots=True)
class ImportFails:
    """The condition of an `except ImportError` branch: one of these modules is missing."""

    modules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One enclosing condition, with the value it must have."""

    test: ast.expr | ImportFails
    holds: bool


@dataclass(frozen=True, slots=True)
class Binding:
    """One statement that binds a name."""

    how: How
    line: int
    node: ast.AST | None = None
    index: int = 0
    module: str = ""
    attribute: str | None = None
    steps: tuple[Step, ...] = ()
    scope: Scope | None = None


@dataclass(slots=True, eq=False)
class ClassInfo:
    """A class: its methods, its class-level names, and what methods assign to `self`."""

    name: str
    node: ast.ClassDef
    scope: Scope
    methods: dict[str, FunctionNode] = field(default_factory=dict)
    assigned: dict[str, list[tuple[ast.expr, Scope, int]]] = field(default_factory=dict)
    body: Scope | None = None


@dataclass(slots=True, eq=False)
class Scope:
    """A module, class body or function, with its names bound so far as statements say."""

    path: str
    node: ast.AST
    parent: Scope | None = None
    names: dict[str, list[Binding]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    owner: ClassInfo | None = None
    classes: dict[int, ClassInfo] = field(default_factory=dict)
    functions: dict[int, Scope] = field(default_factory=dict)
    values: dict[str, Value] | None = None
    calls: dict[str, list[tuple[ast.Call, Scope]]] | None = None

    @property
    def module(self) -> Scope:
        """The module this scope belongs to."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    @property
    def is_module(self) -> bool:
        """Whether this is the module itself."""
        return self.parent is None


def module_scope(path: str, tree: ast.Module) -> Scope:
    """The names of a module."""
    scope = Scope(path, tree)
    collect(scope, tree.body, ())
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and not statement.args.args:
            _collect_globals(scope, statement)
    return scope


def _collect_globals(module: Scope, node: ast.FunctionDef) -> None:
    """Names of the module that a function without arguments sets (a value computed once)."""
    names = {name for item in node.body if isinstance(item, ast.Global) for name in item.names}
    if names:
        inner = function_scope(node, module)
        for name in sorted(names & inner.names.keys()):
            bindings = inner.names.pop(name)
            module.names.setdefault(name, []).extend(
                replace(item, scope=inner) for item in bindings
            )


def function_scope(node: FunctionNode | ast.Lambda, parent: Scope) -> Scope:
    """The names of a function, made once per function."""
    known = parent.functions.get(id(node))
    if known is None:
        known = Scope(parent.path, node, parent)
        known.owner = parent.owner
        for argument in parameters(node):
            _bind(known, argument.arg, Binding(How.PARAMETER, node.lineno, argument))
        if not isinstance(node, ast.Lambda):
            collect(known, node.body, ())
        parent.functions[id(node)] = known
    return known


def frame(parent: Scope, values: dict[str, Value], node: ast.AST | None = None) -> Scope:
    """A scope whose names have values already: a call of `node`, or a comprehension's round."""
    return Scope(parent.path, node or parent.node, parent, owner=parent.owner, values=values)


def class_info(node: ast.ClassDef, parent: Scope) -> ClassInfo:
    """The methods and attributes of a class, made once per class."""
    info = parent.classes.get(id(node))
    if info is not None:
        return info
    info = ClassInfo(node.name, node, parent)
    parent.classes[id(node)] = info
    body = Scope(parent.path, node, parent, owner=info)
    collect(body, node.body, ())
    info.body = body
    for statement in node.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            info.methods[statement.name] = statement
            _collect_self(info, statement, function_scope(statement, body))
    return info


def release(scope: Scope) -> None:
    """Take a scope and its inner ones apart: they refer to each other in circles."""
    for inner in scope.functions.values():
        release(inner)
    for info in scope.classes.values():
        info.assigned.clear()
        if info.body is not None:
            release(info.body)
    scope.functions.clear()
    scope.classes.clear()
    scope.names.clear()
    scope.owner = None
    scope.calls = None


def parameters(node: FunctionNode | ast.Lambda) -> list[ast.arg]:
    """Every parameter, in order."""
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [item for item in (arguments.vararg, arguments.kwarg) if item is not None]
    return every


def collect(scope: Scope, body: Sequence[ast.stmt], steps: tuple[Step, ...]) -> None:
    """Add the bindings of statements to a scope; nested functions keep theirs."""
    for statement in body:
        _collect_one(scope, statement, steps)


def _bind(scope: Scope, name: str, binding: Binding) -> None:
    scope.names.setdefault(name, []).append(binding)


def _collect_one(scope: Scope, node: ast.stmt, steps: tuple[Step, ...]) -> None:
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                _target(scope, target, value, node.lineno, steps)
        case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
            _bind(scope, name, Binding(How.EXPRESSION, node.lineno, value, steps=steps))
        case ast.AugAssign(target=ast.Name(id=name)):
            _bind(scope, name, Binding(How.OPAQUE, node.lineno, steps=steps))
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            _bind(scope, name, Binding(How.FUNCTION, node.lineno, node, steps=steps))
        case ast.ClassDef(name=name):
            _bind(scope, name, Binding(How.CLASS, node.lineno, node, steps=steps))
        case ast.Import() | ast.ImportFrom():
            _import(scope, node, steps)
        case ast.If(test=test, body=body, orelse=orelse):
            collect(scope, body, (*steps, Step(test, True)))
            collect(scope, orelse, (*steps, Step(test, False)))
        case ast.For() | ast.AsyncFor():
            _opaque(scope, node.target, node.lineno, steps)
            collect(scope, [*node.body, *node.orelse], steps)
        case ast.While(body=body, orelse=orelse):
            collect(scope, [*body, *orelse], steps)
        case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
            for item in items:
                if item.optional_vars is not None:
                    _opaque(scope, item.optional_vars, node.lineno, steps)
            collect(scope, body, steps)
        case ast.Try():
            _try(scope, node, steps)
        case ast.Match(cases=cases):
            for case in cases:
                collect(scope, case.body, (*steps, Step(ast.Constant(...), True)))
        case ast.Expr(value=ast.NamedExpr(target=ast.Name(id=name), value=value)):
            _bind(scope, name, Binding(How.EXPRESSION, node.lineno, value, steps=steps))
        case _:
            pass


def _try(scope: Scope, node: ast.Try, steps: tuple[Step, ...]) -> None:
    modules = tuple(imported_modules(node.body))
    fails = ImportFails(modules)
    collect(scope, [*node.body, *node.orelse], (*steps, Step(fails, False)))
    for handler in node.handlers:
        collect(scope, handler.body, (*steps, Step(fails, True)))
    collect(scope, node.finalbody, steps)


def imported_modules(body: Sequence[ast.stmt]) -> Iterator[str]:
    """The modules that statements import at their own level."""
    for statement in body:
        match statement:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str() as module, level=0):
                yield module
            case ast.If(body=inner):
                yield from imported_modules(inner)


def _target(
    scope: Scope, target: ast.expr, value: ast.expr, line: int, steps: tuple[Step, ...]
) -> None:
    match target:
        case ast.Name(id=name):
            _bind(scope, name, Binding(How.EXPRESSION, line, value, steps=steps))
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for index, element in enumerate(elements):
                if isinstance(element, ast.Name):
                    item = Binding(How.ITEM, line, value, index, steps=steps)
                    _bind(scope, element.id, item)
                else:
                    _opaque(scope, element, line, steps)
        case _:
            pass


def _opaque(scope: Scope, target: ast.expr, line: int, steps: tuple[Step, ...]) -> None:
    for node in ast.walk(target):
        if isinstance(node, ast.Name):
            _bind(scope, node.id, Binding(How.OPAQUE, line, steps=steps))


def _import(scope: Scope, node: ast.Import | ast.ImportFrom, steps: tuple[Step, ...]) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            module = alias.name if alias.asname else name
            _bind(scope, name, Binding(How.IMPORT, node.lineno, module=module, steps=steps))
        return
    module = absolute_module(scope.path, node)
    for alias in node.names:
        if alias.name == "*":
            scope.stars.append(module)
            continue
        binding = Binding(How.IMPORT, node.lineno, module=module, attribute=alias.name, steps=steps)
        _bind(scope, alias.asname or alias.name, binding)


def absolute_module(path: str, node: ast.ImportFrom) -> str:
    """The dotted module an import names, with leading dots resolved against the file."""
    if not node.level:
        return node.module or ""
    parts = path.removesuffix(".py").split("/")
    base = parts[: len(parts) - node.level]
    return ".".join([*base, *(node.module.split(".") if node.module else [])])


def _collect_self(info: ClassInfo, method: FunctionNode, scope: Scope) -> None:
    if not method.args.args:
        return
    me = method.args.args[0].arg
    for statement in _statements(method.body):
        targets: list[ast.expr] = []
        value: ast.expr | None = None
        if isinstance(statement, ast.Assign):
            targets, value = statement.targets, statement.value
        elif isinstance(statement, ast.AnnAssign):
            targets, value = [statement.target], statement.value
        if value is None:
            continue
        for target in targets:
            for name, source in _self_targets(target, value, me):
                info.assigned.setdefault(name, []).append((source, scope, statement.lineno))


def _self_targets(target: ast.expr, value: ast.expr, me: str) -> Iterator[tuple[str, ast.expr]]:
    match target:
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == me:
            yield attribute, value
        case ast.Tuple(elts=elements):
            for index, element in enumerate(elements):
                part = ast.Subscript(value, ast.Constant(index), ast.Load())
                ast.copy_location(part, value)
                yield from _self_targets(element, part, me)


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, name, ()))
        for handler in getattr(statement, "handlers", ()):
            yield from _statements(handler.body)
