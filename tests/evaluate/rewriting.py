"""Rewrites of a source tree that leave its meaning as it is."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from random import Random

from sgl_audit.model.source import SourceInfo, SourceTree

Rewrite = Callable[[ast.Module, Random], ast.Module]
BLOCKS = ("body", "orelse", "finalbody")


@dataclass(frozen=True)
class RewrittenTree:
    """A SourceTree whose server files are rewritten on reading; the rest stays as it is."""

    inner: SourceTree
    rewrite: Callable[[str, str], str]
    part: str = "/srt/"

    @property
    def info(self) -> SourceInfo:
        """What the tree is."""
        return self.inner.info

    def files(self) -> tuple[str, ...]:
        """Every Python file."""
        return self.inner.files()

    def has(self, path: str) -> bool:
        """Whether the file exists."""
        return self.inner.has(path)

    def read(self, path: str) -> bytes:
        """The bytes of one file, rewritten."""
        data = self.inner.read(path)
        if self.part not in path or not path.endswith(".py"):
            return data
        return self.rewrite(path, data.decode("utf-8-sig")).encode()


def rewriter(rewrites: tuple[Rewrite, ...], seed: int) -> Callable[[str, str], str]:
    """Apply rewrites to a file's text, the same way whenever it is read."""

    @cache
    def apply(path: str, text: str) -> str:
        random = Random(f"{seed} {path}")
        module = ast.parse(text)
        for rewrite in rewrites:
            module = rewrite(module, random)
        return ast.unparse(ast.fix_missing_locations(module))

    return apply


@cache
def commented(path: str, text: str) -> str:
    """Comments and blank lines before statements; every line moves."""
    random = Random(path)
    starts = {
        min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.stmt)
    }
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        # `else`, `except` and what shares a line are no statement starts of their own.
        if number in starts and random.random() < 0.5:
            lines += ["", "# moe_runner_backend = 'triton'  if is_sm90_supported(): raise"]
        lines.append(line)
    return "\n".join(lines) + "\n"


def mirrored(module: ast.Module, random: Random) -> ast.Module:
    """`if a: x else: y` as `if not a: y else: x`, here and there."""
    for node in ast.walk(module):
        if isinstance(node, ast.If) and node.orelse and random.random() < 0.5:
            node.test = ast.UnaryOp(ast.Not(), node.test)
            node.body, node.orelse = node.orelse, node.body
    return module


def renamed(module: ast.Module, random: Random) -> ast.Module:
    """Locals of functions under other names."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = {name: f"{name}_{random.randrange(100)}" for name in sorted(own_locals(node))}
            Renaming(names).visit(node)
    return module


def own_locals(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Names a function binds by assignment alone, and that nothing in it binds in another way."""
    assigned, kept = set[str](), set[str]()
    for node in ast.walk(function):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                assigned.add(name)
            case ast.arg(arg=name) | ast.alias(name=name, asname=None) | ast.alias(asname=name):
                kept.add(str(name).partition(".")[0])
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                kept.update(names)
            case ast.ExceptHandler(name=str(name)):
                kept.add(name)
            case ast.Call(func=ast.Name(id="locals" | "vars" | "eval" | "exec")):
                return set()
            case ast.ClassDef():
                return set()
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                kept.add(name)
    return assigned - kept


class Renaming(ast.NodeTransformer):
    """Puts other names for names."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """One name."""
        node.id = self.names.get(node.id, node.id)
        return node


def reordered(module: ast.Module, random: Random) -> ast.Module:
    """Neighbouring statements that have nothing to do with each other, the other way round."""
    for node in ast.walk(module):
        for name in BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list):
                for index in range(len(block) - 1):
                    if independent(block[index], block[index + 1]) and random.random() < 0.7:
                        block[index : index + 2] = block[index + 1], block[index]
    return module


def independent(first: ast.stmt, second: ast.stmt) -> bool:
    """Whether the order of two statements cannot matter; no where in doubt."""
    one, other = effects(first), effects(second)
    if one is None or other is None:
        return False
    return not (one.writes & (other.writes | other.reads) or other.writes & one.reads)


@dataclass(frozen=True)
class Effects:
    """Names and attributes a statement reads and writes."""

    reads: frozenset[str]
    writes: frozenset[str]


def effects(statement: ast.stmt) -> Effects | None:
    """The effects of a simple branch or assignment; None for anything that may do more."""
    if not isinstance(statement, ast.If | ast.Assign):
        return None
    reads, writes = set[str](), set[str]()
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name, ctx=ctx) | ast.Attribute(attr=name, ctx=ctx):
                (reads if isinstance(ctx, ast.Load) else writes).add(name)
            case ast.Call(func=ast.Name(id=name), args=[], keywords=[]) if name.startswith("is_"):
                pass
            case (
                ast.Call() | ast.Raise() | ast.Return() | ast.Subscript() | ast.Starred()
                | ast.Break() | ast.Continue() | ast.NamedExpr() | ast.Await() | ast.Yield()
                | ast.ListComp() | ast.GeneratorExp() | ast.DictComp() | ast.SetComp()
                | ast.Assert() | ast.For() | ast.While() | ast.Try() | ast.With() | ast.Delete()
                | ast.BinOp() | ast.FunctionDef() | ast.Import() | ast.ImportFrom()
            ):  # fmt: skip
                return None
    # `self.a = ...` reads the name `self`, which nothing here writes.
    return Effects(frozenset(reads), frozenset(writes))
