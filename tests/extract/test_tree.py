"""The whole extraction: order, worker processes, broken files, walks and leaves."""

from __future__ import annotations

import ast

import pytest

from sgl_audit.errors import SourceError
from sgl_audit.extract import extract, extract_facts
from sgl_audit.extract.index import server_files
from sgl_audit.extract.pool import read_files
from sgl_audit.extract.walker import leaves

FILES = {
    "a.py": "from sglang.srt.utils import is_cuda\n\ndef f(server_args):\n"
    "    if is_cuda():\n        server_args.attention_backend = 'triton'\n",
    "b.py": "def f(server_args):\n    raise ValueError('no attention_backend')\n",
    "broken.py": "attention_backend = (\n",
    "undecodable.py": b"# attention_backend \xff\n",
}


def test_the_same_for_any_number_of_jobs(make_tree):
    tree = make_tree(FILES)
    one = extract(tree, jobs=1)
    assert extract(tree, jobs=3) == one
    assert extract_facts(tree) == one.facts


def test_broken_files_are_diagnostics_and_the_rest_goes_on(read):
    facts = read(FILES).facts
    assert [(item.place.file[-14:], item.message[:16]) for item in facts.diagnostics] == [
        ("/srt/broken.py", "not valid Python"),
        ("undecodable.py", "not valid Python"),
    ]
    assert [decision.literal for decision in facts.decisions] == ["triton"]
    assert "ValueError" in [rejection.exception for rejection in facts.rejections]


def test_files_that_cannot_be_read(make_tree):
    tree = make_tree(FILES)

    class Broken:
        info = tree.info
        files = tree.files
        has = tree.has

        def read(self, path: str) -> bytes:
            if path.endswith("a.py"):
                raise SourceError("is a device")
            return tree.read(path)

    facts = extract(Broken()).facts
    assert "is a device" in facts.diagnostics[0].message
    assert facts.rejections


def test_an_empty_tree(make_tree):
    extraction = extract(make_tree({}, base=False))
    assert extraction.facts.gates == ()
    assert extraction.coverage.gates_total == 0


def test_tests_and_benchmarks_never_run_in_a_server(make_tree):
    tree = make_tree({"test/x.py": "", "layers/tests/y.py": "", "layers/z.py": ""}, base=False)
    assert server_files(tree) == ("sglang/srt/layers/z.py",)


def test_a_worker_that_dies_costs_its_file_only(make_tree, monkeypatch):
    import os

    from sgl_audit.extract import pool
    from sgl_audit.extract.index import build_index, machines_for

    tree = make_tree({})
    machines = machines_for(tree, ("sm90",), "13.0", "7.0")
    index = build_index(tree, tree.files(), machines)
    original = pool.read_file

    def dying(path, *rest):
        if path == "kills.py":
            os._exit(11)
        return original(path, *rest)

    monkeypatch.setattr(pool, "read_file", dying)
    contents = [("good.py", b"x = 1\n"), ("kills.py", b""), ("more.py", b"y = 2\n")]
    found = read_files(contents, index, machines, 2)
    assert [file.path for file in found] == ["good.py", "kills.py", "more.py"]
    assert [len(file.diagnostics) for file in found] == [0, 1, 0]
    assert "killed" in found[1].diagnostics[0].message


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("return", True),
        ("x = 1", False),
        ("if a:\n    return\nelse:\n    raise X", True),
        ("if a:\n    return", False),
        ("with a:\n    continue", True),
        ("try:\n    return 1\nexcept X:\n    raise", True),
        ("try:\n    x = 1\nexcept X:\n    raise", False),
        ("try:\n    x = 1\nfinally:\n    return", True),
        ("sys.exit(1)", True),
        ("exit()", True),
    ],
)
def test_statements_that_always_leave(code, expected):
    assert leaves(ast.parse(code).body) is expected
