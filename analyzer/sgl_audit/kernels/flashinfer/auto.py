"""What `backend="auto"` tries, asked of the library's own heuristic function."""

from __future__ import annotations

import ast

from sgl_audit.evaluate.values import (
    Class,
    Function,
    Instance,
    Undecidable,
    Unknown,
    Value,
)
from sgl_audit.kernels.flashinfer.conditions import UNKNOWN, Conditions
from sgl_audit.kernels.flashinfer.declared import Declared, Evaluated
from sgl_audit.kernels.flashinfer.library import ModuleText
from sgl_audit.kernels.flashinfer.world import NUMBERS, asking, device
from sgl_audit.model.requirements import AutoOrder, BackendSupport


def order_of(
    done: Evaluated, item: Declared, backends: tuple[BackendSupport, ...]
) -> tuple[tuple[AutoOrder, ...], str]:
    """The order per capability, or the reason why there is none to read.

    All backends that the capability supports are taken to be suitable: whether the problem's
    shape suits them is not known before a launch.
    """
    heuristic = item.declaration.heuristic if item.declaration is not None else None
    if heuristic is None:
        return (), "the declaration names no heuristic" if backends else ""
    if not isinstance(heuristic, Function):
        return (), "its heuristic is not a plain function"
    orders: list[AutoOrder] = []
    hidden = _experimental(item)
    for number in NUMBERS:
        suitable = [
            part.name
            for part in backends
            if number in (part.support.numbers or ()) and part.name not in hidden
        ]
        if suitable:
            orders.append(_order(done, heuristic, number, suitable))
    return tuple(orders), ""


def written_order(done: Evaluated, text: ModuleText, name: str) -> tuple[AutoOrder, ...]:
    """The one backend that `if backend == "auto": backend = ...` chooses, per capability."""
    node = text.functions.get(name)
    conditions = Conditions(done, text)
    for statement in node.body if node is not None else ():
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "backend == 'auto'":
            found = [(n, _chosen(conditions, statement.body, n)) for n in NUMBERS]
            if all(choice is None for _, choice in found):
                return ()
            return tuple(
                AutoOrder(number, (choice,))
                if isinstance(choice, str) and choice
                else AutoOrder(number, None, "depends on more than the capability")
                for number, choice in found
            )
        conditions.assign(statement)
    return ()


def takes_auto(text: ModuleText, name: str) -> bool:
    """Whether a function, or the initialiser of a class, has `backend="auto"` as a default."""
    node = text.functions.get(name) or text.functions.get(f"{name}.__init__")
    if node is None:
        return False
    given = node.args
    names = [item.arg for item in (*given.posonlyargs, *given.args)]
    pairs = list(zip(reversed(names), reversed(given.defaults), strict=False))
    pairs += [(a.arg, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d]
    return any(
        arg == "backend" and isinstance(value, ast.Constant) and value.value == "auto"
        for arg, value in pairs
    )


def _chosen(conditions: Conditions, body: list[ast.stmt], number: int) -> str | None:
    """The value that the block gives `backend`; "" where it cannot be told, None where it has none.

    A block that does anything else than choose is not followed.
    """
    choice: str | None = None
    for statement in body:
        if isinstance(statement, ast.If):
            truth = conditions.truth(statement.test, number)
            if truth is UNKNOWN:
                return ""
            inner = _chosen(conditions, statement.body if truth else statement.orelse, number)
            choice = choice if inner is None else inner
        elif isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "backend":
            value = conditions.value(statement.value, number)
            choice = value if isinstance(value, str) else ""
        elif any(isinstance(item, (ast.If, ast.Return)) for item in ast.walk(statement)):
            return ""
        else:
            conditions.assign(statement)
    return choice


def _experimental(item: Declared) -> set[str]:
    """Backends that the library keeps out of automatic selection unless an opt-in is set."""
    checks = item.declaration.checks if item.declaration is not None else {}
    return {
        name
        for name, checker in checks.items()
        if getattr(checker, "d", {}).get("is_experimental") is True
    }


def _order(done: Evaluated, heuristic: Function, number: int, suitable: list[str]) -> AutoOrder:
    """Where the order depends on the call, it is the one for arguments left at their defaults."""
    general, why = _ask(done, heuristic, number, suitable, defaults=False)
    if general is not None:
        return AutoOrder(number, general)
    usual, _ = _ask(done, heuristic, number, suitable, defaults=True)
    if usual is None:
        return AutoOrder(number, None, why)
    return AutoOrder(number, usual, "with its arguments left at their defaults")


def _ask(
    done: Evaluated, heuristic: Function, number: int, suitable: list[str], defaults: bool
) -> tuple[tuple[str, ...] | None, str]:
    try:
        with asking(done.session, number):
            given = _arguments(done, heuristic, number, defaults)
            # What the call made is undone with it, so its answer is read inside.
            return _names(done.session.machine.call(heuristic, [list(suitable)], given))
    except Undecidable as stop:
        return None, stop.reason
    except Exception:
        return None, "its heuristic refuses"


def _names(answer: Value) -> tuple[tuple[str, ...] | None, str]:
    if isinstance(answer, Unknown):
        return None, f"depends on the call: {answer.name}"[:200]
    if not isinstance(answer, (list, tuple)) or not all(isinstance(x, str) for x in answer):
        return None, "its heuristic gives no list of names"
    return tuple(str(name) for name in answer), ""


def _arguments(
    done: Evaluated, heuristic: Function, number: int, defaults: bool
) -> dict[str, Value]:
    """Tensors on the device of that capability; everything else is unknown or left out."""
    code = heuristic.code
    without = code.positional[1 : len(code.positional) - len(heuristic.defaults)]
    required = {*without, *(name for name in code.kwonly if name not in heuristic.kwdefaults)}
    notes = {name: ast.unparse(note) for name, note in code.annotations}
    cls = Class("Tensor", (done.session.machine.object_class,), {}, "torch")
    given: dict[str, Value] = {}
    for name in [*code.positional[1:], *code.kwonly]:
        note = notes.get(name, "")
        if defaults and name not in required:
            continue
        if "Tensor" in note and "Optional" not in note and "None" not in note:
            given[name] = Instance(cls)
            given[name].d["device"] = device(done.session, number)
            for part in ("dtype", "shape", "ndim"):
                given[name].d[part] = Unknown(f"{name}.{part}", "depends on the call")
        else:
            given[name] = Unknown(name, "depends on the call")
    return given
