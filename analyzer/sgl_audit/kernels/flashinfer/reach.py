"""Which JIT generators and kernel libraries a function leads to, by the names in its body.

Every reference counts, called or not, so what is reached is an upper bound; what only attributes of
objects lead to (`self._module.run`) is not seen, which is why a class stands for all its methods.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from sgl_audit.kernels.flashinfer.jit import PRIMITIVE, Generators, is_generator
from sgl_audit.kernels.flashinfer.library import Library, ModuleText
from sgl_audit.model.requirements import JitReach
from sgl_audit.model.source import Place

# Packages that bring kernels of their own or compile them without nvcc.
KERNEL_PACKAGES = frozenset(
    ("triton", "cutlass", "cudnn", "deep_gemm", "tilelang", "quack", "flash_attn", "flash_mla")
)
MAX_FUNCTIONS = 3000
# Modules that every function names and that lead back to all of them.
INFRASTRUCTURE = (
    "api_logging",
    "autotuner",
    "trace",
    "fi_trace",
    "utils",
    "jit",
    "testing",
    "artifacts",
)

Node = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Edge:
    """A reference from a function: to another one, or to a kernel package."""

    target: Node | None
    package: str
    place: Place


class Reach:
    """Walks references from function to function, each function read once."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.generators = Generators(library)
        self._edges: dict[Node, tuple[_Edge, ...]] = {}
        self._is_generator: dict[Node, bool] = {}

    def of(self, text: ModuleText, name: str) -> tuple[tuple[JitReach, ...], tuple[str, ...]]:
        """Generators with the chain to each, nearest first, and other kernel packages named."""
        start = (text.name, name)
        via: dict[Node, tuple[Place, ...]] = {start: ()}
        queue = [start]
        found: dict[str, JitReach] = {}
        packages: set[str] = set()
        for node in queue:
            for edge in self._out(node):
                packages |= {edge.package} - {""}
                if edge.target is None or edge.target in via or len(via) > MAX_FUNCTIONS:
                    continue
                via[edge.target] = (*via[node], edge.place)
                owner = self.library.module(edge.target[0])
                assert owner is not None
                if self._generates(owner, edge.target):
                    made = self.generators.generator(owner, edge.target[1])
                    found.setdefault(made.name, JitReach(made, via[edge.target]))
                elif not self._aside(owner):
                    queue.append(edge.target)
        return tuple(found.values()), tuple(sorted(packages))

    def _generates(self, text: ModuleText, node: Node) -> bool:
        if node not in self._is_generator:
            in_place = any(edge.target and edge.target[1] == PRIMITIVE for edge in self._out(node))
            simple = node[1] in text.functions and "." not in node[1]
            self._is_generator[node] = simple and is_generator(node[1], in_place)
        return self._is_generator[node]

    def _aside(self, text: ModuleText) -> bool:
        inner = text.name.split(".")[1:2]
        return bool(inner) and inner[0] in INFRASTRUCTURE

    def _out(self, node: Node) -> tuple[_Edge, ...]:
        if node not in self._edges:
            text = self.library.module(node[0])
            self._edges[node] = () if text is None else tuple(self._read(text, node[1]))
        return self._edges[node]

    def _read(self, text: ModuleText, name: str) -> Iterator[_Edge]:
        if name in text.classes:
            for method in text.functions:
                if method.startswith(f"{name}."):
                    line = text.functions[method].lineno
                    yield _Edge((text.name, method), "", Place(text.file, line))
            return
        node = text.functions.get(name)
        constant = text.constants.get(name)
        if node is None and constant is None:
            return
        body: list[ast.AST] = [*node.body] if node is not None else [*filter(None, [constant])]
        local: dict[str, str] = {}
        names: list[ast.Name | ast.Attribute] = []
        for item in _references(body):
            if isinstance(item, (ast.Import, ast.ImportFrom)):
                local.update(self.library.imported(text, item))
            else:
                names.append(item)
        seen: set[str] = set()
        for name_node in names:
            dotted = _dotted(name_node)
            if dotted is not None and dotted not in seen:
                seen.add(dotted)
                edge = self._edge(text, local, dotted, name_node.lineno)
                if edge is not None:
                    yield edge

    def _edge(
        self, text: ModuleText, local: dict[str, str], dotted: str, line: int
    ) -> _Edge | None:
        place = Place(text.file, line)
        first, _, rest = dotted.partition(".")
        target = local.get(first) or text.imports.get(first)
        if target is None:
            target = f"{text.name}.{first}"
        full = f"{target}.{rest}" if rest else target
        if full.split(".")[0] in KERNEL_PACKAGES:
            return _Edge(None, full.split(".")[0], place)
        if not full.startswith(f"{self.library.program.root}."):
            return None
        found = self.library.resolve(full)
        if found is None:
            return None
        return _Edge((found[0].name, found[1]), "", place)


Reference = ast.Name | ast.Attribute | ast.Import | ast.ImportFrom


def _references(body: list[ast.AST]) -> Iterator[Reference]:
    """Names that a body reads and imports, annotations and decorators left out."""
    stack = list(reversed(body))
    while stack:
        item = stack.pop()
        if isinstance(item, ast.Attribute) and _dotted(item) is not None:
            yield item
            continue
        if isinstance(item, (ast.Name, ast.Import, ast.ImportFrom)):
            yield item
            continue
        stack.extend(reversed(list(_inside(item))))


def _inside(item: ast.AST) -> Iterator[ast.AST]:
    if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from item.body
        return
    for name, value in ast.iter_fields(item):
        if name == "annotation":
            continue
        parts = value if isinstance(value, list) else [value]
        for part in parts:
            if isinstance(part, ast.AST):
                yield part


def _dotted(item: ast.expr) -> str | None:
    if isinstance(item, ast.Name):
        return item.id
    if isinstance(item, ast.Attribute):
        base = _dotted(item.value)
        return None if base is None else f"{base}.{item.attr}"
    return None
