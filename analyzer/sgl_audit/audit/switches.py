"""Classes that keep `backend.is_x()` as a switch and have nothing to do where no switch is on.

self.use_trtllm = get_moe_runner_backend().is_flashinfer_trtllm()
...
def create_moe_runner(self): if self.use_trtllm: ...   # and no else
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sgl_audit.audit.places import bytes_of, in_server, parsed_file
from sgl_audit.model.facts import Facts
from sgl_audit.model.source import Place, SourceTree

# Preparing weights for one backend only is how it should be; making no runner at all is not.
_MAKES = re.compile(r"create_(?!weights)\w+$")
_SWITCH = rb"self\.\w+ = [\w.()]*\.is_\w+\(\)"


@dataclass(frozen=True, slots=True)
class Switched:
    """One method that only acts on switches of an option, and the methods the switches hold."""

    option: str
    owner: str
    function: str
    place: Place
    predicates: tuple[str, ...]


def read_switches(tree: SourceTree, facts: Facts) -> tuple[Switched, ...]:
    """The methods of layers that act on switches of an undecided option and on nothing else."""
    options = [item.name for item in facts.options if item.backend and item.default == "auto"]
    if not options:
        return ()
    getter = "|".join(re.escape(f"get_{name}") for name in options)
    wanted = re.compile(rf"(?:{getter})\(\)".encode())
    found: list[Switched] = []
    for file in tree.files():
        if not in_server(file) or "/layers/" not in file:
            continue
        data = bytes_of(tree, file)
        if wanted.search(data) and re.search(_SWITCH, data):
            module = parsed_file(tree, file)
            for node in module.body if module is not None else ():
                if isinstance(node, ast.ClassDef):
                    found += _in_class(node, file, frozenset(options))
    return tuple(sorted(found, key=lambda item: item.place))


def _in_class(node: ast.ClassDef, file: str, options: frozenset[str]) -> Iterator[Switched]:
    switches: dict[str, tuple[str, str]] = {}
    for item in ast.walk(node):
        match item:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)],
                value=ast.Call(func=ast.Attribute(value=owner, attr=predicate), args=[]),
            ):
                option = _option(owner, node, options)
                if option is not None and predicate.startswith("is_"):
                    switches[name] = (option, predicate)
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and _MAKES.match(method.name):
            yield from _in_method(method, node.name, file, switches)


def _option(owner: ast.expr, scope: ast.ClassDef, options: frozenset[str]) -> str | None:
    match owner:
        case ast.Call(func=ast.Name(id=name), args=[]):
            option = name.removeprefix("get_")
            return option if option in options and option != name else None
        case ast.Name(id=name):
            for item in ast.walk(scope):
                match item:
                    case ast.Assign(targets=[ast.Name(id=target)], value=ast.Call() as value):
                        if target == name:
                            return _option(value, scope, options)
    return None


def _in_method(
    method: ast.FunctionDef, owner: str, file: str, switches: dict[str, tuple[str, str]]
) -> Iterator[Switched]:
    """A method whose only branches are an `if` chain of switches without an `else`."""
    statements = [item for item in method.body if not _passive(item)]
    if len(statements) != 1 or not isinstance(statements[0], ast.If):
        return
    chain: list[ast.stmt] = [statements[0]]
    asked: list[tuple[str, str]] = []
    while len(chain) == 1 and isinstance(chain[0], ast.If):
        match chain[0].test:
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if name in switches:
                asked.append(switches[name])
            case _:
                return
        chain = chain[0].orelse
    if not chain and len({option for option, _ in asked}) == 1:
        place = Place(file, statements[0].lineno, statements[0].col_offset)
        predicates = tuple(predicate for _, predicate in asked)
        yield Switched(asked[0][0], owner, f"{owner}.{method.name}", place, predicates)


def _passive(node: ast.stmt) -> bool:
    """A docstring, an import, or a parameter that is kept for later."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Import() | ast.ImportFrom() | ast.Pass():
            return True
        case ast.Assign(targets=[ast.Attribute()], value=ast.Name()):
            return True
    return False
