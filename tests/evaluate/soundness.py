"""Small programs over unknown inputs, and how an answer about unknowns is checked against facts."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from sgl_audit.evaluate.values import Cases, Unknown

DOMAINS: dict[str, tuple[Any, ...]] = {
    "a": (True, False),
    "b": (True, False),
    "s": ("x", "y", "z", ""),
    "n": (None, 0, 1, 2),
}
VARIABLES = ("u", "v", "w")
SIGNS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
}

constants = st.sampled_from(["0", "1", "2", "None", "True", "False", "'x'", "'y'", "''"])
inputs = st.sampled_from(tuple(DOMAINS))
names = st.sampled_from((*VARIABLES, *DOMAINS))
plain_tests = st.one_of(
    st.sampled_from(["a", "b", "not a", "not b", "s", "n"]),
    st.builds("s == '{}'".format, st.sampled_from("xyzq")),
    st.builds("s != '{}'".format, st.sampled_from("xyz")),
    st.builds("'{}' == s".format, st.sampled_from("xy")),
    st.builds(
        "s in {}".format, st.sampled_from(["('x', 'y')", "['z']", "{'x', 'z'}", "'xy'", "()"])
    ),
    st.builds("s not in {}".format, st.sampled_from(["('x', 'y')", "{'y': 1}"])),
    st.sampled_from(["n is None", "n is not None", "n == 1", "n in (0, 1)", "n != 2", "n == True"]),
    st.builds("{} == {}".format, names, constants),
    st.builds("{} is {}".format, names, st.sampled_from(["None", "True", "False"])),
    st.builds("{} == {}".format, names, names),
    st.builds("{} in [{}, {}]".format, names, names, constants),
    st.builds("{}".format, names),
    st.builds("any([{}, {}])".format, names, names),
    st.builds("all({} == i for i in ({}, {}))".format, names, names, constants),
)
tests = st.recursive(
    plain_tests,
    lambda inner: st.one_of(
        st.builds("({}) and ({})".format, inner, inner),
        st.builds("({}) or ({})".format, inner, inner),
        st.builds("not ({})".format, inner),
    ),
    max_leaves=3,
)
expressions = st.recursive(
    st.one_of(constants, names),
    lambda inner: st.one_of(
        st.builds("({} if {} else {})".format, inner, tests, inner),
        st.builds("({} or {})".format, inner, inner),
        st.builds("({} and {})".format, inner, inner),
        st.builds("({}, {})".format, inner, inner),
        st.builds("helper({})".format, inner),
        st.builds("f'<{{{}}}>'".format, names),
        st.builds("pick({}, {})".format, inner, inner),
        st.builds("d.get({}, {})".format, constants, inner),
        st.builds("(u := {})".format, inner),
    ),
    max_leaves=4,
)
simple = st.one_of(
    st.builds("{} = {}".format, st.sampled_from(VARIABLES), expressions),
    st.builds("u, v = {}, {}".format, expressions, expressions),
    st.builds("d['k'] = {}".format, expressions),
    st.builds("o.p = {}".format, expressions),
    st.builds("items.append({})".format, expressions),
    st.builds("items[0] = {}".format, expressions),
    st.builds("w = bump({})".format, expressions),
    st.builds("d.setdefault('m', {})".format, expressions),
    st.builds("helper({})".format, expressions),
    st.just("o.q.append(len(items))"),
    st.builds("(d if {} else e)['k'] = {}".format, tests, expressions),
    st.builds("alias = items if {} else more".format, tests),
    st.builds("alias[0] = {}".format, expressions),
    st.builds("alias = [{}] if {} else [{}]".format, expressions, tests, expressions),
    st.builds("o = o if {} else Box()".format, tests),
    st.builds("Box.count = {}".format, expressions),
    st.builds("u = o.count if {} else Box.count".format, tests),
    st.just("pass"),
)
exits = st.one_of(
    st.builds("return {}".format, expressions),
    st.builds("raise ValueError({})".format, st.integers(0, 9)),
    st.builds("assert {}, {}".format, tests, st.integers(0, 9)),
)


def indented(lines: list[str]) -> list[str]:
    """One level deeper."""
    return ["    " + line for line in lines]


@st.composite
def blocks(draw: Any, depth: int, in_loop: bool = False) -> list[str]:
    """A few statements."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        kinds = ["simple", "simple", "exit"]
        if depth:
            kinds += ["if", "if", "if", "for", "try", "while"]
        if in_loop:
            kinds += ["break", "continue"]
        kind = draw(st.sampled_from(kinds))
        if kind == "simple":
            lines.append(draw(simple))
        elif kind == "exit":
            lines.append(draw(exits))
        elif kind in ("break", "continue"):
            lines.append(kind)
        elif kind == "if":
            lines += draw(conditionals(depth - 1, in_loop))
        elif kind == "for":
            lines.append(
                f"for i in {draw(st.sampled_from(['range(2)', 'items[:2]', '(1, 2, 3)']))}:"
            )
            lines += indented(draw(blocks(depth - 1, True)))
            if draw(st.booleans()):
                lines += ["else:", *indented(draw(blocks(0, in_loop)))]
        elif kind == "while":
            lines += [f"k{depth} = 0", f"while k{depth} < 2:", f"    k{depth} += 1"]
            lines += indented(draw(blocks(depth - 1, True)))
        else:
            lines += draw(attempts(depth - 1, in_loop))
    return lines


@st.composite
def conditionals(draw: Any, depth: int, in_loop: bool) -> list[str]:
    """An `if` with or without other arms."""
    lines = [f"if {draw(tests)}:", *indented(draw(blocks(depth, in_loop)))]
    if draw(st.booleans()):
        lines += [f"elif {draw(tests)}:", *indented(draw(blocks(depth, in_loop)))]
    if draw(st.booleans()):
        lines += ["else:", *indented(draw(blocks(depth, in_loop)))]
    return lines


@st.composite
def attempts(draw: Any, depth: int, in_loop: bool) -> list[str]:
    """A `try` of some form."""
    lines = ["try:", *indented(draw(blocks(depth, in_loop)))]
    kind = draw(st.sampled_from(["except", "finally", "both", "reraise", "convert"]))
    if kind in ("except", "both"):
        lines += ["except ValueError:", *indented(draw(blocks(0, in_loop)))]
        if draw(st.booleans()):
            lines += ["else:", *indented(draw(blocks(0, in_loop)))]
    if kind == "reraise":
        lines += ["except ValueError:", "    v = 7", "    raise"]
    if kind == "convert":
        lines += ["except ValueError as error:", "    raise KeyError('converted') from error"]
    if kind in ("finally", "both"):
        lines += ["finally:", "    w = 'final'"]
    return lines


PRELUDE = """
class Box:
    count = 0

    def __init__(self):
        self.p = 0
        self.q = []


def helper(x):
    if x:
        return x
    return "empty"


def pick(x, y):
    for item in (x, y):
        if item is None:
            continue
        return item


total = 0


def bump(x):
    global total
    if x == 1:
        total += 1
    return total


"""


@st.composite
def programs(draw: Any) -> str:
    """The source of a module with `run(a, b, s, n)`."""
    body = ["u = v = w = 0", "d = {'k': 0}", "o = Box()", "items = [5]"]
    body += ["e = {'k': 0}", "more = [5]", "alias = more"]
    body += draw(blocks(2))
    body.append("return u, v, w, d, e, o.p, o.q, items, more, alias, total, Box.count")
    return PRELUDE + "def run(a, b, s, n):\n" + "\n".join(indented(body)) + "\n"


def environments() -> Iterator[dict[str, Any]]:
    """Every combination of inputs."""
    for values in itertools.product(*DOMAINS.values()):
        yield dict(zip(DOMAINS, values, strict=True))


class CannotAskError(Exception):
    """A question that the checker does not understand."""


def fact(key: Any, facts: dict[str, Any]) -> Any:
    """The value that a key stands for, given the inputs."""
    match key:
        case (name,) if name in facts:
            return facts[name]
        case ("str" | "int" | "float" | "bool" | "NoneType", value):
            return value
        case ("==" | "<" | "<=" | ">" | ">=" as sign, other, base):
            return SIGNS[sign](fact(base, facts), fact(other, facts))
        case ("in", listed, base):
            return fact(base, facts) in [fact(item, facts) for item in listed]
        case ("within", text, base):
            return fact(base, facts) in eval(text)
        case ("is", other, base):
            one, two = fact(base, facts), fact(other, facts)
            return one is two or (type(one) is type(two) and one == two)
        case ("not", inner):
            return not fact(inner, facts)
        case ("any", *parts):
            return any(fact(part, facts) for part in parts)
        case ("all", *parts):
            return all(fact(part, facts) for part in parts)
        case ("tuple", *parts):
            return tuple(fact(part, facts) for part in parts)
    raise CannotAskError(repr(key))


def holds(cube: Any, facts: dict[str, Any]) -> bool:
    """Whether a condition holds for the inputs."""
    return all(bool(fact(key, facts)) is truth for key, truth in cube)


def agrees(answer: Any, real: Any, facts: dict[str, Any]) -> bool:
    """Whether an answer about unknown inputs fits what really comes out for some inputs."""
    if isinstance(answer, Cases):
        live = [value for cube, value in answer.cases if holds(cube, facts)]
        return len(live) == 1 and agrees(live[0], real, facts)
    if isinstance(answer, Unknown):
        try:
            known = fact(answer.key, facts)
        except CannotAskError:
            return True
        return same(known, real)
    if isinstance(answer, (tuple, list)):
        return (
            type(answer) is type(real)
            and len(answer) == len(real)
            and all(agrees(x, y, facts) for x, y in zip(answer, real, strict=True))
        )
    if isinstance(answer, dict):
        return list(answer) == list(real) and all(agrees(answer[k], real[k], facts) for k in answer)
    return same(answer, real)


def same(one: Any, other: Any) -> bool:
    """Equal and of the same type."""
    return type(one) is type(other) and one == other
