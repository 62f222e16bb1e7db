"""What `backend="auto"` tries, asked of the library's own heuristic function."""

from __future__ import annotations

from sgl_audit.evaluate.values import (
    MISSING,
    Class,
    Function,
    Instance,
    Raised,
    Undecidable,
    Unknown,
    Value,
)
from sgl_audit.kernels.flashinfer.declared import Declared, Evaluated
from sgl_audit.kernels.flashinfer.world import NUMBERS, asking, device
from sgl_audit.model.kernels import AutoOrder, BackendSupport


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
    for number in NUMBERS:
        suitable = [
            part.name for part in backends if number in (part.support.numbers or ())
        ]
        if suitable:
            orders.append(_order(done, heuristic, number, suitable))
    return tuple(orders), ""


def _order(done: Evaluated, heuristic: Function, number: int, suitable: list[str]) -> AutoOrder:
    machine = done.session.machine
    try:
        with asking(done.session, number):
            args = _arguments(done, heuristic, number)
            answer = machine.call(heuristic, [suitable], args)
    except (Raised, Undecidable) as stop:
        why = stop.reason if isinstance(stop, Undecidable) else "its heuristic refuses"
        return AutoOrder(number, None, why)
    if isinstance(answer, Unknown):
        return AutoOrder(number, None, f"depends on the call: {answer.name}"[:200])
    if not isinstance(answer, (list, tuple)) or not all(isinstance(x, str) for x in answer):
        return AutoOrder(number, None, "its heuristic gives no list of names")
    return AutoOrder(number, tuple(str(name) for name in answer))


def _arguments(done: Evaluated, heuristic: Function, number: int) -> dict[str, Value]:
    """Unknown arguments, tensors on the device of that capability; defaults stay away."""
    code = heuristic.code
    names = [*code.positional[1:], *code.kwonly]
    cls = Class("Tensor", (done.session.machine.object_class,), {}, "torch")
    given: dict[str, Value] = {}
    for name in names:
        annotation = _annotation(heuristic, name)
        if "Tensor" in annotation and "Optional" not in annotation:
            given[name] = Instance(cls)
            given[name].d["device"] = device(done.session, number)
            for part in ("dtype", "shape", "ndim"):
                given[name].d[part] = Unknown(f"{name}.{part}", "depends on the call")
        else:
            given[name] = Unknown(name, "depends on the call")
    return given


def _annotation(function: Function, name: str) -> str:
    found = function.code.annotations.get(name, MISSING)
    return "" if found is MISSING else str(getattr(found, "text", found))
