"""What happens while a launch is followed: the way to each library call, and what stays open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sgl_audit.evaluate.branching import BRANCH_BUDGET
from sgl_audit.evaluate.calling import bind_arguments
from sgl_audit.evaluate.entry import is_getter
from sgl_audit.evaluate.following.libraries import PACKAGES, kernel_of
from sgl_audit.evaluate.joining import join_contents
from sgl_audit.evaluate.journal import restore
from sgl_audit.evaluate.machine import DEPTH_BUDGET, NOT_HANDLED, WRAPPED, Machine
from sgl_audit.evaluate.plain import NotPlainError, plain
from sgl_audit.evaluate.scopes import GLOBALS, PARENT
from sgl_audit.evaluate.statements import Split
from sgl_audit.evaluate.values import (
    MISSING,
    BudgetReachedError,
    Cases,
    Function,
    Lazy,
    Module,
    Opaque,
    Raised,
    Unknown,
    Value,
    same,
)
from sgl_audit.model.paths import Hop, KernelCall
from sgl_audit.model.source import Place

# Folders of the tree with CUDA sources and the Python that compiles them.
COMPILED = ("jit_kernel", "kernels/jit")
OWN = "jit_kernel"
# Enough for any layer; code that asks more has loops whose rounds are not told apart.
BRANCHES = 800
RANKS = ("layers/dp_attention", "runtime_context")
# They give back what they get, as far as results are concerned.
TRANSPARENT = ("torch.compiler.disable", "torch._dynamo.disable")
GROUPS = "process groups are set up when a server starts"
MAX_ARGUMENT = 60


Condition = tuple[Any, bool]


class Follower:
    """Notes every library call of what runs while it is installed.

    Attributes:
        place: the line of the call that is about to happen.
        gaps: (reason, place) -> nothing, in order.
        asked: run-time values whose getters were called, in order.
    """

    def __init__(self, machine: Machine, root: str) -> None:
        self.machine = machine
        self.root = root
        self.place: tuple[str, int] | None = None
        self._met: dict[Any, KernelCall] = {}
        self._ways: dict[Any, set[frozenset[Condition]]] = {}
        self.gaps: dict[tuple[str, tuple[str, int]], None] = {}
        self.asked: dict[str, None] = {}
        self.assumed: set[Any] = set()
        self._base: Mapping[Any, bool] = {}
        self._stack: list[tuple[Function, tuple[str, int] | None]] = []
        self._groups = f"{root}/srt/distributed/"
        self._own = tuple(f"{root}/{name}/" for name in COMPILED)
        self._ranks = frozenset(f"{root}/srt/{name}.py" for name in RANKS)

    @contextmanager
    def installed(self) -> Iterator[Follower]:
        """Follow what the machine runs inside."""
        machine: Any = self.machine
        self._base = dict(machine.known)
        machine.follower = self
        machine.branches = BRANCH_BUDGET - BRANCHES
        machine._join_heaps = self.join_heaps
        machine._refused = self.refused
        machine._only = self.only
        machine.loop_unknown = self.loop_unknown
        machine.plain_delattr = self.plain_delattr
        machine.spread = self.spread
        machine.imports.load = self.load
        machine.imports.opaque_attribute = self.opaque_attribute
        try:
            yield self
        finally:
            machine.follower = None
            for name in (
                "_join_heaps",
                "_refused",
                "_only",
                "loop_unknown",
                "plain_delattr",
                "spread",
            ):
                del machine.__dict__[name]
            del machine.imports.load, machine.imports.opaque_attribute

    def load(self, name: str) -> Module:
        """Import a module as if it had been there before: what an arm undoes is not its body."""
        machine = self.machine
        journal, follower = machine.journal, machine.follower
        layers, top = journal.layers, journal.top
        journal.layers = layers[:1]
        journal.top = layers[0] if layers else None
        machine.follower = None
        try:
            return type(machine.imports).load(machine.imports, name)
        finally:
            machine.follower = follower
            journal.layers, journal.top = layers, top

    def opaque_attribute(self, owner: Opaque, name: str) -> Value:
        """What an object of a kernel library holds is not known, and equals nothing by chance."""
        if owner.name.partition(".")[0] in PACKAGES and name not in owner.d:
            full = f"{owner.name}.{name}"
            return Unknown(full, "outside the tree", ("attribute", full), "external")
        imports = self.machine.imports
        return type(imports).opaque_attribute(imports, owner, name)

    def spread(self, value: Value) -> Any:
        """`[*shape]` of an unknown shape: how many items there are is seldom asked."""
        if isinstance(value, Unknown) and not isinstance(value, Cases):
            return [value.derive(f"items of {value.name}", "items")]
        return type(self.machine).spread(self.machine, value)

    def plain_delattr(self, owner: Value, name: str) -> None:
        """Deleting from something unknown leaves what an unknown thing has there."""
        machine = self.machine
        if isinstance(owner, Unknown):
            machine.touch(machine.unknown_state)
            machine.unknown_state.pop((owner.key, name), None)
            return
        type(machine).plain_delattr(machine, owner, name)

    def gap(self, reason: str, place: tuple[str, int]) -> None:
        """Note something that could not be followed."""
        self.gaps.setdefault((reason, place))

    def run(self, function: Function, args: Any, kwargs: dict[str, Value]) -> Value:
        """Run a function of the tree."""
        code = function.code
        if code.file.startswith(self._groups):
            return Unknown(f"{function.name}()", GROUPS, ("group", function.qualname), "machine")
        if code.file.startswith(self._own) and "<locals>" not in function.qualname:
            # CUDA code of the tree, compiled when it is first called.
            caller = self._stack[-1][0] if self._stack else function
            inside = caller.code.file.startswith(self._own)
            name = function.name if inside or code.file.startswith(self._own[:1]) else caller.name
            self.note(OWN, f"{OWN}.{name}", kwargs, function)
            return Unknown(f"{OWN}.{name}(...)", "a kernel", None, "external")
        if is_getter(function.name, function):
            self.asked.setdefault(function.name.removeprefix("get_"))
        if code.file in self._ranks:
            return self._or_unknown(function, args, kwargs)
        return self._run(function, args, kwargs)

    def _or_unknown(self, function: Function, args: Any, kwargs: dict[str, Value]) -> Value:
        """A question about ranks: what refuses to answer before a server is set up is unknown."""
        try:
            return self._run(function, args, kwargs)
        except Raised:
            return Unknown(f"{function.name}()", GROUPS, ("group", function.qualname), "machine")

    def _run(self, function: Function, args: Any, kwargs: dict[str, Value]) -> Value:
        machine, code = self.machine, function.code
        frame: dict[str, Value] = {GLOBALS: function.globals, PARENT: function.env}
        bind_arguments(machine, function, frame, args, kwargs)
        if code.is_async:
            return Unknown(f"{code.name}()", "coroutines are not evaluated")
        if machine.depth >= DEPTH_BUDGET:
            raise BudgetReachedError("depth budget reached")
        machine.steps += 1
        if machine.steps > machine.step_budget:
            raise BudgetReachedError("step budget reached")
        machine.depth += 1
        self._stack.append((function, self.place))
        try:
            signal = code.followed(frame)
        except RecursionError:
            raise BudgetReachedError("depth budget reached") from None
        finally:
            machine.depth -= 1
            self.place = self._stack.pop()[1]
        if signal is None:
            return None
        return machine.join_returns(signal) if signal.__class__ is Split else signal.value

    def outside(self, called: Opaque | Unknown, args: Any, kwargs: dict[str, Value]) -> Value:
        """A call that leaves the tree; an operator of the tree itself runs."""
        inner = called.d.get(WRAPPED) if isinstance(called, Opaque) else None
        found = kernel_of(called.name, self.root)
        if found is not None:
            self.note(*found, kwargs, inner)
        elif isinstance(inner, Function):
            return self.machine.call(inner, list(args), kwargs)
        elif called.name in TRANSPARENT and args and isinstance(args[0], Function):
            return args[0]
        if isinstance(called, Opaque) and (args or kwargs):
            # Made anew: what is written to one result must not show in another.
            return Unknown(f"{called.name}(...)", "outside the tree", None, "external")
        return NOT_HANDLED

    def note(self, library: str, name: str, kwargs: dict[str, Value], inner: Value) -> None:
        """Note one call of a library."""
        if self.place is None:
            return
        known = tuple(
            (key, text) for key, value in kwargs.items() if (text := argument_text(value))
        )
        call = KernelCall(library, name, Place(*self.place), known, (), tuple(self._hops()))
        alike = (library, name, call.place, known)
        self._met.setdefault(alike, call)
        self._ways.setdefault(alike, set()).add(frozenset(self._conditions()))

    def _hops(self) -> Iterator[Hop]:
        lines = [*(place for _, place in self._stack[1:]), self.place]
        for (function, _), line in zip(self._stack, lines, strict=True):
            yield Hop(function.qualname, Place(*(line or (function.code.file, function.code.line))))

    @property
    def noted(self) -> tuple[str, ...]:
        """The gaps as text."""
        return tuple(f"{reason} ({file}:{line})" for reason, (file, line) in self.gaps)

    @property
    def calls(self) -> tuple[KernelCall, ...]:
        """Every call that was met, in order, each with the conditions that all its ways share."""
        return tuple(
            replace(call, when=self._text(shortest(self._ways[alike])))
            for alike, call in self._met.items()
        )

    def _conditions(self) -> Iterator[Condition]:
        for key, truth in self.machine.known.items():
            if key not in self._base and (key, truth) not in self.assumed:
                yield key, truth

    def _text(self, conditions: frozenset[Condition]) -> tuple[str, ...]:
        texts = [(self.machine.text_of(key), truth) for key, truth in conditions]
        return tuple(sorted(text if truth else f"not ({text})" for text, truth in texts))

    def only(self, way: Any) -> Any:
        """The other way was refused: what it rests on is no choice from here on."""
        self.assumed |= set(way.cube)
        return type(self.machine)._only(self.machine, way)

    def refused(self, raised: Any, cube: Any) -> None:
        """A way that ends in an exception is a way that no running server takes."""
        machine = self.machine
        handlers, machine.handlers = machine.handlers, 0
        try:
            type(machine)._refused(machine, raised, cube)
        finally:
            machine.handlers = handlers

    def loop_unknown(self, value: Unknown, once: Callable[[Unknown], Value], f: Any) -> None:
        """A loop over unknown items: one round stands for all."""
        once(value.derive(f"an item of {value.name}", "item"))

    def join_heaps(self, ways: Any) -> bool:
        """Join what ways left behind; where that cannot be said by cases it is unknown."""
        seen: dict[int, Any] = {}
        for way in ways:
            for key, (container, _) in way.written.items():
                seen.setdefault(key, container)
        for key, container in seen.items():
            states = [
                (way.cube, way.written[key][1] if key in way.written else container) for way in ways
            ]
            if isinstance(container, dict):
                states = without_lazy(states)
            joined = join_contents(container, states)
            if joined is MISSING:
                joined = loosely(container, [state for _, state in states])
            self.machine.journal.touch(container)
            restore(container, joined)
        return True


def shortest(ways: set[frozenset[Condition]]) -> frozenset[Condition]:
    """What has to hold for one of several ways: answers that do not matter are left out."""
    merged = set(ways)
    changed = True
    while changed and len(merged) > 1:
        changed = False
        for way in sorted(merged, key=len, reverse=True):
            for key, truth in way:
                rest = way - {(key, truth)}
                if rest | {(key, not truth)} in merged or rest in merged:
                    merged -= {way, rest | {(key, not truth)}}
                    merged.add(rest)
                    changed = True
                    break
            if changed:
                break
    return frozenset.intersection(*merged)


def without_lazy(states: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """A name that one way has loaded is loaded on all: that imports are put off is ours alone."""
    loaded: dict[Any, Value] = {}
    waiting = {key for _, state in states for key, item in state.items() if item.__class__ is Lazy}
    for key in waiting:
        known = [s[key] for _, s in states if key in s and s[key].__class__ is not Lazy]
        if known:
            loaded[key] = known[0]
    if not loaded:
        return states
    return [(cube, {**state, **loaded}) for cube, state in states]


def loosely(container: Any, states: list[Any]) -> Any:
    """Contents of which only what every way agrees on is known."""
    if isinstance(container, dict):
        keys = dict.fromkeys(key for state in states for key in state)
        return {key: _agreed(key, [state.get(key, MISSING) for state in states]) for key in keys}
    if isinstance(container, list):
        return max((list(state) for state in states), key=len)
    return set().union(*states)


def _agreed(key: Any, column: list[Value]) -> Value:
    if all(same(item, column[0]) for item in column[1:]):
        return column[0]
    return Unknown(str(key), "it differs between ways that are not told apart")


def argument_text(value: Value) -> str:
    """A keyword argument as text where it is a plain value, else ""."""
    if isinstance(value, Unknown) and not hasattr(value, "cases"):
        return ""
    if hasattr(value, "cases"):
        return ""
    try:
        shown = plain(value)
    except NotPlainError:
        return ""
    if isinstance(shown, (str, bool, int)):
        return str(shown)[:MAX_ARGUMENT]
    return ""
