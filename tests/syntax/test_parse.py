"""Reading bytes: encodings, broken files, limits, text of nodes, excerpts."""

from __future__ import annotations

import ast
import re

import pytest

from sgl_audit.errors import SourceError
from sgl_audit.model.source import Diagnostic, Place
from sgl_audit.syntax import ParsedFile, excerpt, parse_file
from sgl_audit.syntax.cst import element_notes, nesting, statement_cst
from sgl_audit.syntax.hits import LineHits
from sgl_audit.syntax.limits import MAX_DEPTH, MAX_FILE_BYTES
from sgl_audit.syntax.prefilter import literal_pattern, mentions_machine
from sgl_audit.syntax.text import MAX_TEXT, one_line
from sgl_audit.syntax.toplevel import imported_names, mentioning_names


def parsed(code: str) -> ParsedFile:
    """A file that parses."""
    result = parse_file("a.py", code.encode())
    assert isinstance(result, ParsedFile)
    return result


@pytest.mark.parametrize(
    "data",
    [
        b'x = "a"\ny = 1\n',
        b'x = "a"\r\ny = 1\r\n',
        b'x = "a"\ry = 1\r',
        b'\xef\xbb\xbfx = "a"\ny = 1\n',
        b'# -*- coding: latin-1 -*-\nx = "\xe9"\ny = 1\n',
        b'x = "a"\n\x0cy = 1\n',
    ],
)
def test_encodings_and_line_ends(data):
    result = parse_file("a.py", data)
    assert isinstance(result, ParsedFile)
    last = result.tree.body[-1]
    assert one_line(result, last) == "y = 1"
    assert result.place(last) == Place("a.py", last.lineno, last.col_offset)


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"x = 1\nif:\n", 2, "not valid Python"),
        (b"x = '\xff'\n", 1, "not valid Python"),
        (b"x = 1\n" * 3000 + b"y = '\xff'\n", 1, "cannot be parsed"),
        (b"# coding: nonsense\n", 1, "not valid Python"),
        (b"x = 1\0\n", 1, "null bytes"),
        (b"(" * 3000 + b")" * 3000, 1, "too many nested"),
        (b"#" * (MAX_FILE_BYTES + 1), 1, "more than"),
    ],
)
def test_what_cannot_be_read_is_a_diagnostic(data, line, words):
    result = parse_file("a.py", data)
    assert isinstance(result, Diagnostic)
    assert words in result.message
    assert result.place is not None
    assert result.place.line == line


def test_text_of_nodes():
    file = parsed("é = 1; value = (a or  # why\n    b)\n")
    first, second = file.tree.body
    assert one_line(file, first) == "é = 1"
    assert one_line(file, second.value) == "a or b"
    long = parsed("x = " + "+".join(["name"] * 100))
    assert len(one_line(long, long.tree.body[0])) == MAX_TEXT
    deep = ast.parse("x" + "[0]" * 3, mode="eval").body
    assert one_line(parsed("x[0][0][0]"), deep) == "x[0][0][0]"


def test_line_hits_are_asked_by_range():
    file = parsed("@deco\ndef f():\n    return 1\n\n\ndef g():\n    return is_sm120()\n")
    hits = LineHits(file, literal_pattern([b"is_sm", b"deco"]))
    first, second = file.tree.body
    assert hits
    assert (hits.within(first), hits.within(second)) == (True, True)
    assert not hits.within(first.body[0])
    assert not LineHits(file, literal_pattern([b"nothing"]))


def test_literal_patterns_match_any_literal():
    pattern = literal_pattern([b"is_sm", b"is_sm120", b"is_hip", b"a.b", b"x("])
    assert pattern.findall(b"is_sm100 is_hip a.b axb x( is_h") == [
        b"is_sm",
        b"is_hip",
        b"a.b",
        b"x(",
    ]
    assert mentions_machine(b"if is_blackwell_supported():")
    assert not mentions_machine(b"print()")


def test_names_by_text():
    code = b"""
from a import hip
A = is_hip()
B: bool = is_hip()
C = D = lru_cache(
    is_hip
)
@cached
def f():
    inner = is_hip()
class K:
    x = is_hip()
if is_hip():
    G = 1
    def h(): pass
Z = 1
"""
    names = mentioning_names(code, re.compile(b"is_hip"))
    assert {"A", "B", "C", "D", "f", "K", "G", "h"} <= names
    assert "Z" not in names
    assert "hip" not in names


def test_imports_by_text():
    code = (
        b"from .common import (\n    a,  # why b\n    c,\n)\nfrom x.y import *\nimport p.q as r\n"
    )
    assert imported_names("top/utils/__init__.py", code) >= {
        ("top.utils.common", "a"),
        ("top.utils.common", "c"),
        ("x.y", "*"),
        ("p", "q"),
    }


def test_notes_of_elements():
    code = (
        'X = [\n    "a",  # first\n    # group\n    "b",\n    "c"  # last\n] + '
        '("d",  # in a tuple\n    "e")\nY = {\n    "f",  # in a set\n}\n'
    )
    file = parsed(code)
    assert element_notes(file, file.tree.body[0]) == {
        "a": "first",
        "c": "last",
        "d": "in a tuple",
    }
    assert element_notes(file, file.tree.body[1]) == {"f": "in a set"}
    assert element_notes(parsed('X = ["a"]'), parsed('X = ["a"]').tree.body[0]) == {}


def test_deep_statements_never_reach_libcst():
    code = "X = " + "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1) + "  # note"
    file = parsed(code)
    assert nesting(code.encode()) == MAX_DEPTH + 1
    assert statement_cst(file, file.tree.body[0]) is None
    chain = parsed("X = " + "+".join(["1"] * (MAX_DEPTH + 2)))
    assert statement_cst(chain, chain.tree.body[0]) is None
    flat = parsed("X = [1]")
    assert statement_cst(flat, flat.tree.body[0]).code == "X = [1]\n"


class _Tree:
    def read(self, path: str) -> bytes:
        if path == "big.py":
            raise SourceError("too big")
        return {"a.py": b"1\n2\n3\n4\n5\n", "bad.py": b"# coding: nonsense\n"}[path]


def test_excerpts():
    tree = _Tree()
    found = excerpt(tree, Place("a.py", 2), 1)
    assert (found.first, found.lines) == (1, ("1", "2", "3"))
    assert excerpt(tree, Place("a.py", 1), 2).lines == ("1", "2", "3")
    for path in ("missing.py", "bad.py", "big.py"):
        assert excerpt(tree, Place(path, 7)).lines == ()
