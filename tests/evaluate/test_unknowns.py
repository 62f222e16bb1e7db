"""Branches on what is not known: joins, refusals under conditions, and what must stay undecided."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from sgl_audit.evaluate.machine import Machine
from sgl_audit.evaluate.session import Session
from sgl_audit.evaluate.values import (
    BudgetReachedError,
    Cases,
    Raised,
    Undecidable,
    Unknown,
)

from .soundness import fact, holds
from .trees import module_namespace, session_for


def unknown(name: str) -> Unknown:
    """An unknown input."""
    return Unknown(name, "test", key=(name,), kind="model")


def call(source: str, *names: str, function: str = "f") -> tuple[Any, Machine]:
    """What `f` gives for unknown arguments of these names, and the machine afterwards."""
    session, _ = module_namespace(textwrap.dedent(source))
    machine = session.machine
    machine.journal.open()
    return machine.call(
        session.get("pkg.m", function), [unknown(name) for name in names], {}
    ), machine


def pick(value: Any, **facts: Any) -> Any:
    """The case that holds for these facts; containers part by part."""
    if isinstance(value, Cases):
        live = [item for cube, item in value.cases if holds(cube, facts)]
        assert len(live) == 1, value.cases
        return pick(live[0], **facts)
    if isinstance(value, Unknown):
        return fact(value.key, facts)
    if isinstance(value, (list, tuple)):
        return type(value)(pick(item, **facts) for item in value)
    if isinstance(value, dict):
        return {key: pick(item, **facts) for key, item in value.items()}
    return value


def test_both_arms_assign() -> None:
    value, machine = call(
        """
        def f(x):
            if x:
                y = 1
            else:
                y = 2
            return y + 1
        """,
        "x",
    )
    assert isinstance(value, Cases)
    assert (pick(value, x=True), pick(value, x=False)) == (2, 3)
    assert machine.refusals == []


def test_arms_that_agree_leave_a_known_value() -> None:
    value, _ = call("def f(x):\n    if x:\n        return 1\n    return 1\n", "x")
    assert value == 1


def test_one_arm_returns_early() -> None:
    value, _ = call(
        """
        def f(x):
            if x == "a":
                return "early"
            result = "late"
            if x == "b":
                result = "b"
            return result
        """,
        "x",
    )
    assert [pick(value, x=item) for item in "abc"] == ["early", "b", "late"]


def test_a_raise_in_one_arm_is_a_refusal_under_its_condition() -> None:
    value, machine = call(
        """
        def f(x):
            if x == "bad":
                raise ValueError("no")
            return "ok" if x == "bad" else "fine"
        """,
        "x",
    )
    assert value == "fine"
    (refusal,) = machine.refusals
    assert machine.as_text(refusal.raised.value) == "no"
    assert refusal.raised.place == ("pkg/m.py", 4)
    assert holds(refusal.cube, {"x": "bad"})
    assert not holds(refusal.cube, {"x": "good"})


def test_a_failing_assert_is_a_refusal_too() -> None:
    value, machine = call("def f(x):\n    assert x is None, 'given'\n    return x is None\n", "x")
    assert value is True
    (refusal,) = machine.refusals
    assert refusal.raised.value.cls.name == "AssertionError"
    assert holds(refusal.cube, {"x": 3})
    assert not holds(refusal.cube, {"x": None})


def test_every_arm_raises() -> None:
    session, _ = module_namespace(
        "def f(x):\n    if x:\n        raise ValueError('a')\n    raise KeyError('b')\n"
    )
    with session.launch() as machine, pytest.raises(Raised) as stop:
        machine.call(session.get("pkg.m", "f"), [unknown("x")], {})
    (refusal,) = machine.refusals
    assert refusal.raised.value.cls.name == "ValueError"
    assert holds(refusal.cube, {"x": True})
    assert stop.value.value.cls.name == "KeyError"


@pytest.mark.parametrize(
    "handler",
    [
        "except ValueError:\n            return 'caught'",
        "except ValueError as e:\n            raise KeyError('other') from e",
        "except Exception:\n            pass",
        "finally:\n            return 'swallowed'",
    ],
)
def test_an_exception_that_may_be_caught_is_undecidable(handler: str) -> None:
    source = f"""
    def f(x):
        try:
            if x:
                raise ValueError('a')
        {handler}
        return 'end'
    """
    with pytest.raises(Undecidable):
        call(source, "x")


def test_a_handler_that_passes_the_exception_on_changes_nothing() -> None:
    value, machine = call(
        """
        def f(x):
            try:
                if x:
                    raise ValueError('a')
            except ValueError:
                log = 1
                raise
            return 'end'
        """,
        "x",
    )
    assert value == "end"
    assert len(machine.refusals) == 1


def test_suppress_and_context_managers_count_as_handlers() -> None:
    for manager in ("suppress(ValueError)", "Swallow()", "guard()"):
        source = f"""
        from contextlib import contextmanager, suppress

        class Swallow:
            def __enter__(self):
                return self
            def __exit__(self, kind, value, trace):
                return True

        @contextmanager
        def guard():
            try:
                yield
            except ValueError:
                pass

        def f(x):
            with {manager}:
                if x:
                    raise ValueError('a')
            return 'end'
        """
        with pytest.raises(Undecidable):
            call(source, "x")


def test_a_context_manager_that_swallows_nothing_is_no_handler() -> None:
    value, machine = call(
        """
        from contextlib import contextmanager

        @contextmanager
        def area():
            try:
                yield 3
            finally:
                pass

        def f(x):
            with area() as y:
                if x:
                    raise ValueError('a')
            return y
        """,
        "x",
    )
    assert (value, len(machine.refusals)) == (3, 1)


def test_writes_to_objects_join() -> None:
    value, _ = call(
        """
        class Box:
            pass

        def f(x):
            box, table, items = Box(), {"k": 0}, [0, 0]
            box.v = 0
            if x:
                box.v = 1
                table["k"] = 1
                items[1] = 1
            return box.v, table, items
        """,
        "x",
    )
    assert pick(value, x=True) == (1, {"k": 1}, [0, 1])
    assert pick(value, x=False) == (0, {"k": 0}, [0, 0])


def test_texts_that_grow_differently_are_cases() -> None:
    source = "def f(x):\n    t = ''\n    if x:\n        t += 'a'\n    return len(t)\n"
    value, _ = call(source, "x")
    assert (pick(value, x=True), pick(value, x=False)) == (1, 0)


def test_loops_with_break_and_continue() -> None:
    value, _ = call(
        """
        def f(x, y):
            seen = 0
            for i in range(4):
                if i == 1 and x:
                    continue
                if i == 2 and y:
                    break
                seen = seen * 10 + i
            else:
                seen = -seen
            return seen
        """,
        "x",
        "y",
    )

    def real(x: bool, y: bool) -> int:
        seen = 0
        for i in range(4):
            if i == 1 and x:
                continue
            if i == 2 and y:
                break
            seen = seen * 10 + i
        else:
            seen = -seen
        return seen

    for x in (True, False):
        for y in (True, False):
            assert pick(value, x=x, y=y) == real(x, y)


def test_while_goes_on_under_an_unknown_condition() -> None:
    value, _ = call(
        """
        def f(x):
            n = 0
            while n < 3:
                n += 1
                if x == n:
                    break
            return n
        """,
        "x",
    )
    assert [pick(value, x=item) for item in (1, 2, 3, 7)] == [1, 2, 3, 3]


def test_equality_with_constants_is_reasoned_about() -> None:
    value, _machine = call(
        """
        def f(x):
            out = []
            if x == "a":
                return (x == "b", x in ("a", "c"), x in ("b",), x != "a", x is None, not x)
            if x in ("b", "c"):
                if x == "b":
                    return "b"
                return x == "c"
            return x == "b"
        """,
        "x",
    )
    assert pick(value, x="a") == (False, True, False, False, False, False)
    assert pick(value, x="b") == "b"
    assert pick(value, x="c") is True
    assert pick(value, x="d") is False


def test_numbers_that_are_equal_are_not_told_apart() -> None:
    value, _ = call("def f(x):\n    if x == 1:\n        return x == True\n    return 0\n", "x")
    assert pick(value, x=1) is True
    assert pick(value, x=2) == 0


def test_equality_with_another_unknown_says_nothing_about_constants() -> None:
    value, _ = call(
        "def f(x, y):\n    if x == y:\n        return 1 if x == 'a' else 2\n    return 3\n",
        "x",
        "y",
    )
    assert pick(value, x="a", y="a") == 1
    assert pick(value, x="b", y="b") == 2
    assert pick(value, x="a", y="b") == 3


def test_membership_in_a_text_is_not_membership_in_its_letters() -> None:
    value, _ = call(
        "def f(x):\n    if x in 'gfx942':\n        return x == 'gfx'\n    return None\n", "x"
    )
    assert pick(value, x="gfx") is True
    assert pick(value, x="9") is False
    assert pick(value, x="no") is None


def test_quantifiers() -> None:
    source = """
    def f(x, y):
        return any([False, x, y]), all(v for v in (x, y, True)), any([x, True]), all([])
    """
    value, _machine = call(source, "x", "y")
    some, every, certain, empty = value
    assert (certain, empty) == (True, True)
    assert isinstance(some, Unknown)
    assert isinstance(every, Unknown)
    branch, _ = call(
        "def f(x, y):\n    if any([x, y]):\n        return 1 if x else 2\n    return 3\n", "x", "y"
    )
    for x in (True, False):
        for y in (True, False):
            assert pick(branch, x=x, y=y) == (1 if x else 2 if y else 3)


def test_membership_in_several_unknowns_asks_about_each() -> None:
    value, _ = call("def f(x, y):\n    return 1 if 'a' in [x, y] else 2\n", "x", "y")
    for x in "ab":
        for y in "ab":
            assert pick(value, x=x, y=y) == (1 if "a" in (x, y) else 2)


def test_boolean_operators_keep_operands() -> None:
    value, _ = call(
        "def f(x):\n"
        "    return (x == 1 and 'one' or 'other', x == 1 or 5, not (x == 1 and x == 2))\n",
        "x",
    )
    assert pick(value, x=1) == ("one", True, True)
    assert pick(value, x=2) == ("other", 5, True)


def test_an_error_of_one_case_is_an_error_under_its_condition() -> None:
    value, machine = call(
        """
        def f(x):
            n = 0 if x else 2
            return 10 // n
        """,
        "x",
    )
    assert value == 5
    (refusal,) = machine.refusals
    assert refusal.raised.value.cls.name == "ZeroDivisionError"
    assert holds(refusal.cube, {"x": True})


@pytest.mark.parametrize(
    ("expression", "when_true", "when_false"),
    [
        ("n + 1", 2, 3),
        ("-n", -1, -2),
        ("n * 'ab'", "ab", "abab"),
        ("str(n) + '!'", "1!", "2!"),
        ("f'{n:>3}'", "  1", "  2"),
        ("'%d' % n", None, None),
        ("[10, 20, 30][n]", 20, 30),
        ("{1: 'a', 2: 'b'}[n]", "a", "b"),
        ("{1: 'a'}.get(n, 'none')", "a", "none"),
        ("n in (1, 5)", True, False),
        ("n < 2", True, False),
        ("1 < n < 3", False, True),
        ("isinstance(n, int)", True, True),
        ("max(n, 1)", 1, 2),
        ("list(range(n))", [0], [0, 1]),
        ("len('x' * n)", 1, 2),
        ("getattr(box, 'a' if n == 1 else 'b')", "A", "B"),
        ("[box, None][n - 1] is None", False, True),
        ("(lambda v: v * 2)(n)", 2, 4),
        ("[i * n for i in (1, 2)]", [1, 2], [2, 4]),
        ("'a b'.split()[n - 1]", "a", "b"),
        ("int(str(n))", 1, 2),
        ("', '.join(['z', str(n)])", "z, 1", "z, 2"),
        ("n == 1 and 'yes' or 'no'", "yes", "no"),
    ],
)
def test_operations_on_cases(expression: str, when_true: Any, when_false: Any) -> None:
    value, _ = call(
        f"""
        class Box:
            a = "A"
            b = "B"

        box = Box()

        def f(x):
            n = 1 if x else 2
            return {expression}
        """,
        "x",
    )
    if when_true is None:
        assert isinstance(value, Unknown)
        return
    assert (pick(value, x=True), pick(value, x=False)) == (when_true, when_false)


def test_methods_on_cases_change_the_right_object() -> None:
    value, _ = call(
        """
        class Box:
            def __init__(self):
                self.v = 0
            def put(self, v):
                self.v = v

        def f(x):
            one, two = Box(), Box()
            one.w = two.w = 0
            target = one if x else two
            target.put(5)
            target.w = 6
            table, other = {"k": 0}, {"k": 0}
            (table if x else other)["k"] = 1
            return one.v, two.v, table["k"], other["k"], target.v, target.w
        """,
        "x",
    )
    assert pick(value, x=True) == (5, 0, 1, 0, 5, 6)
    assert pick(value, x=False) == (0, 5, 0, 1, 5, 6)


def test_in_place_addition_of_an_unknown_does_not_leave_a_stale_list() -> None:
    with pytest.raises(Undecidable):
        call("def f(x):\n    a = b = [1]\n    a += x\n    return len(b)\n", "x")


def test_walrus_inside_an_unknown_expression() -> None:
    value, _ = call("def f(x):\n    y = 0\n    z = (y := 1) if x else 2\n    return y, z\n", "x")
    assert pick(value, x=True) == (1, 1)
    assert pick(value, x=False) == (0, 2)


def test_an_iterator_is_not_shared_between_arms() -> None:
    source = """
    def f(x):
        it = iter([1, 2, 3])
        first = next(it) if x else next(it) + 10
        return first
    """
    with pytest.raises(Undecidable):
        call(source, "x")
    value, _ = call("def f(x):\n    return next(i for i in (1, 2)) if x else 3\n", "x")
    assert (pick(value, x=True), pick(value, x=False)) == (1, 3)


@pytest.mark.parametrize(
    "statement",
    [
        "d[x] = 1",
        "{x: 1}",
        "{x}",
        "del d[x]",
        "s.add(x)",
        "for i in x: total.append(i)",
        "while x: pass",
        "a, *b = x",
        "[i for i in x]",
        "g(*x)",
        "g(**x)",
        "raise x",
        "sorted([x, 1]).sort()",
        "l.sort()",
        "'ab'[x:]",
        "setattr(box, x, 1)",
    ],
)
def test_what_cannot_be_told_is_undecidable_or_unknown(statement: str) -> None:
    source = f"""
    class Box:
        pass

    box = Box()
    total = []

    def g(*a, **k):
        return a

    def f(x):
        d, s, l = {{1: 2}}, {{1}}, [x, 1]
        {statement}
        return "went on"
    """
    try:
        value, _ = call(source, "x")
    except Undecidable:
        return
    # These only make another unknown.
    assert statement in ("sorted([x, 1]).sort()", "[i for i in x]")
    assert value == "went on"


def test_a_loop_over_unknown_items_knows_nothing_of_earlier_rounds() -> None:
    value, machine = call(
        """
        def f(x):
            n = 0
            for item in x:
                n += 1
                if n > 3:
                    raise ValueError("many")
            else:
                done = True
            return n, done
        """,
        "x",
    )
    count, done = value
    assert isinstance(count, Unknown)
    assert done is True
    assert [machine.as_text(item.raised.value) for item in machine.refusals] == ["many"]


@pytest.mark.parametrize("statement", ["break", "return 1", "total.append(i)", "box.v = i"])
def test_a_loop_over_unknown_items_may_not_leave_or_change_anything(statement: str) -> None:
    source = f"""
    class Box:
        v = 0

    total, box = [], Box()

    def f(x):
        for i in x:
            {statement}
        return 2
    """
    with pytest.raises(Undecidable):
        call(source, "x")


def test_unknown_arguments_reach_functions_and_natives() -> None:
    value, _ = call(
        """
        def g(v, *rest, k=None, **named):
            return "set" if v else "unset", k, rest, named

        def f(x):
            return g(x, x, k=x, z=1), x.lower(), abs(x), len(x), str(x)
        """,
        "x",
    )
    (text, key, rest, named), *others = value
    assert pick(text, x=True) == "set"
    assert key is rest[0]
    assert named == {"z": 1}
    assert all(isinstance(item, Unknown) for item in others)


def test_the_same_question_has_one_answer() -> None:
    value, _ = call(
        """
        def f(x):
            one = x.lower().startswith("a")
            two = x.lower().startswith("a")
            if one:
                return "yes" if two else "odd"
            return "odd" if two else "no"
        """,
        "x",
    )
    assert {item for _, item in value.cases} == {"yes", "no"}


def test_text_of_an_unknown_part_is_not_known() -> None:
    value, _ = call("def f(x):\n    return str([x]), repr({'a': x}), f'{(x,)}', '%s' % [x]\n", "x")
    assert all(isinstance(item, Unknown) for item in value)


def test_records_with_unknown_fields_compare_field_by_field() -> None:
    value, _ = call(
        """
        from dataclasses import dataclass

        @dataclass
        class A:
            p: object
            q: object

        def f(x):
            if A(x, 1) == A("a", 2):
                return "equal"
            return "equal" if A(x, 1) == A("a", 1) else "differ"
        """,
        "x",
    )
    assert pick(value, x="a") == "equal"
    assert pick(value, x="b") == "differ"


def test_cached_results_of_one_arm_do_not_leak_into_the_other() -> None:
    value, _ = call(
        """
        from functools import lru_cache

        state = {"v": 0}

        @lru_cache
        def read():
            return state["v"]

        def f(x):
            if x:
                state["v"] = 1
                got = read()
            else:
                got = read()
            return got
        """,
        "x",
    )
    assert (pick(value, x=True), pick(value, x=False)) == (1, 0)


def launches(session: Session, name: str, *args: Any) -> Any:
    """One launch."""
    with session.launch() as machine:
        return machine.call(session.get("pkg.m", name), list(args), {})


JOURNAL = """
import os
from functools import lru_cache

class Meta(type):
    pass

class A(metaclass=Meta):
    shared = 1
    items = []

class B(A):
    pass

a = A()
table = {"k": 1}
listed = [1]
group = {1}
count = 0
text = "start"

@lru_cache
def cached():
    return count

def make_counter():
    n = 0
    def up():
        nonlocal n
        n += 1
        return n
    return up

up = make_counter()

def run():
    global count, text, late
    count += 1
    text += "!"
    late = 1
    table["k"] += 1
    table["new"] = 1
    listed.append(2)
    group.add(2)
    a.x = getattr(a, "x", 0) + 1
    A.shared += 1
    A.items.append(1)
    setattr(B, "own", 1)
    os.environ["PKG_X"] = os.environ.get("PKG_X", "") + "x"
    import pkg.late as module
    module.value += 1
    del table["k"]
    class C(A):
        pass
    return (
        count, text, cached(), dict(table), list(listed), sorted(group), a.x, A.shared, B.shared,
        list(A.items), B.own, os.environ["PKG_X"], up(), module.value,
        [c.__name__ for c in A.__subclasses__()],
    )
"""


def test_nothing_written_in_a_launch_survives() -> None:
    session = session_for({"pkg/m.py": JOURNAL, "pkg/late.py": "value = 10\n"})
    first = launches(session, "run")
    again = launches(session, "run")
    assert first == again
    assert first[0] == 1
    assert first[13] == 11
    module = session.imports.load("pkg.m")
    assert "late" not in module.ns


def test_a_launch_that_fails_is_undone_too() -> None:
    source = (
        "state = []\ndef run(x):\n    state.append(x)\n    if len(state) > 1:\n"
        "        raise ValueError\n"
    )
    session = session_for({"pkg/m.py": source})
    launches(session, "run", 1)
    with pytest.raises(Undecidable):
        _undecided(session)
    launches(session, "run", 1)
    assert session.machine.handlers == 0


def _undecided(session: Session) -> None:
    with session.launch() as machine:
        machine.call(session.get("pkg.m", "run"), [1], {})
        machine.truth(unknown("x"))


def test_a_class_changed_in_one_arm_reads_right_in_the_other() -> None:
    value, _ = call(
        """
        class A:
            v = 0

        def f(x):
            if x:
                A.v = 1
                got = A().v
            else:
                got = A().v
            return got, A.v
        """,
        "x",
    )
    assert pick(value, x=True) == (1, 1)
    assert pick(value, x=False) == (0, 0)


@pytest.mark.parametrize(
    "body",
    [
        "    return f(x)",
        "    while True:\n        pass",
        "    for i in range(10 ** 12):\n        pass",
        "    return [i for i in range(10 ** 12)]",
        "    return sum(i for i in range(10 ** 12))",
        "    return list(range(10 ** 10))",
        "    return 10 ** 10 ** 10",
        "    return 1 << 10 ** 9",
        "    return 'a' * 10 ** 10",
        "    return [0] * 10 ** 10",
        "    s = 'ab'\n    while True:\n        s += s",
        "    s = [1]\n    while True:\n        s += s",
        "    s = [1]\n    while True:\n        s.extend(s)",
        "    return f'{1:>1000000000}'",
        "    return '%1000000000d' % 1",
        "    return 'a'.ljust(10 ** 10)",
        "    n = 3\n    while True:\n        n = n * n",
        "    return pow(3, 10 ** 8)",
        "    import math\n    return math.factorial(10 ** 7)",
        "    import itertools\n    return list(itertools.count())",
        "    return list(iter(int, 1))",
        "    return max(i for i in iter(int, 1))",
        "    return list(zip(*[range(10 ** 9)] * 3))",
        "    return {i for i in range(10 ** 9)}",
        "    return bytes(10 ** 12)",
        "    import itertools\n    return len(list(itertools.product(range(100), repeat=8)))",
        "    return (lambda g: g(g))(lambda g: g(g))",
    ],
)
def test_endless_work_ends_in_undecidable(body: str) -> None:
    session, _ = module_namespace(f"def f(x):\n{body}\n")
    session.machine.step_budget = 200_000
    with session.launch() as machine, pytest.raises((Undecidable, Raised)) as stop:
        machine.call(session.get("pkg.m", "f"), [1], {})
    if stop.type is Raised:
        assert stop.value.value.cls.name in ("MemoryError", "OverflowError")


RECURSIVE = """
class Attr:
    def __getattr__(self, name):
        return getattr(self, name + "x")

class Eq:
    def __eq__(self, other):
        return self == other

class Repr:
    def __repr__(self):
        return repr(self)

class Iter:
    def __iter__(self):
        return iter(self)

class Prop:
    @property
    def p(self):
        return self.p

class Call:
    def __call__(self):
        return self()

class Order:
    def __lt__(self, other):
        return sorted([self, other])

class Bool:
    def __bool__(self):
        return bool(self)

class Hash:
    def __hash__(self):
        return hash(self)

class New:
    def __new__(cls):
        return cls()

def generator():
    yield from generator()

def mapped():
    return list(map(lambda i: mapped(), [1]))

def keyed():
    return sorted([2, 1], key=lambda i: keyed())

def nested():
    x = []
    for _ in range(100_000):
        x = [x]
    return str(x)

def copied():
    import copy
    x = []
    for _ in range(20_000):
        x = [x]
    return copy.deepcopy(x)

def compared():
    x, y = [], []
    for _ in range(50_000):
        x, y = [x], [y]
    return x == y

def parsed():
    import json
    return json.loads("[" * 50_000)

def dumped():
    import json
    x = []
    for _ in range(5_000):
        x = [x]
    return json.dumps(x)

def cycle():
    x = []
    x.append(x)
    return str(x)

def keys():
    x = ()
    for _ in range(5_000):
        x = (x,)
    return {x: 1}
"""


@pytest.mark.parametrize(
    "expression",
    [
        "Attr().y",
        "Eq() == 1",
        "repr(Repr())",
        "str([Repr()])",
        "list(Iter())",
        "Prop().p",
        "Call()()",
        "Order() < Order()",
        "bool(Bool())",
        "{Hash(): 1}",
        "New()",
        "list(generator())",
        "mapped()",
        "keyed()",
        "nested()",
        "copied()",
        "compared()",
        "parsed()",
        "dumped()",
        "cycle()",
        "keys()",
    ],
)
def test_endless_recursion_ends_in_undecidable_or_an_exception(expression: str) -> None:
    session, _ = module_namespace(RECURSIVE + f"\ndef f():\n    return {expression}\n")
    with session.launch() as machine:
        try:
            machine.call(session.get("pkg.m", "f"), [], {})
        except (Undecidable, Raised):
            pass
        else:
            assert expression in ("compared()", "keys()", "copied()")


def test_deep_source_is_no_crash() -> None:
    for text in (
        "x = " + "(" * 5_000 + ")" * 5_000,
        "x = " + "1 + " * 20_000 + "1",
        "x = " + "not " * 20_000 + "1",
        "x = " + "[" * 150 + "]" * 150,
        "x = a" + ".b" * 20_000,
        "if a:\n    x = 1\n" + "elif a:\n    x = 1\n" * 5_000,
        "x = " + "lambda: " * 1_000 + "1",
    ):
        session = session_for({"pkg/m.py": text + "\ny = 1\n"})
        try:
            session.imports.load("pkg.m")
        except Raised as raised:
            assert raised.value.cls.name == "SyntaxError"
            assert session.program.diagnostics


def test_too_many_cases_end_in_a_budget() -> None:
    many = [
        "def f(*xs):",
        "    items = 0",
        "    for x in xs:",
        "        items = items * 2 + (1 if x else 0)",
    ]
    many.append("    return items")
    session, _ = module_namespace("\n".join(many) + "\n")
    with session.launch() as machine:
        try:
            value = machine.call(
                session.get("pkg.m", "f"), [unknown(f"x{i}") for i in range(30)], {}
            )
        except BudgetReachedError:
            return
        assert isinstance(value, Unknown)
        assert not isinstance(value, Cases)


def test_splits_without_end_reach_the_branch_budget() -> None:
    source = """
    def f(*xs):
        items = []
        for x in xs:
            if x:
                items.append(x)
        return len(items)
    """
    with pytest.raises(Undecidable):
        call(source, *(f"x{i}" for i in range(40)))
