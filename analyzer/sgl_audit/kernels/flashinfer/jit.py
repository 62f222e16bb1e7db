"""Which architectures FlashInfer compiles a module for, read from `flashinfer/jit/**`.

A limit is `get_nvcc_flags_list(supported_major_versions=[...])` or one of the fixed flag lists
`sm100a_nvcc_flags`. It is an upper bound of where the module works: outside of it there is no code,
inside of it a kernel can still be missing.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from sgl_audit.kernels.flashinfer.library import Library, ModuleText
from sgl_audit.model.requirements import JitGenerator
from sgl_audit.model.source import Place

FIXED = "_nvcc_flags"
TARGET = re.compile(r"\bcode=sm_(\d{2,3}[af]?)")
LISTED = "get_nvcc_flags_list"
GENERATOR = re.compile(r"^_?gen_\w+$")
PRIMITIVE = "gen_jit_spec"


@dataclass(slots=True)
class _Limits:
    """Limits met on the way.

    Attributes:
        always: whether every path through the function meets one.
    """

    majors: set[int] = field(default_factory=set)
    targets: set[str] = field(default_factory=set)
    place: Place | None = None
    always: bool = False
    found: bool = False
    unread: str = ""

    def merge(self, other: _Limits) -> None:
        self.majors |= other.majors
        self.targets |= other.targets
        self.place = self.place or other.place
        self.found = self.found or other.found
        self.unread = self.unread or other.unread


class Generators:
    """Limits of generator functions, read once each."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._done: dict[str, _Limits] = {}

    def generator(self, text: ModuleText, name: str) -> JitGenerator:
        """What one generator compiles for."""
        node = text.functions[name]
        limits = self._limits(text, name)
        place = limits.place or Place(text.file, node.lineno)
        full = f"{text.name}.{name}"
        if limits.unread:
            return JitGenerator(full, None, (), place, limits.unread)
        if not limits.found:
            return JitGenerator(full, None, (), place, "names no limit")
        if not limits.always:
            return JitGenerator(full, None, (), place, "has a limit under a condition only")
        majors = tuple(sorted(limits.majors)) or None
        return JitGenerator(full, majors, tuple(sorted(limits.targets)), place)

    def _limits(self, text: ModuleText, name: str) -> _Limits:
        key = f"{text.name}.{name}"
        if key not in self._done:
            self._done[key] = _Limits()
            self._done[key] = self._of_body(text, text.functions[name].body)
        return self._done[key]

    def _of_body(self, text: ModuleText, body: list[ast.stmt]) -> _Limits:
        total = _Limits()
        for node in body:
            part = self._of_statement(text, node)
            total.merge(part)
            total.always = total.always or part.always
        return total

    def _of_statement(self, text: ModuleText, node: ast.stmt) -> _Limits:
        if isinstance(node, ast.If):
            test = self._of_expression(text, node.test)
            return self._either(
                test, self._of_body(text, node.body), self._of_body(text, node.orelse)
            )
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return _Limits()
        if isinstance(node, (ast.For, ast.While)):
            inner = self._of_body(text, node.body)
            inner.always = False
            return inner
        if isinstance(node, ast.Try):
            inner = self._of_body(text, [*node.body, *node.orelse, *node.finalbody])
            for handler in node.handlers:
                inner.merge(self._of_body(text, handler.body))
            return inner
        if isinstance(node, ast.With):
            return self._of_body(text, node.body)
        return self._of_expression(text, node)

    def _either(self, test: _Limits, yes: _Limits, no: _Limits) -> _Limits:
        test.merge(yes)
        test.merge(no)
        test.always = test.always or (yes.always and no.always)
        return test

    def _of_expression(self, text: ModuleText, node: ast.AST) -> _Limits:
        if isinstance(node, ast.IfExp):
            test = self._of_expression(text, node.test)
            yes, no = (self._of_expression(text, arm) for arm in (node.body, node.orelse))
            return self._either(test, yes, no)
        total = self._own(text, node)
        for child in ast.iter_child_nodes(node):
            part = self._of_expression(text, child)
            total.merge(part)
            total.always = total.always or part.always
        return total

    def _own(self, text: ModuleText, node: ast.AST) -> _Limits:
        if isinstance(node, ast.Name) and node.id.endswith(FIXED):
            targets = self._fixed(text, node.id)
            place = Place(text.file, node.lineno) if targets else None
            return _Limits(set(), targets, place, always=bool(targets), found=bool(targets))
        if not isinstance(node, ast.Call):
            return _Limits()
        called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if called == LISTED:
            return self._listed(text, node)
        if isinstance(node.func, ast.Name):
            found = self.library.resolve(f"{text.name}.{node.func.id}")
            if found is not None and found[1] in found[0].functions and ".jit." in found[0].name:
                inner = self._limits(*found)
                copy = _Limits(always=inner.always)
                copy.merge(inner)
                return copy
        return _Limits()

    def _fixed(self, text: ModuleText, name: str) -> set[str]:
        """Architectures in a flag list of the JIT core; none in those for all architectures."""
        found = self.library.resolve(f"{text.name}.{name}")
        value = None if found is None else found[0].constants.get(found[1])
        parts = [] if value is None else list(ast.walk(value))
        strings = [item.value for item in parts if isinstance(item, ast.Constant)]
        return {match for item in strings for match in TARGET.findall(str(item))}

    def _listed(self, text: ModuleText, node: ast.Call) -> _Limits:
        given = [item.value for item in node.keywords if item.arg == "supported_major_versions"]
        given = given or node.args[:1]
        if not given or (isinstance(given[0], ast.Constant) and given[0].value is None):
            return _Limits()
        place = Place(text.file, node.lineno)
        value = self.library.literal(text, given[0])
        if value is None:
            return _Limits(place=place, found=True, unread="its limit is computed")
        return _Limits({int(item) for item in value}, set(), place, always=True, found=True)


def is_generator(name: str, in_place: bool) -> bool:
    """Whether a function prepares a module to compile: `gen_...`, or one that does so in place."""
    return name != PRIMITIVE and (bool(GENERATOR.match(name)) or in_place)
