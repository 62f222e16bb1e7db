"""Requirements that FlashInfer declares with decorators, asked of its own functions.

The modules are interpreted, never imported: what `is_backend_supported(backend, cc)` and
`is_compute_capability_supported(cc)` of a decorated function answer is what its own code computes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sgl_audit.evaluate.session import Session
from sgl_audit.evaluate.values import (
    MISSING,
    Function,
    Module,
    Native,
    Raised,
    Undecidable,
    Unknown,
    Value,
)
from sgl_audit.kernels.flashinfer.library import Library
from sgl_audit.kernels.flashinfer.world import make_session
from sgl_audit.model.source import Diagnostic, Place

MARKER = "is_compute_capability_supported"
DECORATOR = "backend_requirement"


@dataclass(slots=True)
class Declaration:
    """One call of `backend_requirement`: its arguments and what it decorated.

    Attributes:
        checks: backend name -> its checker.
        wrapper: the decorated function, None until it is applied.
    """

    checks: dict[str, Value]
    common: Value
    heuristic: Value
    wrapper: Value = None


@dataclass(slots=True)
class Declared:
    """A function that carries a declaration.

    Attributes:
        name: defining module and qualified name.
        value: the function as the interpreter holds it.
        declaration: the decorator call, None for a bare list of capabilities.
    """

    name: str
    value: Value
    declaration: Declaration | None


@dataclass(slots=True)
class Evaluated:
    """The interpreted library.

    Attributes:
        functions: by full name, in file order.
        failed: modules that could not be loaded, with the reason.
    """

    library: Library
    session: Session
    declarations: list[Declaration] = field(default_factory=list)
    functions: dict[str, Declared] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What could not be loaded."""
        return [
            Diagnostic(f"could not be evaluated: {reason}", self._place(name))
            for name, reason in self.failed.items()
        ]

    def _place(self, name: str) -> Place | None:
        file = self.library.program.file_of(name)
        return None if file is None else Place(file, 1)

    def load(self, name: str) -> Module | None:
        """A module of the library, run once; None where it cannot be loaded."""
        if name in self.failed:
            return None
        try:
            return self.session.imports.load(name)
        except Raised as raised:
            text = self.session.machine.as_text(raised.value)
            self.failed[name] = f"{raised.value.cls.name}: {text}"[:200]
        except Undecidable as stop:
            self.failed[name] = stop.reason
        except Exception as error:
            self.failed[name] = f"the interpreter failed: {type(error).__name__}: {error}"
        return None

    def ask(self, function: Value, *args: Value) -> Value:
        """What a function of the library answers; unknown with the reason where it does not."""
        machine = self.session.machine
        try:
            with self.session.launch():
                return machine.call(function, list(args), {})
        except Raised as raised:
            text = machine.as_text(raised.value)
            return Unknown("refused", f"{raised.value.cls.name}: {text}"[:200])
        except Undecidable as stop:
            return Unknown("undecided", stop.reason)
        except Exception as error:
            return Unknown("undecided", f"the interpreter failed: {type(error).__name__}: {error}")


def evaluate(library: Library) -> Evaluated:
    """Run every module that declares requirements and collect the functions that carry one."""
    done = Evaluated(library, make_session(library))
    _watch_decorator(done)
    for name in library.declaring:
        module = done.load(name)
        if module is not None:
            _collect(done, module)
    return done


def _watch_decorator(done: Evaluated) -> None:
    """Note the arguments of every `backend_requirement(...)`, whoever imports it.

    The root package is kept from running first, since it would import users of the decorator
    before the decorator is watched.
    """
    imports = done.session.imports
    for name in done.library.declaring:
        text = done.library.module(name)
        if text is None or DECORATOR not in text.functions:
            continue
        root = imports._create(done.library.program.root)
        state, root.state = root.state, "loading"
        module = done.load(name)
        root.state = state
        original = None if module is None else module.ns.get(DECORATOR)
        if module is not None and isinstance(original, Function):
            module.ns[DECORATOR] = _watched(done, original)


def _watched(done: Evaluated, original: Function) -> Native:
    machine = done.session.machine

    def run(args: list[Value], kwargs: dict[str, Value]) -> Value:
        apply = machine.call(original, args, kwargs)
        given = dict(zip(original.code.positional, args, strict=False)) | kwargs
        checks = given.get("backend_checks")
        note = Declaration(
            dict(checks) if isinstance(checks, dict) else {},
            given.get("common_check"),
            given.get("heuristic_func"),
        )
        done.declarations.append(note)

        def decorate(inner: list[Value], named: dict[str, Value]) -> Value:
            note.wrapper = machine.call(apply, inner, named)
            return note.wrapper

        return Native(DECORATOR, decorate, raw=True)

    return Native(DECORATOR, run, raw=True)


def _collect(done: Evaluated, module: Module) -> None:
    machine = done.session.machine
    holders: list[Any] = [module.ns]
    holders += [value.ns for value in module.ns.values() if getattr(value, "mro", None)]
    for holder in holders:
        for value in list(holder.values()):
            if not isinstance(value, (Function, Native)) or MARKER not in value.d:
                continue
            owner = machine.lookup(value, "__module__")
            qualname = machine.lookup(value, "__qualname__")
            if owner == module.name and isinstance(qualname, str):
                name = f"{owner}.{qualname}"
                done.functions.setdefault(name, Declared(name, value, _declaration(done, value)))


def _declaration(done: Evaluated, value: Value) -> Declaration | None:
    """The decorator call behind a function, also where another decorator wraps its result."""
    seen: list[Value] = []
    while value is not None and value is not MISSING and value not in seen:
        for note in done.declarations:
            if note.wrapper is value:
                return note
        seen.append(value)
        value = getattr(value, "d", {}).get("__wrapped__")
    return None
