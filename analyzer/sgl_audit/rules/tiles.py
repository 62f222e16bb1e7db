"""Tile sizes that source chooses by the capability, and what they need of shared memory."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sgl_audit.model.capability import BY_NAME
from sgl_audit.model.source import Place
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.sources import data_of, server_files, syntax_of

# KiB of shared memory that one block can have, from the CUDA programming guide.
SHARED_KIB = {
    "sm80": 163, "sm86": 99, "sm87": 163, "sm89": 99, "sm90": 227,
    "sm100": 227, "sm103": 227, "sm120": 99, "sm121": 99,
}  # fmt: skip
_BLOCK = re.compile(r"BLOCK_(?:M|N|SIZE_M|SIZE_N)$")
_TEXT = re.compile(rb"BLOCK_M[^\n]*=|BLOCK_SIZE_M[^\n]*=")


@dataclass(frozen=True, slots=True)
class Tile:
    """One assignment of block sizes.

    Attributes:
        sizes: rows and columns of the tile.
        length: the head size up to which the tests around allow it.
        reached: capabilities on which no test of the capability keeps it away.
        asked: the place of the innermost test of the capability, or its own.
    """

    sizes: tuple[int, int]
    length: int
    reached: tuple[str, ...]
    place: Place
    asked: Place
    function: str

    @property
    def kib(self) -> float:
        """Query, key and score tiles of two bytes a number: about what one block holds."""
        rows, columns = self.sizes
        return 2 * (rows * self.length + columns * self.length + rows * columns) / 1024


def tiles(context: RuleContext) -> Iterator[Tile]:
    """Every tile of a kernel whose head size is bounded by a test."""
    for file in server_files(context):
        if _TEXT.search(data_of(context, file)) and b"apability" in data_of(context, file).lower():
            tree = syntax_of(context, file)
            for node in ast.walk(tree) if tree is not None else ():
                if isinstance(node, ast.FunctionDef):
                    start = _State(tuple(SHARED_KIB), 0, None)
                    yield from _block(file, node.name, node.body, start)


@dataclass(frozen=True, slots=True)
class _State:
    reached: tuple[str, ...]
    length: int
    asked: ast.If | None


def _block(file: str, function: str, body: Sequence[ast.stmt], state: _State) -> Iterator[Tile]:
    for node in body:
        match node:
            case ast.If(body=inner, orelse=orelse):
                yield from _block(file, function, inner, _narrowed(state, node, True))
                yield from _block(file, function, orelse, _narrowed(state, node, False))
            case ast.Assign() if state.length:
                sizes = _sizes(node)
                if sizes is not None:
                    asked = state.asked or node
                    place = Place(file, node.lineno, node.col_offset)
                    gate = Place(file, asked.lineno, asked.col_offset)
                    yield Tile(sizes, state.length, state.reached, place, gate, function)


def _narrowed(state: _State, node: ast.If, wanted: bool) -> _State:
    left = tuple(name for name in state.reached if holds(node.test, name) in (wanted, None))
    length = _bound(node.test) if wanted else 0
    by_machine = any(holds(node.test, name) is not None for name in SHARED_KIB)
    asked = node if by_machine and wanted else state.asked
    return _State(left, length or state.length, asked)


def _bound(test: ast.expr) -> int:
    match test:
        case ast.Compare(ops=[ast.LtE()], comparators=[ast.Constant(value=int() as most)]):
            return most
    return 0


def _sizes(node: ast.Assign) -> tuple[int, int] | None:
    match node:
        case ast.Assign(
            targets=[ast.Tuple(elts=[ast.Name(id=one), ast.Name(id=two)])],
            value=ast.Tuple(
                elts=[ast.Constant(value=int() as rows), ast.Constant(value=int() as columns)]
            ),
        ) if _BLOCK.match(one) and _BLOCK.match(two):
            return rows, columns
    return None


def holds(test: ast.expr, name: str) -> bool | None:
    """Kleene value of a test on a capability, where it asks for its major or minor number."""
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            # What else is asked, that there is CUDA at all, say, is taken to hold.
            found = [answer for item in values if (answer := holds(item, name)) is not None]
            return all(found) if found else None
        case ast.BoolOp(values=values):
            answers = [holds(item, name) for item in values]
            return True if True in answers else (None if None in answers else False)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = holds(operand, name)
            return None if inner is None else not inner
        case ast.Compare(
            left=ast.Subscript(value=value, slice=ast.Constant(value=0 | 1 as part)),
            ops=[op],
            comparators=[ast.Constant(value=int() as number)],
        ) if "capability" in ast.unparse(value).lower():
            known = BY_NAME[name]
            return _compared(known.number % 10 if part else known.major, op, number)
    return None


def _compared(given: int, op: ast.cmpop, number: int) -> bool | None:
    match op:
        case ast.Eq():
            return given == number
        case ast.NotEq():
            return given != number
        case ast.GtE():
            return given >= number
        case ast.Gt():
            return given > number
        case ast.LtE():
            return given <= number
        case ast.Lt():
            return given < number
    return None
