"""Requirement decorators as they are written: places, and a reading where a module cannot run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sgl_audit.kernels.flashinfer.library import Definition, Library, ModuleText
from sgl_audit.kernels.flashinfer.world import NUMBERS
from sgl_audit.model.requirements import BackendSupport, FunctionRequirements, Support
from sgl_audit.model.source import Place

LISTS = "supported_compute_capability"
REQUIRES = "backend_requirement"


def decorator(node: Definition, name: str) -> ast.Call | None:
    """The decorator call of that name, or None."""
    for item in node.decorator_list:
        if isinstance(item, ast.Call):
            called = item.func
            last = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if last == name:
                return item
    return None


def place_of(library: Library, full: str) -> Place | None:
    """Where a function says what it needs: its decorator, else its definition."""
    found = find(library, full)
    if found is None:
        return None
    text, name = found
    node = text.functions[name]
    call = decorator(node, REQUIRES) or decorator(node, LISTS)
    return Place(text.file, node.lineno if call is None else call.lineno)


def find(library: Library, full: str) -> tuple[ModuleText, str] | None:
    """The module and qualified name of a function given by its full name, or None."""
    parts = full.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        text = library.module(".".join(parts[:cut]))
        if text is not None:
            name = ".".join(parts[cut:])
            return (text, name) if name in text.functions else None
    return None


def written(library: Library) -> Iterator[str]:
    """Full names of all functions that carry one of the decorators, in file order."""
    for module in library.declaring:
        text = library.module(module)
        for name, node in text.functions.items() if text is not None else ():
            if decorator(node, LISTS) or decorator(node, REQUIRES):
                yield f"{module}.{name}"


def read_text(library: Library, full: str, why: str) -> FunctionRequirements:
    """What the decorators of a function say where it could not be evaluated.

    Only literal lists are read; anything computed is unknown.
    """
    found = find(library, full)
    assert found is not None
    text, name = found
    node = text.functions[name]
    place = place_of(library, full) or Place(text.file, node.lineno)
    listed = decorator(node, LISTS)
    requires = decorator(node, REQUIRES)
    if listed is not None or requires is None:
        return FunctionRequirements(full, place, _listed(library, text, node, why), declared=True)
    backends = _backends(library, text, requires, why)
    if backends is None:
        return FunctionRequirements(full, place, Support(None, place, why), declared=True)
    common = _argument(requires, 1, "common_check")
    shared = None if common is None else _checker(library, text, common, why)
    total = _union([item.support for item in backends], place, why)
    if not backends:
        total = shared or Support(None, place, why)
    return FunctionRequirements(full, place, total, declared=True, backends=backends)


def _argument(call: ast.Call, index: int, name: str) -> ast.expr | None:
    named = [item.value for item in call.keywords if item.arg == name]
    return named[0] if named else (call.args[index] if len(call.args) > index else None)


def _backends(
    library: Library, text: ModuleText, call: ast.Call, why: str
) -> tuple[BackendSupport, ...] | None:
    table = _argument(call, 0, "backend_checks")
    if not isinstance(table, ast.Dict):
        return None
    found: list[BackendSupport] = []
    for key, value in zip(table.keys, table.values, strict=True):
        if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
            return None
        found.append(BackendSupport(key.value, _checker(library, text, value, why)))
    return tuple(found)


def _checker(library: Library, text: ModuleText, node: ast.expr, why: str) -> Support:
    name = node.id if isinstance(node, ast.Name) else ""
    found = library.resolve(f"{text.name}.{name}", everywhere=True) if name else None
    if found is None or found[1] not in found[0].functions:
        return Support(None, Place(text.file, node.lineno), why)
    return _listed(library, found[0], found[0].functions[found[1]], why)


def _listed(library: Library, text: ModuleText, node: Definition, why: str) -> Support:
    call = decorator(node, LISTS)
    place = Place(text.file, node.lineno if call is None else call.lineno)
    value = library.literal(text, call.args[0]) if call is not None and call.args else None
    if not isinstance(value, (list, tuple, set)):
        return Support(None, place, why)
    numbers = tuple(number for number in NUMBERS if number in value)
    return Support(numbers, place, f"read from the text; {why}")


def _union(supports: list[Support], place: Place, why: str) -> Support:
    if any(item.numbers is None for item in supports):
        return Support(None, place, why)
    held = {number for item in supports for number in item.numbers or ()}
    return Support(tuple(sorted(held)), place, f"read from the text; {why}")
