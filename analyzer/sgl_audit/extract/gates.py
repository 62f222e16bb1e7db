"""Gates: every place that tests the machine, with the capabilities on which it holds."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sgl_audit.extract.context import FileContext
from sgl_audit.extract.machine.calls import needs_arguments
from sgl_audit.extract.machine.portable import least_of, name_entries, result, touches
from sgl_audit.extract.machine.scopes import (
    Binding,
    ClassInfo,
    FunctionNode,
    How,
    Scope,
    parameters,
)
from sgl_audit.extract.machine.values import (
    MACHINE_FLAGS,
    UNBOUND,
    UNKNOWN,
    Entry,
    Function,
    Instance,
    Record,
    TableFunction,
    Value,
    truth,
)
from sgl_audit.extract.machine.world import classes_of
from sgl_audit.model.facts import Gate, GateForm
from sgl_audit.model.source import Place
from sgl_audit.syntax.hits import LineHits
from sgl_audit.syntax.prefilter import CAPABILITY
from sgl_audit.syntax.text import one_line

# (tree path, name, capability) -> value, by an evaluator that knows more than this package.
GateValues = Callable[[str, str, str], bool | None]
_NO_GATES = (How.IMPORT, How.CLASS, How.OPAQUE, How.PARAMETER)
_QUESTION = ("is_", "has_", "support", "can_", "use_", "enable", "on_", "should_", "check_")


@dataclass(frozen=True, slots=True)
class GateSite:
    """A gate, the function it stands in, and whether it is an attribute of a platform object."""

    gate: Gate
    function: str
    attribute: bool = False


def defined_gates(context: FileContext, values: GateValues | None) -> list[GateSite]:
    """The gates that one file defines: functions, aliases, constants, methods, attributes."""
    hits = context.machine_hits
    if not hits:
        return []
    sites: list[GateSite] = []
    for name, bindings in sorted(context.scope.names.items()):
        last = bindings[-1]
        if last.how in _NO_GATES or last.node is None:
            continue
        if not any(item.node is not None and hits.within(item.node) for item in bindings):
            continue
        entries = name_entries(context.readers, name, context.scope, touches)
        if entries is None:
            continue
        if _asks(name, entries):
            place = context.parsed.place(last.node)
            sites.append(_site(context, name, _form(last, entries), entries, place, values))
        sites += _attributes(context, entries, values)
    for info in classes_of(context.scope):
        sites += _methods(context, info, values, hits)
    return sites


def capability_names(context: FileContext) -> list[bytes]:
    """Names of a module, and of `self`, that hold the capability: functions ask them by name."""
    hits = LineHits(context.parsed, CAPABILITY)
    if not hits:
        return []
    found: set[str] = set()
    for name, bindings in context.scope.names.items():
        values = (How.EXPRESSION, How.ITEM)
        if any(b.how in values and b.node is not None and hits.within(b.node) for b in bindings):
            found.add(name)
    for info in classes_of(context.scope):
        for name, assigned in info.assigned.items():
            if any(hits.within(value) for value, _, _ in assigned):
                found.add(f"self.{name}")
    return [name.encode() for name in sorted(found) if len(name) > 1]


def _form(binding: Binding, entries: tuple[Entry, ...]) -> GateForm:
    if binding.how is How.FUNCTION:
        return GateForm.FUNCTION
    called = any(isinstance(entry.value, TableFunction) for entry in entries)
    return GateForm.ALIAS if called else GateForm.INLINE


def _site(
    context: FileContext,
    name: str,
    form: GateForm,
    entries: tuple[Entry, ...],
    place: Place,
    values: GateValues | None,
    attribute: bool = False,
) -> GateSite:
    holds: list[tuple[str, bool | None]] = []
    for capability, entry in zip(context.capabilities, entries, strict=True):
        given = values(context.path, name, capability) if values else None
        holds.append((capability, _truth(_flat(entry).value) if given is None else given))
    reason = None if all(value is not None for _, value in holds) else _reason(entries)
    return GateSite(Gate(name, form, tuple(holds), place, reason), "<module>", attribute)


def _truth(value: Value) -> bool | None:
    # Where the name is not bound nothing can ask it.
    return False if value is UNBOUND else truth(value)


def _flat(entry: Entry) -> Entry:
    if isinstance(entry.value, TableFunction):
        inner = entry.value.entry
        return Entry(inner.value, entry.flags | inner.flags)
    return entry


def _reason(entries: tuple[Entry, ...]) -> str:
    flags = frozenset[str]().union(*(_flat(entry).flags for entry in entries))
    if "packages" in flags:
        return "depends on whether a package is installed that the distribution does not pin"
    return "its definition uses something that is not computable from the source"


def _asks(name: str, entries: tuple[Entry, ...]) -> bool:
    flat = [_flat(entry) for entry in entries]
    if not any(entry.flags & MACHINE_FLAGS for entry in flat):
        return False
    known = [e.value for e in flat if e.value is not UNKNOWN and e.value is not UNBOUND]
    if not known:
        return False
    if all(isinstance(value, bool) for value in known):
        return True
    question = name.lstrip("_").lower().startswith(_QUESTION)
    return question and all(isinstance(value, (bool, str)) or value is None for value in known)


def _attributes(
    context: FileContext, entries: tuple[Entry, ...], values: GateValues | None
) -> list[GateSite]:
    records = [_flat(entry).value for entry in entries]
    sites: list[GateSite] = []
    for name, place in _table_keys(context).items():
        found = [item.field(name) if isinstance(item, Record) else None for item in records]
        known = tuple(item for item in found if item is not None)
        if len(known) == len(entries) and _asks(name, known):
            form = GateForm.ATTRIBUTE
            sites.append(_site(context, name, form, known, place, values, True))
    return sites


def _table_keys(context: FileContext) -> dict[str, Place]:
    keys: dict[str, Place] = {}
    for bindings in context.scope.names.values():
        node = bindings[0].node
        if isinstance(node, ast.Dict):
            for key in node.keys:
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    keys.setdefault(key.value, context.parsed.place(key))
    return keys


def _methods(
    context: FileContext, info: ClassInfo, values: GateValues | None, hits: LineHits
) -> Iterator[GateSite]:
    for name, node in sorted(info.methods.items()):
        qualified = f"{info.name}.{name}"
        place = context.parsed.place(node)
        if name.endswith("min_capability"):
            entries = _minimum(context, node)
        elif needs_arguments(node) or not hits.within(node):
            continue
        else:
            entries = _method(context, info, node)
        if entries is not None and _asks(name, entries):
            yield _site(context, qualified, GateForm.FUNCTION, entries, place, values)


def _method(context: FileContext, info: ClassInfo, node: FunctionNode) -> tuple[Entry, ...] | None:
    entries: list[Entry] = []
    platform = _platform_record(context, info)
    for position, reader in enumerate(context.readers):
        record = platform[position].value if platform else None
        known = record.method(node.name) if isinstance(record, Record) else None
        if known is None:
            known = result(reader, Function(node, info.body or info.scope, Instance(info)))
        entries.append(known)
        if not any(entry.flags & MACHINE_FLAGS for entry in entries):
            return None
    return tuple(entries)


def _platform_record(context: FileContext, info: ClassInfo) -> tuple[Entry, ...] | None:
    # A platform class answers through the subclass that serves the machine.
    if "Platform" not in info.name and "DeviceMixin" not in info.name:
        return None
    folder = context.path.rpartition("/")[0]
    exports = context.index.machines.exports.get(f"{folder}/__init__.py", {})
    for entries in exports.values():
        if all(
            isinstance(item.value, Record) and item.value.kind == "platform" for item in entries
        ):
            return entries
    return None


def _minimum(context: FileContext, node: FunctionNode) -> tuple[Entry, ...] | None:
    """A class that says the least capability it runs on, as one number."""
    least = least_of(node)
    if least is None:
        return None
    flags = frozenset({"capability"})
    return tuple(
        Entry(reader.machine.capability.number >= least, flags) for reader in context.readers
    )


def _asks_for_parameter(node: ast.expr, scope: Scope) -> bool:
    function = scope.node
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    names = {item.arg for item in parameters(function)}
    return any(isinstance(item, ast.Name) and item.id in names for item in ast.walk(node))


def inline_gates(
    context: FileContext, nodes: list[ast.expr], scope: Scope, function: str
) -> Iterator[GateSite]:
    """The comparisons among `nodes` that test the machine themselves."""
    for node in nodes:
        if not context.tests_machine(node, scope):
            continue
        reading = context.reading(node, scope)
        if None in reading.holds and _asks_for_parameter(node, scope):
            # What its caller names decides: the call is the gate.
            continue
        holds = tuple(zip(context.capabilities, reading.holds, strict=True))
        reason = None
        if None in reading.holds:
            reason = "one side of the comparison is not computable from the source"
        text = one_line(context.parsed, node)
        place = context.parsed.place(node)
        yield GateSite(Gate(text, GateForm.INLINE, holds, place, reason), function)
