"""What is decided about unknown inputs holds for every value the inputs can have."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings

from sgl_audit.evaluate.session import Session
from sgl_audit.evaluate.values import Raised, Undecidable, Unknown

from .soundness import CannotAskError, agrees, environments, holds, programs
from .trees import module_namespace

Outcome = tuple[str, Any]


def real_outcome(code: Any, facts: dict[str, Any]) -> Outcome:
    """What CPython does."""
    ns: dict[str, Any] = {"__name__": "pkg.m"}
    exec(code, ns)
    try:
        return "value", ns["run"](**facts)
    except Exception as error:
        return "raises", (type(error).__name__, str(error))


def shown(session: Session, raised: Raised) -> tuple[str, Any]:
    """An exception of the analysed program, to compare."""
    return raised.value.cls.name, session.machine.as_text(raised.value)


def check(source: str) -> str:
    """Compare one program; gives how it ended with unknown inputs."""
    session, _ = module_namespace(source)
    code = compile(source, "program", "exec", dont_inherit=True)
    names = ("a", "b", "s", "n")
    unknowns = [Unknown(name, "test", key=(name,), kind="model") for name in names]
    with session.launch() as machine:
        machine.step_budget = 100_000
        run = session.get("pkg.m", "run")
        raised = answer = None
        try:
            answer = machine.call(run, unknowns, {})
        except Raised as error:
            raised = error
        except Undecidable:
            return "undecidable"
        for facts in environments():
            kind, real = real_outcome(code, facts)
            try:
                refusal = next((r for r in machine.refusals if holds(r.cube, facts)), None)
                if refusal is not None or raised is not None:
                    told = shown(session, (refusal.raised if refusal else raised))  # type: ignore[arg-type]
                    assert kind == "raises", (facts, told, real, source)
                    if not isinstance(told[1], Unknown):
                        assert told == real, (facts, told, real, source)
                    continue
                assert kind == "value", (facts, real, source)
                assert agrees(answer, real, facts), (facts, answer, real, source)
            except CannotAskError:
                continue
    return "decided" if not machine.refusals else "refused"


@settings(
    max_examples=250,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(programs())
def test_decisions_hold_for_all_inputs(source: str) -> None:
    check(source)
