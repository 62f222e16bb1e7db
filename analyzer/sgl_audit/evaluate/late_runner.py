"""A model runner before it loads anything."""

from __future__ import annotations

import ast
from functools import partial
from typing import Any

from sgl_audit.evaluate.classes import new_instance
from sgl_audit.evaluate.entry import Reached
from sgl_audit.evaluate.late_trial import Trial
from sgl_audit.evaluate.lowering import Lowering
from sgl_audit.evaluate.scopes import GLOBALS, PARENT, Scope, bound_names
from sgl_audit.evaluate.statements import lower_statement
from sgl_audit.evaluate.values import (
    Class,
    Function,
    Instance,
    Native,
    Property,
    Unknown,
    Value,
)

RUNNER = "srt.model_executor.model_runner"
LOADED_ONLY = "only a loaded model has it"
RECORD = "server_args"
# A refusal of the runner itself, before loading; none of the stages that follow.
STAGE = "model_runner"


def make_runner(trial: Trial, model_config: Value, reached: Reached) -> Value:
    """A model runner before it loads: plain attributes set, everything else unknown.

    None where the tree has no such class.
    """
    machine = trial.machine
    base: Value = None
    if trial.entry.has(RUNNER):
        # Its file may be broken, or import what the tree lacks.
        load = partial(trial.entry.module, RUNNER)
        base = trial.run(STAGE, lambda: machine.module_attribute(load(), "ModelRunner"))
    if not isinstance(base, Class):
        trial.gap("the model runner was not found")
        return None
    cls = Class(base.name, (base,), {}, base.module)
    runner = new_instance(cls)
    runner.d.update({RECORD: reached.record, "model_config": model_config})
    later = stored_attributes(base)

    def missing(args: list[Value], kwargs: dict[str, Value]) -> Value:
        if args[1] in later:
            return Unknown(f"runner.{args[1]}", LOADED_ONLY)
        raise machine.error("AttributeError", f"{base.name!r} object has no attribute {args[1]!r}")

    cls.ns["__getattr__"] = Native("__getattr__", missing, raw=True, method=True)
    init = base.find("__init__")
    if isinstance(init, Function):
        initialise(trial, init, base, runner)
    return runner


def initialise(trial: Trial, init: Function, cls: Class, runner: Instance) -> None:
    """Run those statements of the initialiser that only set attributes or adjust the record.

    Each runs on its own, and one that cannot run is left out: what it sets stays unknown.
    """
    code = init.code
    lowering = Lowering(trial.machine, code.module, code.file)
    scope = Scope("function", code.scope, set(), code.qualname)
    owner = scope.owner = code.positional[0]
    scope.names = {*code.positional, *code.kwonly} | bound_names(code.node.body, scope)
    frame: dict[Any, Value] = {GLOBALS: init.globals, PARENT: init.env}
    frame.update(initial_arguments(init, runner))
    given = {name for name in frame if name in runner.d}
    for statement in code.node.body:
        if not wanted(statement, owner, given, cls):
            continue
        run = lower_statement(lowering, statement, scope)
        if run is not None:
            # Setting up may miss what other parts of a server set up; only an adjustment refuses.
            counts = isinstance(statement, ast.Expr)
            trial.run(STAGE if counts else None, partial(run, frame), compulsory=False)


def wanted(node: ast.stmt, owner: str, given: set[str], cls: Class) -> bool:
    """Whether a statement of the initialiser concerns the record or plain attributes."""
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        return sets_attributes(node, owner)
    if isinstance(node, ast.If):
        parts = (*node.body, *node.orelse)
        return all(wanted(part, owner, given, cls) for part in parts)
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    call = node.value
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    if isinstance(call.func, ast.Name):
        # A function that is given the record and nothing else installs it.
        return bool(arguments) and all(
            isinstance(item, ast.Name) and item.id in given for item in arguments
        )
    if not isinstance(call.func, ast.Attribute) or not _is_own(call.func, owner):
        return False
    method = cls.find(call.func.attr)
    return isinstance(method, Function) and not arguments and changes_record(method)


def _is_own(node: ast.expr, owner: str) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == owner
    )


def sets_attributes(node: ast.Assign | ast.AnnAssign, owner: str) -> bool:
    """Whether an assignment only sets attributes of the instance."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return node.value is not None and all(_is_own(target, owner) for target in targets)


def changes_record(method: Function) -> bool:
    """Whether a method writes to the server arguments, whatever it calls them."""
    nodes = list(ast.walk(method.code.node))
    names = {
        target.id
        for node in nodes
        if isinstance(node, ast.Assign) and name_held(node.value) == RECORD
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and name_held(node.value) in {RECORD, *names}
        for node in nodes
    )


def name_held(node: ast.expr) -> str:
    """The last name of a dotted expression."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def initial_arguments(init: Function, runner: Instance) -> dict[str, Value]:
    """The initialiser's arguments: known ones, switches by default, the rest unknown."""
    code = init.code
    values: dict[str, Value] = dict(init.kwdefaults)
    if init.defaults:
        values.update(zip(code.positional[-len(init.defaults) :], init.defaults, strict=True))
    arguments: dict[str, Value] = {code.positional[0]: runner}
    for name in (*code.positional[1:], *code.kwonly):
        if name in runner.d:
            arguments[name] = runner.d[name]
        elif isinstance(values.get(name), bool):
            arguments[name] = values[name]
        else:
            arguments[name] = Unknown(name, LOADED_ONLY)
    return arguments


def stored_attributes(cls: Class) -> frozenset[str]:
    """Names that the methods of a class store on the instance, as far as loading sets them."""
    found = cls.data.get("stored_attributes")
    if found is None:
        names: set[str] = set()
        for value in cls.ns.values():
            method = value.getter if isinstance(value, Property) else value
            if isinstance(method, Function):
                names |= stored_names(method.code.node)
        found = cls.data["stored_attributes"] = frozenset(names)
    return found


def stored_names(node: ast.AST) -> set[str]:
    """Attributes that a function stores, but for those it keeps for itself.

    What a function stores because `hasattr` did not find it is not there before its first call.
    """
    stored: set[str] = set()
    asked: set[str] = set()
    for item in ast.walk(node):
        if isinstance(item, ast.Attribute) and isinstance(item.ctx, ast.Store):
            stored.add(item.attr)
        elif (
            isinstance(item, ast.Call)
            and isinstance(item.func, ast.Name)
            and item.func.id == "hasattr"
        ):
            asked |= {str(part.value) for part in item.args if isinstance(part, ast.Constant)}
    return stored - asked
