"""Branches on what is not known: both arms run, and what they leave behind is joined.

Values join as guarded cases, not as whole-program paths, so cost stays in line with the code.
Where two heaps cannot be joined, or one arm leaves the block, the ways go on side by side up to
the end of the function; an exception that nobody catches becomes a refusal under a condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.implied import implied
from sgl_audit.evaluate.joining import join_contents
from sgl_audit.evaluate.journal import Journal, restore
from sgl_audit.evaluate.statements import BREAK, CONTINUE, Return, Split
from sgl_audit.evaluate.values import (
    INSTANCE_TYPES,
    MISSING,
    Bound,
    BudgetReachedError,
    Cases,
    Class,
    Cube,
    Function,
    Junction,
    Module,
    Native,
    Negation,
    Raised,
    Undecidable,
    Unknown,
    Value,
    join_cubes,
    same,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.expressions import Frame


BRANCH_BUDGET = 4_000


# Values whose operators, attributes or items may run code of the program.
ACTIVE = (*INSTANCE_TYPES, Class, Function, Native, Bound, Module)


Key = tuple[Any, ...]


@dataclass(slots=True)
class Way:
    """One way through a branch: its condition, how it ends and what it wrote."""

    cube: Cube
    signal: Any
    written: dict[int, tuple[Any, Any]]


@dataclass(frozen=True, slots=True)
class GuardedRefusal:
    """An uncaught exception under a condition that is not known to hold."""

    raised: Raised
    cube: Cube


class Branching:
    """Three-valued control flow.

    Attributes:
        known: answers assumed on this way.
        arm: number of the innermost arm that runs now; 0 outside of all.
    """

    journal: Journal
    handlers: int
    unknown_state: Any

    def __init__(self) -> None:
        self.known: dict[Key, bool] = {}
        self.questions: dict[Key, Unknown] = {}
        self.refusals: list[GuardedRefusal] = []
        self.branches = 0
        self.arms = 0
        self.arm = 0
        super().__init__()

    def known_truth(self, value: Unknown) -> Any:
        """The truth of an unknown under what is assumed on this way, or the unknown itself."""
        if isinstance(value, Negation):
            return Negation.of(self.known_truth(value.part))
        if isinstance(value, Cases):
            return self._truth_of_cases(value)
        if not self.known:
            return value
        if isinstance(value, Junction):
            return self._truth_of_junction(value)
        truth = self._answer(value.key)
        return value if truth is None else truth

    def _answer(self, key: Key) -> bool | None:
        """What this way already knows about a question."""
        truth = self.known.get(key)
        return implied(key, self.known) if truth is None else truth

    def _truth_of_junction(self, value: Junction) -> Any:
        rest = []
        for part in value.parts:
            truth = self.known_truth(part)
            if truth is value.stop:
                return truth
            if isinstance(truth, Unknown):
                rest.append(truth)
        return Junction.of(rest, value.stop)

    def _truth_of_cases(self, value: Cases) -> Any:
        live = self.live_cases(value)
        truths = [(cube, self.truth_value(item)) for cube, item in live]  # type: ignore[attr-defined]
        return Cases.of(tuple(truths))

    def live_cases(self, value: Cases) -> list[tuple[Cube, Value]]:
        """The cases that do not contradict what is assumed on this way."""
        live = []
        for cube, item in value.cases:
            rest = []
            for key, truth in cube:
                known = self._answer(key)
                if known is None:
                    rest.append((key, truth))
                elif known is not truth:
                    break
            else:
                live.append((tuple(rest), item))
        return live

    def simplify(self, value: Value) -> Value:
        """A value under what is assumed on this way."""
        return Cases.of(tuple(self.live_cases(value))) if isinstance(value, Cases) else value

    def question(self, truth: Unknown) -> Unknown:
        """The single question to ask first in order to decide a truth value."""
        if isinstance(truth, Negation):
            return self.question(truth.part)
        if isinstance(truth, Junction):
            return self.question(truth.parts[0])
        if isinstance(truth, Cases):
            for cube, item in truth.cases:
                if cube:
                    key = cube[0][0]
                    asked = self.questions.get(key)
                    return asked if asked is not None else Unknown(str(key), "", key)
                if isinstance(item, Unknown):
                    return self.question(item)
        return truth

    def fork_value(self, truth: Unknown, run: Callable[[bool], Value]) -> Value:
        """Evaluate an expression for both answers and join the values."""
        atom = self.question(truth)

        def arm(known: bool) -> Value:
            if atom is truth:
                return run(known)
            answer = self.known_truth(truth)
            return run(answer) if isinstance(answer, bool) else self.fork_value(answer, run)

        ways = self._arms(atom, lambda: Return(arm(True)), lambda: Return(arm(False)), None)
        return self._join_values(ways)

    def over_cases(self, value: Cases, run: Callable[[Value], Value]) -> Value:
        """Apply something without effects to each case; only live cases may raise."""
        live = self.simplify(value)
        if not isinstance(live, Cases):
            return run(live)
        if not any(isinstance(item, ACTIVE) for _, item in live.cases):
            try:
                return live.map(run)
            except Raised:
                # One case raises: only under its condition, which a fork keeps.
                pass
        return self.fork_case(live, run)

    def fork_case(self, value: Cases, run: Callable[[Value], Value]) -> Value:
        """Apply something with effects to each case."""
        live = self.simplify(value)
        if not isinstance(live, Cases):
            return run(live)
        return self.fork_value(self.question(live), lambda known: self.fork_case(live, run))

    def fork_argument(
        self, function: Native, args: list[Value], kwargs: dict[str, Value], value: Cases
    ) -> Value:
        """Call a stand-in once for each case of an argument."""

        def run(case: Value) -> Value:
            replaced = [case if arg is value else arg for arg in args]
            return self.call_native(function, replaced, kwargs)  # type: ignore[attr-defined]

        return self.fork_case(value, run)

    def fork_iteration(
        self,
        value: Unknown,
        run: Callable[[Value], Value],
        once: Callable[[Unknown], Value],
        otherwise: Callable[[], Value],
        f: Frame,
    ) -> Value:
        """Run a loop over a value of several cases, or over one that is not known at all."""
        live = self.simplify(value)
        if not isinstance(live, Unknown):
            return run(live)
        if not isinstance(live, Cases):
            self.loop_unknown(live, once, f)
            return otherwise()
        again = lambda: self.fork_iteration(live, run, once, otherwise, f)  # noqa: E731
        return self._close(self._arms(self.question(live), again, again, f), f)

    def loop_unknown(self, value: Unknown, once: Callable[[Unknown], Value], f: Frame) -> None:
        """A loop over unknown items: fine where no round changes anything but its own locals.

        One round runs on an item of which nothing is known, so it meets every way a round can
        take. What it would assign is unknown afterwards.

        Raises:
            Undecidable: a round may change something, or leave the loop.
        """
        item = value.derive(f"an item of {value.name}", "item")
        ways = self._run_way((), {}, lambda: once(item), f)
        if not ways or any(way.signal not in (None, CONTINUE) for way in ways):
            raise Undecidable(f"iteration over {value.name}: {value.reason}")
        assigned: set[Any] = set()
        for way in ways:
            for container, contents in way.written.values():
                if container is self.unknown_state:
                    self.journal.touch(container)
                    self._disturb_written(contents)
                    continue
                if container is not f:
                    raise Undecidable(f"iteration over {value.name}: {value.reason}")
                assigned |= {k for k, v in contents.items() if not same(f.get(k, MISSING), v)}
        for name in assigned:
            f[name] = value.derive(f"{name} after a loop over {value.name}", "loop", name)

    def _disturb_written(self, contents: dict[Any, Value]) -> None:
        """A round wrote to unknowns: how often is not known, so nothing of them is."""
        state = self.unknown_state
        changed = {k for k, v in contents.items() if not same(state.get(k, MISSING), v)}
        for owner, _ in changed:
            for key in [key for key in state if key[0] == owner]:
                del state[key]
            state[owner, ("epoch",)] = ("loop", len(state), self.branches)

    def branch(
        self,
        truth: Unknown,
        then: Callable[[], Any],
        other: Callable[[], Any],
        f: Frame,
        place: tuple[str, int] | None,
    ) -> Any:
        """Run both arms of an `if` and join; gives the signal of the statement."""
        atom = self.question(truth)
        if atom is truth:
            ways = self._arms(atom, then, other, f)
        else:

            def again() -> Any:
                answer = self.known_truth(truth)
                if isinstance(answer, bool):
                    return then() if answer else other()
                return self.branch(answer, then, other, f, place)

            ways = self._arms(atom, again, again, f)
        return self._close(ways, f)

    def continue_split(self, split: Split, rest: Callable[[], Any], f: Frame) -> Any:
        """Run the rest of a block on the ways that reached its end."""
        return self._resume(split, rest, f, lambda signal: signal is None)

    def continue_loop(self, split: Split, rest: Callable[[], Any], f: Frame) -> Any:
        """Run the remaining rounds on the ways that go on with the loop."""
        result = self._resume(split, rest, f, lambda signal: signal is None or signal is CONTINUE)
        if result.__class__ is Split:
            for way in result.ways:
                if way.signal is BREAK:
                    way.signal = None
            return self._close(result.ways, f)
        return None if result is BREAK else result

    def finish_split(self, split: Split, action: Callable[[], Any], f: Frame) -> Any:
        """Run a `finally` block on every way."""
        ways = []
        for way in split.ways:
            signal = way.signal
            done = self._run_way(way.cube, way.written, action, f)
            for item in done:
                item.signal = signal if item.signal is None else item.signal
                ways.append(item)
        return self._close(ways, f)

    def join_returns(self, split: Split) -> Value:
        """The value of a function that returns in several places."""
        return self._join_values(split.ways)

    def _resume(
        self, split: Split, rest: Callable[[], Any], f: Frame, goes_on: Callable[[Any], bool]
    ) -> Any:
        ways: list[Way] = []
        for way in split.ways:
            if goes_on(way.signal):
                ways.extend(self._run_way(way.cube, way.written, rest, f))
            else:
                ways.append(way)
        return self._close(ways, f)

    def _arms(
        self, atom: Unknown, then: Callable[[], Any], other: Callable[[], Any], f: Frame | None
    ) -> list[Way]:
        self.questions.setdefault(atom.key, atom)
        ways = self._run_way(((atom.key, True),), {}, then, f)
        ways += self._run_way(((atom.key, False),), {}, other, f)
        if not ways:
            raise self.refusals[-1].raised
        return ways

    def _run_way(
        self,
        cube: Cube,
        written: dict[int, tuple[Any, Any]],
        run: Callable[[], Any],
        f: Frame | None,
    ) -> list[Way]:
        self.branches += 1
        if self.branches > BRANCH_BUDGET:
            raise BudgetReachedError("case budget reached")
        outer = self.known
        arm = self.arm
        self.arms += 1
        self.arm = self.arms
        asked = dict(cube)
        self.known = {**outer, **asked}
        self.journal.open()
        if f is not None:
            self.journal.touch(f)
        self.journal.apply(written)
        try:
            signal = run()
            # An exception inside that nobody catches leaves its condition excluded from here on.
            gained = gained_since(outer, self.known, asked)
        except Raised as raised:
            self.journal.undo()
            self._refused(raised, cube)
            return []
        except BaseException:
            self.journal.undo()
            raise
        finally:
            self.known = outer
            self.arm = arm
        captured = self.journal.capture()
        if signal.__class__ is not Split:
            return [Way(gained, signal, captured)]
        ways = []
        for way in signal.ways:
            joined = join_cubes(gained, way.cube)
            if joined is not None:
                ways.append(Way(joined, way.signal, {**captured, **way.written}))
        return ways

    def _refused(self, raised: Raised, cube: Cube) -> None:
        if self.handlers:
            names = ", ".join(self.text_of(key) for key, _ in cube)
            raise Undecidable(f"an exception that may be caught depends on {names}", raised.place)
        if any(item.raised is raised for item in self.refusals):
            # Every way inside ended in it: the conditions of those ways are noted already.
            return
        whole = tuple({**self.known, **dict(cube)}.items())
        self.refusals.append(GuardedRefusal(raised, whole))

    def text_of(self, key: Key) -> str:
        """How a question reads."""
        asked = self.questions.get(key)
        return asked.name if asked is not None else str(key)

    def _close(self, ways: list[Way], f: Frame) -> Any:
        if not ways:
            raise self.refusals[-1].raised
        if len(ways) == 1:
            return self._only(ways[0])
        first = ways[0].signal
        plain = first is None or first is BREAK or first is CONTINUE
        if plain and all(way.signal is first for way in ways) and self._join_heaps(ways):
            return first
        return Split(ways)

    def _only(self, way: Way) -> Any:
        self.journal.apply(way.written)
        self.known = {**self.known, **dict(way.cube)}
        return way.signal

    def _join_values(self, ways: list[Way]) -> Value:
        if len(ways) == 1:
            signal = self._only(ways[0])
            return signal.value if isinstance(signal, Return) else None
        if not self._join_heaps(ways):
            raise Undecidable("what two ways through the code leave behind cannot be joined")
        return Cases.of(
            tuple(
                (way.cube, way.signal.value if isinstance(way.signal, Return) else None)
                for way in ways
            )
        )

    def _join_heaps(self, ways: list[Way]) -> bool:
        merged: list[tuple[Any, Any]] = []
        seen: dict[int, Any] = {}
        for way in ways:
            for key, (container, _) in way.written.items():
                seen.setdefault(key, container)
        for key, container in seen.items():
            states = [
                (way.cube, way.written[key][1] if key in way.written else container) for way in ways
            ]
            joined = join_contents(container, states)
            if joined is MISSING:
                return False
            merged.append((container, joined))
        for container, contents in merged:
            self.journal.touch(container)
            restore(container, contents)
        return True


def iterate_ways(split: Split) -> Iterator[Way]:
    """The ways of a split, for tests."""
    yield from split.ways


def gained_since(outer: dict[Key, bool], known: dict[Key, bool], asked: dict[Key, bool]) -> Cube:
    """What was asked on a way, and what became known on it beside what was known before.

    Answers are only ever added: those of before stand first, in the same order.
    """
    if any(key in outer for key in asked):
        return tuple((k, v) for k, v in known.items() if k not in outer or k in asked)
    return tuple(islice(known.items(), len(outer), None))
