"""Laws of guards: Kleene logic, De Morgan, and what making a guard smaller must not change."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from sgl_audit.model.guard import (
    ALWAYS,
    NEVER,
    And,
    Atom,
    AtomKind,
    Guard,
    Not,
    Or,
    all_of,
    any_of,
    atoms,
    holds_on,
    negate,
    text_of,
)
from sgl_audit.model.reduce import implied, membership, on_capability, reduced, size

NAMES = ("sm90", "sm100", "sm120")
GATES = (
    Atom(AtomKind.GATE, "is_sm100()", frozenset({"sm100"})),
    Atom(AtomKind.GATE, "is_blackwell()", frozenset({"sm100", "sm120"})),
    Atom(AtomKind.GATE, "is_strange()", None),
)
# Tests of one subject that exclude and imply each other, and one that has nothing to do with them.
TESTS = tuple(
    Atom(AtomKind.MODEL, text)
    for text in (
        "arch == 'a'",
        "arch == 'b'",
        "arch in ['a', 'b']",
        "arch in ('b', 'c')",
        "arch is None",
        "quantized",
    )
)
WORLDS = tuple((arch, quantized) for arch in ("a", "b", "c", None) for quantized in (True, False))


def _guards() -> st.SearchStrategy[Guard]:
    leaves: st.SearchStrategy[Guard] = st.sampled_from((*GATES, *TESTS, ALWAYS, NEVER))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            inner.map(Not),
            st.lists(inner, max_size=4).map(lambda parts: And(tuple(parts))),
            st.lists(inner, max_size=4).map(lambda parts: Or(tuple(parts))),
        ),
        max_leaves=12,
    )


def _truth(atom: Atom, world: tuple[str | None, bool]) -> bool:
    arch, quantized = world
    return bool(eval(atom.text, {"arch": arch, "quantized": quantized}))  # our own six texts


def _holds(guard: Guard, name: str, world: tuple[str | None, bool], strange: bool) -> bool:
    """The guard in ordinary logic, in one world with everything known."""
    match guard:
        case Atom(kind=AtomKind.GATE, capabilities=names):
            return strange if names is None else name in names
        case Atom():
            return _truth(guard, world)
        case Not(part):
            return not _holds(part, name, world, strange)
        case And(parts):
            return all(_holds(part, name, world, strange) for part in parts)
        case Or(parts):
            return any(_holds(part, name, world, strange) for part in parts)


@given(_guards(), st.sampled_from(NAMES))
def test_a_negation_negates_and_a_double_one_is_the_guard(guard: Guard, name: str) -> None:
    value = holds_on(guard, name)
    assert holds_on(negate(guard), name) is (None if value is None else not value)
    assert holds_on(negate(negate(guard)), name) is value


@given(_guards(), _guards(), st.sampled_from(NAMES))
def test_de_morgan(first: Guard, second: Guard, name: str) -> None:
    assert holds_on(negate(And((first, second))), name) is holds_on(
        Or((negate(first), negate(second))), name
    )
    assert holds_on(negate(Or((first, second))), name) is holds_on(
        And((negate(first), negate(second))), name
    )


@given(st.lists(_guards(), max_size=4), st.sampled_from(NAMES))
def test_joining_never_contradicts_the_parts(parts: list[Guard], name: str) -> None:
    values = [holds_on(part, name) for part in parts]
    joined = holds_on(all_of(*parts), name)
    if False in values:
        assert joined is False
    elif None in values:
        # Joining may see that two unknown parts exclude each other.
        assert joined in (None, False)
    if values and None not in values:
        assert joined is all(values)
        assert holds_on(any_of(*parts), name) is any(values)


@given(_guards(), st.sampled_from(NAMES), st.sampled_from(WORLDS), st.booleans())
@settings(max_examples=400)
def test_a_smaller_guard_says_the_same(
    guard: Guard, name: str, world: tuple[str | None, bool], strange: bool
) -> None:
    expected = _holds(guard, name, world, strange)
    assert _holds(reduced(guard), name, world, strange) is expected
    there = on_capability(guard, name)
    assert _holds(reduced(there), name, world, strange) is expected
    assert all(atom.capabilities is None for atom in atoms(there))


@given(_guards())
def test_reducing_does_not_grow(guard: Guard) -> None:
    assert size(reduced(guard)) <= size(guard)


@given(_guards(), st.sampled_from(NAMES))
def test_kleene_value_is_right_wherever_it_is_known(guard: Guard, name: str) -> None:
    value = holds_on(guard, name)
    if value is not None:
        found = {
            _holds(guard, name, world, strange) for world in WORLDS for strange in (True, False)
        }
        assert found == {value}


def test_one_thing_equals_one_constant_only() -> None:
    is_a, is_b, among = TESTS[0], TESTS[1], TESTS[2]
    assert reduced(And((is_a, is_b))) == NEVER
    assert reduced(And((is_a, Not(is_b)))) == is_a
    assert reduced(And((is_a, among))) == is_a
    assert reduced(Or((And((is_a, TESTS[5])), TESTS[5]))) == TESTS[5]
    assert reduced(Or((And((is_a, Not(TESTS[5]))), TESTS[5], Not(is_a)))) == ALWAYS


def test_true_and_one_are_two_constants() -> None:
    one, true = Atom(AtomKind.OPTION, "x == 1"), Atom(AtomKind.OPTION, "x == True")
    assert implied(one, (true,)) is False


def test_what_is_no_membership_is_left_alone() -> None:
    assert membership("'a' in names") is None
    assert membership("arch == other") is None
    assert membership("no python at all !") is None
    assert membership("arch in ['a', name]") is None


def test_text_of_a_guard() -> None:
    guard = And((TESTS[0], Or((TESTS[5], Not(GATES[0])))))
    assert text_of(guard) == "arch == 'a' and (quantized or not is_sm100())"
    assert text_of(ALWAYS) == "always"
    assert text_of(NEVER) == "never"
