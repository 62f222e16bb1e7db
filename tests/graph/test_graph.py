"""The graph of a tree, and its written forms."""

from __future__ import annotations

import io
import json
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgl_audit.errors import UsageError
from sgl_audit.extract.tree import extract_facts
from sgl_audit.graph import FORMATS, build_graph, export_graph
from sgl_audit.model.facts import (
    Decision,
    DecisionKind,
    EnvironmentVariable,
    Facts,
    Option,
    Rejection,
    RejectionKind,
)
from sgl_audit.model.guard import Atom, AtomKind, Guard, Not, all_of
from sgl_audit.model.source import Place
from sgl_audit.source import open_source

ROOT = Path(__file__).resolve().parents[2]
SM100 = Atom(AtomKind.GATE, "is_sm100_supported()", frozenset({"sm100"}))
IS_AUTO = Atom(AtomKind.OPTION, 'self.runner == "auto"', None, ("runner",))
SWITCH = Atom(AtomKind.ENVIRONMENT, 'get_bool_env_var("SGLANG_X")')
FILE = "sglang/srt/server_args.py"


def option(name: str, *choices: str) -> Option:
    place = Place(FILE, 3)
    return Option(name, (), "str", "auto", True, choices, None, None, False, place, True)


def decision(value: str, guard: Guard, line: int, **more: object) -> Decision:
    kind = more.get("kind", DecisionKind.ASSIGNMENT)
    assert isinstance(kind, DecisionKind)
    return Decision("runner", repr(value), value, kind, guard, Place(FILE, line), "f")


def facts(*decisions: Decision, rejections: tuple[Rejection, ...] = ()) -> Facts:
    variable = EnvironmentVariable("SGLANG_X", "0", Place("sglang/srt/environ.py", 1))
    options = (option("runner", "auto", "triton", "trtllm"), option("other", "auto"))
    return Facts((), options, (), (), (), (variable,), decisions, rejections)


SMALL = facts(
    decision("trtllm", all_of(IS_AUTO, SM100), 10),
    decision("triton", all_of(IS_AUTO, Not(SM100), SWITCH), 12),
    decision("trtllm", IS_AUTO, 20, kind=DecisionKind.DISPATCH),
    rejections=(
        Rejection(
            ("runner",),
            RejectionKind.RAISE,
            "ValueError",
            'no "trtllm" <here> & now | `never`',
            all_of(Atom(AtomKind.OPTION, 'self.runner == "trtllm"', None, ("runner",)), Not(SM100)),
            Place(FILE, 30),
            "f",
        ),
    ),
)


def kinds(graph: nx.MultiDiGraph) -> set[str]:
    return {data["kind"] for _, data in graph.nodes(data=True)}


def test_what_leads_to_a_choice_is_linked() -> None:
    graph = build_graph(SMALL, ("sm100", "sm120"))
    assert kinds(graph) == {
        "capability",
        "gate",
        "decision",
        "rejection",
        "option",
        "choice",
        "environment variable",
        "dispatch site",
    }
    path = nx.shortest_path(graph, "capability:sm100", "choice:runner=trtllm")
    assert path[1] == "gate:is_sm100_supported"
    assert path[2].startswith(f"decision:{FILE}:10")
    # The gate does not hold on sm120.
    assert not graph.has_edge("capability:sm120", "gate:is_sm100_supported")
    assert nx.has_path(graph, "variable:SGLANG_X", "choice:runner=triton")


def test_edges_say_when_and_where() -> None:
    graph = build_graph(SMALL, ("sm100", "sm120"))
    edges = {
        (data["kind"], data["place"]): data
        for _, end, data in graph.edges(data=True)
        if end == "choice:runner=trtllm"
    }
    chosen = edges["chooses", f"{FILE}:10"]
    assert chosen["guard"] == 'self.runner == "auto" and is_sm100_supported()'
    assert chosen["capabilities"] == "sm100"
    assert chosen["always"] == ""
    asked = edges["asks for", f"{FILE}:20"]
    assert asked["capabilities"] == "sm100,sm120"


def test_one_capability_leaves_out_what_it_cannot_reach() -> None:
    graph = build_graph(SMALL, arch="sm120")
    assert not any(name.startswith(f"decision:{FILE}:10") for name in graph)
    assert any(name.startswith(f"rejection:{FILE}:30") for name in graph)


def test_one_option_leaves_out_the_others() -> None:
    graph = build_graph(SMALL, ("sm100",), option="other")
    assert "option:other" in graph
    assert "option:runner" not in graph
    assert build_graph(SMALL, ("sm100",), options=("runner",)).has_node("option:runner")


def test_a_gate_nobody_understood_says_so() -> None:
    strange = Atom(AtomKind.GATE, "is_strange()", None)
    graph = build_graph(facts(decision("triton", strange, 9)), ("sm90",))
    assert graph.nodes["gate:is_strange"]["holds"] == "not understood"
    assert graph.nodes["gate:is_strange"]["understood"] is False
    assert not graph.has_edge("capability:sm90", "gate:is_strange")


def test_tests_that_read_alike_and_differ_are_two_gates() -> None:
    other = Atom(AtomKind.GATE, "is_sm100_supported()", frozenset({"sm100", "sm120"}))
    graph = build_graph(
        facts(decision("a", SM100, 9), decision("b", other, 10)), ("sm100", "sm120")
    )
    assert sorted(name for name in graph if name.startswith("gate:is_sm100")) == [
        "gate:is_sm100_supported [sm100,sm120]",
        "gate:is_sm100_supported [sm100]",
    ]


@pytest.mark.parametrize("fmt", FORMATS)
def test_the_same_graph_is_the_same_text(fmt: str) -> None:
    shuffled = facts(*reversed(SMALL.decisions), rejections=SMALL.rejections)
    first = export_graph(build_graph(SMALL, ("sm100", "sm120")), fmt)
    assert first == export_graph(build_graph(shuffled, ("sm100", "sm120")), fmt)


def test_json_is_read_back() -> None:
    graph = build_graph(SMALL, ("sm100", "sm120"))
    back = nx.node_link_graph(json.loads(export_graph(graph, "json")), edges="links")
    assert set(back.nodes) == set(graph.nodes)
    assert back.number_of_edges() == graph.number_of_edges()


def test_graphml_is_read_back() -> None:
    graph = build_graph(SMALL, ("sm100", "sm120"))
    text = export_graph(graph, "graphml")
    back = nx.read_graphml(io.BytesIO(text.encode()), force_multigraph=True)
    assert set(back.nodes) == set(graph.nodes)
    rejection = next(name for name in back if name.startswith("rejection:"))
    assert back.nodes[rejection]["label"] == 'ValueError: no "trtllm" <here> & now | `never`'


def test_mermaid_labels_are_escaped() -> None:
    text = export_graph(build_graph(SMALL, ("sm120",), option="runner"), "mermaid")
    assert text.startswith("flowchart LR\n")
    rejection = next(line for line in text.splitlines() if "ValueError" in line)
    label = rejection.split('"')[1]
    assert label.startswith("ValueError: no #quot;trtllm#quot; #lt;here#gt; #amp; now #124; #96;")
    assert all(line.count('"') % 2 == 0 for line in text.splitlines())


def test_dot_labels_are_escaped() -> None:
    text = export_graph(build_graph(SMALL, ("sm120",)), "dot")
    assert text.startswith("digraph sglang {\n")
    assert text.endswith("}\n")
    rejection = next(line for line in text.splitlines() if '[label="ValueError' in line)
    assert '\\"trtllm\\"' in rejection
    assert "octagon" in rejection


@given(st.text(max_size=40))
def test_any_text_of_a_tree_can_be_written(text: str) -> None:
    hostile = facts(decision(text, Atom(AtomKind.OPAQUE, text), 9))
    graph = build_graph(hostile, ("sm90",))
    written = {fmt: export_graph(graph, fmt) for fmt in FORMATS}
    json.loads(written["json"])
    nx.read_graphml(io.BytesIO(written["graphml"].encode()))
    # One statement a line, whatever the text holds.
    assert written["dot"].count("\n") == 4 + graph.number_of_nodes() + graph.number_of_edges()
    assert written["mermaid"].count("\n") == 1 + graph.number_of_nodes() + graph.number_of_edges()


def test_an_unknown_form_is_refused_in_a_sentence() -> None:
    with pytest.raises(UsageError, match="json, dot, graphml, mermaid, not as 'svg'"):
        export_graph(build_graph(SMALL), "svg")


@pytest.mark.parametrize("name", ["flat_2025", "dataclass_2026", "arg_groups_2026"])
def test_our_own_trees(name: str) -> None:
    found = extract_facts(open_source(str(ROOT / "fixtures" / name), offline=True))
    graph = build_graph(found, ("sm90", "sm120"))
    assert {"capability", "gate", "decision", "rejection", "option"} <= kinds(graph)
    assert "environment variable" in kinds(graph)
    for _, data in graph.nodes(data=True):
        assert data["label"]
    for fmt in FORMATS:
        assert export_graph(graph, fmt)
