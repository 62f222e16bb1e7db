"""Random expressions give what CPython gives, exceptions and their texts included."""

from __future__ import annotations

import ast
import warnings
from functools import cache
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sgl_audit.evaluate.expressions import lower_expression
from sgl_audit.evaluate.lowering import Lowering
from sgl_audit.evaluate.scopes import GLOBALS, PARENT, Scope
from sgl_audit.evaluate.session import Session
from sgl_audit.evaluate.values import Raised, Undecidable

from .trees import plain, session_for

numbers = st.one_of(
    st.integers(-30, 30).map("({})".format),
    st.sampled_from(["0.5", "(-1.5)", "2.0", "1e3", "True", "False", "(10**12)", 'float("inf")']),
)
texts = st.sampled_from(["''", "'a'", "'ab'", "'Hello'", "'10'", "' x '", "'%s'", "'é'"])
lists = st.lists(numbers, max_size=4).map(lambda items: f"[{', '.join(items)}]")
tuples = st.lists(numbers, max_size=3).map(lambda items: f"({''.join(i + ', ' for i in items)})")
dicts = st.sampled_from(["{}", "{'a': 1}", "{1: 'x', 'b': [2]}"])
sets = st.sampled_from(["set()", "{1, 2}", "{2, 3.0}", "frozenset({1})"])
others = st.sampled_from(["None", "range(4)", "b'ab'", "(1, 'x')"])
atoms = st.one_of(numbers, numbers, texts, lists, tuples, dicts, sets, others)
binary = st.sampled_from(["+", "-", "*", "/", "//", "%", "&", "|", "^", ">>"])
compared = st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in", "not in"])
index = st.one_of(st.none(), st.integers(-6, 6)).map(lambda n: "" if n is None else str(n))
specs = st.builds(
    "{}{}{}{}{}{}{}".format,
    st.sampled_from(["", "*<", "<", ">", "^", "="]),
    st.sampled_from(["", "+", "-", " "]),
    st.sampled_from(["", "#"]),
    st.sampled_from(["", "0"]),
    st.sampled_from(["", "1", "5", "12"]),
    st.sampled_from(["", ",", "_", ".2", ".0"]),
    st.sampled_from(["", "d", "f", "g", "e", "x", "b", "s", "%", "n", "z"]),
)
functions = st.sampled_from(
    "len str repr int float bool list tuple sorted sum min max abs any all dict round bytes".split()
)


def nest(inner: Any) -> Any:
    """One more level of expression."""
    return st.one_of(
        st.builds("({} {} {})".format, inner, binary, inner),
        st.builds("({} {} {})".format, inner, compared, inner),
        st.builds("({} {} {} {} {})".format, inner, compared, inner, compared, inner),
        st.builds("({} and {})".format, inner, inner),
        st.builds("({} or {})".format, inner, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("(not {})".format, inner),
        st.builds("(-{})".format, inner),
        st.builds("(~{})".format, inner),
        st.builds("{}[{}:{}]".format, inner, index, index),
        st.builds("{}[{}:{}:{}]".format, inner, index, index, index),
        st.builds("{}[{}]".format, inner, inner),
        st.builds("format({}, '{}')".format, inner, specs),
        st.builds("f'{{{}:>{}}}'".format, numbers, st.integers(0, 9)),
        st.builds("'%s|%r' % ({}, {})".format, inner, inner),
        st.builds("'{{}}-{{!r:>4}}'.format({}, {})".format, inner, inner),
        st.builds("{}({})".format, functions, inner),
        st.builds("[x for x in {} if x]".format, inner),
        st.builds("{{x: {} for x in {}}}".format, inner, inner),
        st.builds("[*{}, {}]".format, inner, inner),
        st.builds("[(a, b) for a, b in zip({}, {})]".format, inner, inner),
        st.builds("(lambda x, *y: (x, y))({}, *{})".format, inner, inner),
        st.builds("{}.split({})".format, inner, inner),
        st.builds("{}.get({}, {})".format, inner, inner, inner),
        st.builds("{}.join({})".format, texts, inner),
        st.builds("{}.index({})".format, inner, inner),
        st.builds("divmod({}, {})".format, inner, inner),
        st.builds("pow({}, {})".format, inner, st.integers(-3, 6)),
    )


expressions = st.recursive(atoms, nest, max_leaves=6)


@cache
def _session() -> Session:
    return session_for({"pkg/m.py": ""})


def interpreted(source: str) -> Any:
    """What the interpreter gives."""
    session = _session()
    with session.launch() as machine:
        lowering = Lowering(machine, "pkg.m", "pkg/m.py")
        scope = Scope("module", None, set(), "")
        run = lower_expression(lowering, ast.parse(source, mode="eval").body, scope)
        try:
            return plain(run({GLOBALS: {"__name__": "pkg.m"}, PARENT: None}))
        except Raised as raised:
            return ("raises", raised.value.cls.name, machine.as_text(raised.value))


def real(source: str) -> Any:
    """What CPython gives."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return plain(eval(compile(source, "expression", "eval", dont_inherit=True), {}))
    except Exception as error:
        return ("raises", type(error).__name__, str(error))


@settings(
    max_examples=800,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(expressions)
def test_expressions_as_in_cpython(source: str) -> None:
    expected = real(source)
    if "not plain" in repr(expected):
        return
    try:
        got = interpreted(source)
    except Undecidable as stop:
        assert "too l" in stop.reason, source
        return
    if expected[0] == "raises" and expected[1] in ("TypeError", "AttributeError"):
        # Where several things are wrong, which is met first and in what words is no part of the
        # language.
        assert got[0] == "raises", source
    else:
        assert got == expected, source
