"""The text of one FlashInfer source: which modules matter, what they define and import."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sgl_audit.errors import SourceError
from sgl_audit.evaluate.program import Program, module_parts
from sgl_audit.model.source import Diagnostic, Place, SourceTree

# Without one of these words a file can neither declare a requirement nor lead to a module that
# is compiled on first use. Releases since 0.7 carry 100 MB of generated tables; most have none.
DECLARES = re.compile(rb"supported_compute_capability|backend_requirement")
LEADS = re.compile(rb"gen_\w*module|get_\w*module|gen_jit_spec|nvcc_flags|e_capability|is_sm\d")
WORDS = (
    b"_module",
    b"gen_jit_spec",
    b"nvcc_flags",
    b"e_capability",
    b"is_sm",
    b"backend_requirement",
)
# Folders whose functions are no kernels that a server calls: build, tests, traces, benchmarks.
ASIDE = ("jit", "testing", "trace", "aot", "benchmarks", "profiler", "__main__", "collect_env")

Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class ModuleText:
    """One parsed module.

    Attributes:
        functions: qualified name -> definition, for functions of the module and of its classes.
        classes: names of top-level classes.
        imports: name -> what it stands for, as a dotted name.
        constants: name -> the expression it is bound to at module level.
    """

    name: str
    file: str
    tree: ast.Module
    functions: dict[str, Definition] = field(default_factory=dict)
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    constants: dict[str, ast.expr] = field(default_factory=dict)


class Library:
    """Modules of the tree, parsed on demand.

    Attributes:
        declaring: module names whose bytes hold a requirement decorator, sorted by file.
        leading: module names that may lead to a compiled module or check the capability.

    Raises:
        SourceError: the tree holds no package of that name.
    """

    def __init__(self, tree: SourceTree) -> None:
        self.tree = tree
        self.program = Program(tree)
        self.diagnostics: list[Diagnostic] = []
        self.declaring: list[str] = []
        self.leading: list[str] = []
        self.leads: set[str] = set()
        self._follows: dict[str, bool] = {}
        self._modules: dict[str, ModuleText | None] = {}
        package = tree.info.package
        if not any(path.startswith(f"{package}/") for path in tree.files()):
            raise SourceError(f"{tree.info.label} holds no package named {package}.")
        for path in tree.files():
            self._sort(path)

    def _sort(self, path: str) -> None:
        try:
            data = self.tree.read(path)
        except SourceError as error:
            self.diagnostics.append(Diagnostic(str(error), Place(path, 1)))
            return
        if not any(word in data for word in WORDS):
            return
        name = ".".join(module_parts(path))
        if DECLARES.search(data):
            self.declaring.append(name)
        inner = name.split(".")[1:2]
        if LEADS.search(data):
            self.leads.add(name)
            if not (inner and inner[0] in ASIDE):
                self.leading.append(name)

    def exporting(self) -> list[str]:
        """Modules whose names callers import: `flashinfer.x` and the `__init__` of packages."""
        root = self.program.root
        found: list[str] = []
        for path in self.tree.files():
            parts = module_parts(path)
            if len(parts) > 1 and parts[1] in (*ASIDE, "experimental"):
                continue
            package = path.endswith("__init__.py") and len(parts) <= 3
            if package or (len(parts) == 2 and parts[0] == root):
                found.append(".".join(parts))
        return [name for name in found if self.follows(name)]

    def module(self, name: str) -> ModuleText | None:
        """The module of that name, or None where there is none or it cannot be parsed."""
        if name not in self._modules:
            self._modules[name] = self._parse(name)
        return self._modules[name]

    def close(self) -> None:
        """Forget every syntax tree."""
        program = self.program
        for table in (program._parsed, program._statements, program._scopes, self._modules):
            table.clear()

    def _parse(self, name: str) -> ModuleText | None:
        file = self.program.file_of(name)
        tree = self.program.parse(file) if file is not None else None
        if file is None or tree is None:
            return None
        text = ModuleText(name, file, tree)
        for node in flat(tree.body):
            self._define(text, node)
        return text

    def _define(self, text: ModuleText, node: ast.stmt) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            text.functions[node.name] = node
        elif isinstance(node, ast.ClassDef):
            text.classes[node.name] = node
            for item in flat(node.body):
                if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    text.functions[f"{node.name}.{item.name}"] = item
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            text.imports.update(self.imported(text, node))
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    text.constants[target.id] = node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            text.constants[getattr(node.target, "id", "")] = node.value

    def imported(self, text: ModuleText, node: ast.Import | ast.ImportFrom) -> dict[str, str]:
        """What an import statement binds, as dotted names."""
        if isinstance(node, ast.Import):
            return {
                alias.asname or alias.name.split(".")[0]: alias.name
                if alias.asname
                else alias.name.split(".")[0]
                for alias in node.names
            }
        base = node.module or ""
        if node.level:
            parts = text.name.split(".")
            keep = len(parts) - node.level + text.file.endswith("__init__.py")
            base = ".".join([*parts[: max(keep, 0)], *([node.module] if node.module else [])])
        return {alias.asname or alias.name: f"{base}.{alias.name}" for alias in node.names}

    def resolve(
        self, dotted: str, depth: int = 0, everywhere: bool = False
    ) -> tuple[ModuleText, str] | None:
        """The module and the name in it that a dotted name leads to, through re-exports.

        `everywhere` also parses modules that lead nowhere.
        """
        module, _, name = dotted.rpartition(".")
        text = self.module(module) if everywhere or self.follows(module) else None
        if text is None or depth > 8:
            return None
        if name in text.functions or name in text.classes or name in text.constants:
            return text, name
        target = text.imports.get(name)
        return None if target is None else self.resolve(target, depth + 1, everywhere)

    def follows(self, module: str) -> bool:
        """Whether a module can lead anywhere; the many generated tables cannot."""
        if module not in self._follows:
            file = self.program.file_of(module)
            known = file is not None and (module in self.leads or file.endswith("__init__.py"))
            self._follows[module] = known
        return self._follows[module]

    def literal(self, text: ModuleText, node: ast.expr | None) -> Any:
        """The value of a literal, a constant, or list/set/tuple of one; None where not literal."""
        for _ in range(8):
            if isinstance(node, ast.Name):
                found = self.resolve(f"{text.name}.{node.id}", everywhere=True)
                node = None if found is None else found[0].constants.get(found[1])
                text = text if found is None else found[0]
            elif isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
                name = node.func.id if isinstance(node.func, ast.Name) else ""
                node = node.args[0] if name in COLLECTIONS else None
            else:
                break
        try:
            return None if node is None else ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return None


COLLECTIONS = ("list", "tuple", "set", "frozenset", "sorted")


def flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a body, those inside `if`, `try` and `with` included."""
    for node in body:
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            for part in ("body", "orelse", "finalbody"):
                yield from flat(getattr(node, part, []))
            for handler in getattr(node, "handlers", []):
                yield from flat(handler.body)
        else:
            yield node
