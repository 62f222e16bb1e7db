"""What a name or an attribute is."""

from __future__ import annotations

import ast
import builtins

from packaging.version import Version

from sgl_audit.extract.machine.callers import calls_in
from sgl_audit.extract.machine.objects import class_attribute, instance_attribute
from sgl_audit.extract.machine.outside import external_value
from sgl_audit.extract.machine.reader import Reader
from sgl_audit.extract.machine.scopes import (
    Binding,
    FunctionNode,
    How,
    ImportFails,
    Scope,
    Step,
    class_info,
)
from sgl_audit.extract.machine.values import (
    UNBOUND,
    UNKNOWN,
    ClassValue,
    External,
    Function,
    Instance,
    Method,
    Record,
    TableFunction,
    TreeModule,
    Value,
    VersionText,
    join,
    settled,
    truth,
)

# Parameters that are worth asking their callers about.
MACHINE_PARAMETERS = frozenset(
    (
        "major",
        "minor",
        "sm",
        "cc",
        "arch",
        "sm_version",
        "device_sm",
        "sm_major",
        "capability",
        "device_capability",
        "compute_capability",
        "cuda_capability",
        "device_sm_major",
    )
)
_BUILTINS = frozenset(dir(builtins))


def lookup(reader: Reader, name: str, scope: Scope, line: int) -> Value:
    """The value of a name where it is read."""
    current: Scope | None = scope
    inner = True
    while current is not None:
        if current.values is not None and name in current.values:
            return current.values[name]
        visible = inner or not isinstance(current.node, ast.ClassDef)
        if visible and name in current.names:
            return bound(reader, current, name, line if inner else None)
        # A frame and the function it runs are one scope for the reader of a name.
        parent = current.parent
        same = parent is not None and current.node is parent.node
        inner = inner and current.values is not None and same
        current = current.parent
    for module in reversed(scope.module.stars):
        path = reader.world.module_path(module)
        value = UNKNOWN if path is None else reader.world.member(reader, path, name)
        if value is not UNKNOWN:
            return value
    return External(f"builtins.{name}") if name in _BUILTINS else UNKNOWN


def bound(reader: Reader, scope: Scope, name: str, line: int | None) -> Value:
    """The value the bindings of a name give it; the last one that surely happened wins."""
    every = scope.names[name]
    local = not scope.is_module and line is not None
    usable = [item for item in every if not local or line is None or item.line < line] or (
        every if not local else [item for item in every if item.how is How.PARAMETER]
    )
    key = (id(scope), name, len(usable))
    if (known := reader.memo.get(key)) is not None:
        return reader.take(known)
    if key in reader.active:
        return UNKNOWN
    outer, reader.flags = reader.flags, set()
    reader.active.add(key)
    try:
        entry = settled(_resolve(reader, scope, name, usable), frozenset(reader.flags))
    finally:
        reader.active.discard(key)
        reader.flags = outer
    reader.memo[key] = entry
    return reader.take(entry)


def _resolve(reader: Reader, scope: Scope, name: str, usable: list[Binding]) -> Value:
    value: Value = UNBOUND if usable and usable[0].steps else UNKNOWN
    found = False
    for binding in usable:
        where = binding.scope or scope
        holds = _reached(reader, where, binding.steps)
        if holds is False:
            continue
        new = bound_value(reader, where, name, binding)
        value = new if holds or not found else join(value, new)
        if holds is None and not found:
            value = new if len(usable) == 1 else UNKNOWN if new is UNKNOWN else new
        found = True
    return value


def _reached(reader: Reader, scope: Scope, steps: tuple[Step, ...]) -> bool | None:
    unknown = False
    for step in steps:
        if isinstance(step.test, ImportFails):
            holds = import_fails(reader, step.test)
        else:
            holds = truth(reader.value(step.test, scope))
        if holds is None:
            unknown = True
        elif holds is not step.holds:
            return False
    return None if unknown else True


def import_fails(reader: Reader, imports: ImportFails) -> bool | None:
    """Whether an import in a `try` fails: never for the tree and for pinned packages."""
    for module in imports.modules:
        top = module.partition(".")[0]
        if reader.world.module_path(module) is None and top not in reader.machine.packages:
            reader.flags.add("packages")
            return None
    return False


def bound_value(reader: Reader, scope: Scope, name: str, binding: Binding) -> Value:
    """The value of one binding."""
    node = binding.node
    match binding.how:
        case How.EXPRESSION if isinstance(node, ast.expr):
            return reader.value(node, scope)
        case How.ITEM if isinstance(node, ast.expr):
            return _item(reader.value(node, scope), binding.index)
        case How.FUNCTION if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return Function(node, scope)
        case How.CLASS if isinstance(node, ast.ClassDef):
            return ClassValue(class_info(node, scope))
        case How.IMPORT:
            return imported(reader, binding)
        case How.PARAMETER:
            return _parameter(reader, scope, name)
    return UNKNOWN


def _item(value: Value, index: int) -> Value:
    if isinstance(value, (Record, Instance)):
        value = value.sequence
    if isinstance(value, (tuple, list)) and index < len(value):
        return value[index]
    return UNKNOWN


def _parameter(reader: Reader, scope: Scope, name: str) -> Value:
    node = scope.node
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return UNKNOWN
    outer = scope.parent
    method = scope.owner is not None and outer is not None and isinstance(outer.node, ast.ClassDef)
    static = any(
        isinstance(item, ast.Name) and item.id == "staticmethod" for item in node.decorator_list
    )
    bound_first = method and not static
    if bound_first and node.args.args and node.args.args[0].arg == name and scope.owner is not None:
        return Instance(scope.owner)
    if name not in MACHINE_PARAMETERS:
        return UNKNOWN
    return _from_callers(reader, scope, node, name, bound_first)


def _from_callers(
    reader: Reader, scope: Scope, node: FunctionNode, name: str, bound_first: bool
) -> Value:
    """What every caller in the same file gives a parameter, where they agree."""
    positional = [item.arg for item in (*node.args.posonlyargs, *node.args.args)]
    position = positional.index(name) - bound_first if name in positional else -1
    value: Value = UNKNOWN
    for number, (call, where) in enumerate(calls_in(scope.module).get(node.name, [])):
        given = next((item.value for item in call.keywords if item.arg == name), None)
        if given is None and 0 <= position < len(call.args):
            given = call.args[position]
        if given is None or isinstance(given, ast.Starred):
            return UNKNOWN
        new = reader.value(given, where)
        value = join(value, new) if number else new
    return value


def imported(reader: Reader, binding: Binding) -> Value:
    """The value of an imported name: of the tree where the module is, else a name outside."""
    world = reader.world
    path = world.module_path(binding.module)
    if binding.attribute is None:
        return External(binding.module) if path is None else TreeModule(path)
    if path is not None:
        value = world.member(reader, path, binding.attribute)
        if value is not UNKNOWN:
            return value
    submodule = world.module_path(f"{binding.module}.{binding.attribute}")
    if submodule is not None:
        return TreeModule(submodule)
    return UNKNOWN if path is not None else External(f"{binding.module}.{binding.attribute}")


def attribute_of(reader: Reader, owner: Value, name: str) -> Value:
    """The value of an attribute."""
    if owner is UNBOUND:
        return UNBOUND
    match owner:
        case External(name=dotted):
            entry = external_value(f"{dotted}.{name}", reader.machine)
            return External(f"{dotted}.{name}") if entry is None else reader.take(entry)
        case Record():
            if (field := owner.field(name)) is not None:
                return reader.take(field)
            if (method := owner.method(name)) is not None:
                return TableFunction(method)
            return reader.world.attribute(reader, name)
        case Instance():
            return instance_attribute(reader, owner, name)
        case ClassValue():
            return class_attribute(reader, owner, name)
        case TreeModule(path=path):
            value = reader.world.member(reader, path, name)
            dotted = path.removesuffix("/__init__.py").removesuffix(".py").replace("/", ".")
            inner = reader.world.module_path(f"{dotted}.{name}")
            return TreeModule(inner) if value is UNKNOWN and inner is not None else value
        case Version():
            return (
                getattr(owner, name) if name in ("release", "major", "minor", "micro") else UNKNOWN
            )
        case VersionText():
            reader.flags.add("version")
            return Method(owner, name)
        case str() | list() | tuple() | dict() | frozenset():
            return Method(owner, name)
    return reader.world.attribute(reader, name)
