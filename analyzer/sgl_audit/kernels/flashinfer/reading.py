"""Everything a FlashInfer source says of where its functions work."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from sgl_audit.evaluate import values
from sgl_audit.evaluate.values import Function, Native, Unknown, Value
from sgl_audit.kernels.flashinfer import auto, checks, written
from sgl_audit.kernels.flashinfer.declared import MARKER, Declared, Evaluated, evaluate
from sgl_audit.kernels.flashinfer.library import Library, ModuleText
from sgl_audit.kernels.flashinfer.reach import Reach
from sgl_audit.kernels.flashinfer.world import NUMBERS
from sgl_audit.model.requirements import (
    BackendSupport,
    FunctionRequirements,
    JitGenerator,
    KernelRequirements,
    Support,
)
from sgl_audit.model.source import Diagnostic, Place, SourceTree

ASKS_BACKEND = "is_backend_supported"
FAILED = "the function could not be evaluated"


def read_requirements(tree: SourceTree) -> KernelRequirements:
    """Read the requirements of every function that declares, compiles for or checks a capability.

    Raises:
        SourceError: the tree holds no FlashInfer package.
    """
    with aside():
        reader = Reader(tree)
        try:
            return reader.everything()
        finally:
            reader.close()


@contextmanager
def aside() -> Iterator[None]:
    """Leave the process as it was: its garbage collector and its other interpreters.

    All syntax trees stay until the end, and each collection would walk them again: without one,
    FlashInfer 0.7.2 takes half the time. A new interpreter takes over the comparison of
    instances; the one in use before gets it back.
    """
    enabled, hooks = gc.isenabled(), list(values._HOOKS)
    gc.disable()
    try:
        yield
    finally:
        values._HOOKS[:] = hooks or values._HOOKS
        if enabled:
            gc.enable()


def _generators(functions: list[FunctionRequirements]) -> tuple[JitGenerator, ...]:
    found = {reach.generator.name: reach.generator for item in functions for reach in item.jit}
    return tuple(found[name] for name in sorted(found))


class Reader:
    """Requirements of single functions of one source, each read on demand.

    Raises:
        SourceError: the tree holds no FlashInfer package.
    """

    def __init__(self, tree: SourceTree) -> None:
        self.tree = tree
        self.library = Library(tree)
        self.reach = Reach(self.library)
        self._evaluated: Evaluated | None = None
        self._written: dict[str, None] | None = None

    @property
    def evaluated(self) -> Evaluated:
        """The library as interpreted, run on first use."""
        if self._evaluated is None:
            self._evaluated = evaluate(self.library)
        return self._evaluated

    def everything(self) -> KernelRequirements:
        """All functions that declare, compile for or check a capability."""
        names = dict.fromkeys([*self.declared(), *self.public()])
        functions = [found for name in names if (found := self.function(name)) is not None]
        return KernelRequirements(
            version=self.tree.info.distribution.version,
            numbers=NUMBERS,
            functions=tuple(sorted(functions, key=lambda item: item.name)),
            generators=_generators(functions),
            assumptions=self.assumptions(),
            diagnostics=self.diagnostics(),
        )

    def close(self) -> None:
        """Drop syntax trees and modules (600 MB for 0.7.2) at once; the reader is of no more use.

        They refer to each other in circles, which would keep them until a full collection.
        """
        if self._evaluated is not None:
            modules = self._evaluated.session.imports.modules
            for module in modules.values():
                module.ns.clear()
            modules.clear()
        self.library.close()
        self._evaluated = None

    def declared(self) -> list[str]:
        """Full names of the functions that carry a requirement decorator."""
        if self._written is None:
            self._written = dict.fromkeys(written.written(self.library))
        return list(dict.fromkeys([*self.evaluated.functions, *self._written]))

    def public(self) -> list[str]:
        """Full names of functions and classes that FlashInfer's packages export."""
        found: dict[str, None] = {}
        for module in self.library.exporting():
            text = self.library.module(module)
            for name in self._exported(text) if text is not None else ():
                target = self.library.resolve(f"{module}.{name}")
                if target is not None and target[1] in target[0].functions | target[0].classes:
                    found.setdefault(f"{target[0].name}.{target[1]}")
        return [name for name in found if ".jit." not in name]

    def _exported(self, text: ModuleText) -> list[str]:
        names = dict.fromkeys(text.functions | text.classes)
        if text.file.endswith("__init__.py"):
            names |= dict.fromkeys(text.imports)
        return [name for name in names if not name.startswith("_") and "." not in name]

    def function(self, full: str) -> FunctionRequirements | None:
        """What one function or class needs; None where its source says nothing."""
        item = self.evaluated.functions.get(full)
        place = written.place_of(self.library, full)
        if item is not None:
            known = self._asked(item, place or Place("", 0))
        elif full in self.declared():
            known = written.read_text(self.library, full, self._why(full))
        else:
            known = None
        return self._completed(full, known)

    def _why(self, full: str) -> str:
        module = max(
            (name for name in self.evaluated.failed if full.startswith(f"{name}.")), default=""
        )
        return self.evaluated.failed.get(module, FAILED)

    def _completed(
        self, full: str, known: FunctionRequirements | None
    ) -> FunctionRequirements | None:
        module, _, name = full.rpartition(".")
        text = self.library.module(module)
        if text is None or (name not in text.functions and name not in text.classes):
            return known
        jit, others = self.reach.of(text, name)
        own = checks.of_function(self.evaluated, text, name)
        order = auto.written_order(self.evaluated, text, name)
        if known is None:
            if not jit and not own:
                return None
            node = text.functions.get(name) or text.classes[name]
            place = Place(text.file, node.lineno)
            known = FunctionRequirements(full, place, Support(None, place, "not declared"), False)
        order = known.auto or order
        why = known.auto_reason
        if not order and not why and auto.takes_auto(text, name):
            why = "what it chooses is not visible in its own body"
        found = replace(known, jit=jit, other_kernels=others, checks=own)
        return replace(found, auto=order, auto_reason="" if order else why)

    def _asked(self, item: Declared, place: Place) -> FunctionRequirements:
        any_of = self._support(item.value.d[MARKER], place)
        backends = tuple(
            BackendSupport(name, self._backend(item, name, checker, place))
            for name, checker in (item.declaration.checks if item.declaration else {}).items()
        )
        order, reason = auto.order_of(self.evaluated, item, backends)
        return FunctionRequirements(item.name, place, any_of, True, backends, order, reason)

    def _backend(self, item: Declared, name: str, checker: Value, place: Place) -> Support:
        where = place
        if isinstance(checker, (Function, Native)):
            machine = self.evaluated.session.machine
            parts = [machine.lookup(checker, key) for key in ("__module__", "__qualname__")]
            if all(isinstance(part, str) for part in parts):
                where = written.place_of(self.library, ".".join(parts)) or place
        return self._support(item.value.d[ASKS_BACKEND], where, name)

    def _support(self, function: Value, place: Place, *first: Value) -> Support:
        held: list[int] = []
        for number in NUMBERS:
            answer = self.evaluated.ask(function, *first, number)
            if isinstance(answer, Unknown):
                return Support(None, place, answer.reason)
            if answer:
                held.append(number)
        return Support(tuple(held), place)

    def assumptions(self) -> tuple[tuple[str, str], ...]:
        """Facts of the machine that the evaluation asked for."""
        world = self.evaluated.session.world
        values = {"cuda": world.cuda, "cudnn": world.cudnn}
        return tuple((name, values[name]) for name in values if name in world.asked)

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What could not be read, parsed or evaluated."""
        found = [
            *self.library.diagnostics,
            *self.library.program.diagnostics,
            *self.evaluated.diagnostics,
        ]
        return tuple(found)
