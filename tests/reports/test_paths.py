"""The pictures of paths: what is drawn strong, what faint, and where."""

from __future__ import annotations

from dataclasses import replace

from sgl_audit.model.facts import Decision, DecisionKind
from sgl_audit.model.guard import ALWAYS, Atom, AtomKind, all_of, negate
from sgl_audit.model.report import Audit, ChoiceCell, ChoiceState, OptionBehaviour
from sgl_audit.model.resolution import Case
from sgl_audit.model.source import Place
from sgl_audit.model.verdict import Verdict
from sgl_audit_reports.html.data import Box, Picture
from sgl_audit_reports.html.parts import cell_badge
from sgl_audit_reports.html.picture import Edge, Node, Taken, drawn
from sgl_audit_reports.html.ways import split, ways_of

from . import sample

SM100 = Atom(AtomKind.GATE, "is_sm100_supported()", frozenset({"sm100"}))
MODEL = Atom(AtomKind.MODEL, "model_config.is_moe")
OPTION = "moe_runner_backend"


def decision(value: str, guard: object, line: int) -> Decision:
    return Decision(
        OPTION, f'"{value}"', value, DecisionKind.ASSIGNMENT, guard, Place("a.py", line), "f"
    )  # type: ignore[arg-type]


def audit(*decisions: Decision) -> Audit:
    whole = sample.audit("sm120", hostile=False)
    return replace(whole, facts=replace(whole.facts, decisions=decisions), families=())


def ways(value: str, audit: Audit, *places: Place) -> dict[str, Taken]:
    behaviour = OptionBehaviour(OPTION, "sm120", "auto", (Case("always", value),), places=places)
    return {node.title: node.way for node in ways_of(behaviour, None, audit).nodes}


def test_what_the_capability_excludes_is_faint() -> None:
    whole = audit(decision("excluded", SM100, 1), decision("taken", negate(SM100), 2))
    found = ways("taken", whole, Place("a.py", 2))
    assert found["set taken"] is Taken.YES
    assert found["not is_sm100_supported()"] is Taken.YES
    assert found["set excluded"] is Taken.NO
    assert found["is_sm100_supported()"] is Taken.NO


def test_what_is_not_settled_is_neither() -> None:
    found = ways("auto", audit(decision("perhaps", MODEL, 1)))
    assert found["set perhaps"] is Taken.MAYBE
    assert found["nothing decides"] is Taken.YES


def test_a_default_that_stays_is_drawn_as_such_beside_a_decision_for_the_same_value() -> None:
    found = ways("auto", audit(decision("auto", SM100, 1)))
    assert found["nothing decides"] is Taken.YES


def test_a_computed_value_is_reached_from_what_computes_it_alone() -> None:
    computes = replace(decision("x", ALWAYS, 1), value="self.other", literal=None)
    sets = decision("taken", ALWAYS, 2)
    behaviour = OptionBehaviour(
        OPTION,
        "sm120",
        "auto",
        (Case("x", "taken"), Case("y", "(computed: self.other)")),
        places=(computes.place, sets.place),
    )
    way = ways_of(behaviour, None, audit(computes, sets))
    titles = {node.key: node.title for node in way.nodes}
    reached = {
        (titles[edge.start], titles[edge.end])
        for edge in way.edges
        if titles[edge.start] in ("compute self.other", "set taken")
    }
    assert reached == {
        ("compute self.other", "(computed: self.other)"),
        ("set taken", "taken"),
    }


def test_a_box_says_first_what_must_hold() -> None:
    guard = all_of(negate(Atom(AtomKind.MODEL, "is_remote")), MODEL)
    taken = decision("taken", guard, 1)
    behaviour = OptionBehaviour(
        OPTION, "sm120", "auto", (Case("x", "taken"),), places=(taken.place,)
    )
    nodes = ways_of(behaviour, None, audit(taken)).nodes
    (notes,) = [node.notes for node in nodes if node.title == "set taken"]
    assert notes[-1] == "when model_config.is_moe and not is_remote"


def test_every_value_that_is_taken_keeps_its_decision_however_many_there_are() -> None:
    many = [decision(f"value{n}", ALWAYS, n) for n in range(1, 20)]
    behaviour = OptionBehaviour(
        OPTION,
        "sm120",
        "auto",
        tuple(Case("x", item.literal) for item in many),
        places=tuple(item.place for item in many),
    )
    titles = {node.title for node in ways_of(behaviour, None, audit(*many)).nodes}
    assert {f"set value{n}" for n in range(1, 20)} <= titles
    assert "decided elsewhere" not in titles


def test_a_guard_splits_into_what_the_machine_decides_and_the_rest() -> None:
    assert split(all_of(SM100, MODEL)) == (SM100, MODEL)
    assert split(ALWAYS) == (ALWAYS, ALWAYS)


def picture() -> Picture:
    nodes = [
        Node("a", 0, "a_very_long_name_" * 30, ("note " * 60, "\u2028")),
        Node("b", 1, "b", way=Taken.NO),
        Node("c", 1, "c"),
        Node("d", 3, "d"),
    ]
    edges = [Edge("a", "b", Taken.NO), Edge("a", "c"), Edge("c", "d"), Edge("b", "c")]
    return drawn(("one", "two", "three", "four"), nodes, edges)


def _apart(one: Box, other: Box) -> bool:
    return (
        one.x + one.width < other.x
        or other.x + other.width < one.x
        or one.y + one.height < other.y
        or other.y + other.height < one.y
    )


def test_boxes_never_overlap_and_hold_their_text() -> None:
    found = picture()
    for index, one in enumerate(found.boxes):
        assert all(_apart(one, other) for other in found.boxes[index + 1 :])
        assert one.x + one.width <= found.width
        assert one.y + one.height <= found.height
        for label in one.labels:
            assert len(label.text) <= 26
            assert one.y < label.y < one.y + one.height


def test_an_empty_column_takes_no_room_and_strong_lines_lie_on_top() -> None:
    found = picture()
    assert [name for _, name in found.columns] == ["one", "two", "four"]
    assert [line.way for line in found.lines] == ["faint", "taken", "taken", "taken"]


def test_the_same_boxes_give_the_same_picture() -> None:
    assert picture() == picture()


def cell(state: ChoiceState, verdict: Verdict | None) -> ChoiceCell:
    return ChoiceCell(OPTION, "x", "sm120", state, verdict=verdict)


def test_a_default_is_green_only_where_it_is_known_to_work() -> None:
    assert cell_badge(cell(ChoiceState.DEFAULT, None)).kind == "note"
    assert cell_badge(cell(ChoiceState.DEFAULT, Verdict.UNKNOWN)).kind == "note"
    assert cell_badge(cell(ChoiceState.DEFAULT, Verdict.WORKS)).kind == "ok"


def test_a_default_known_not_to_work_says_so() -> None:
    badge = cell_badge(cell(ChoiceState.DEFAULT, Verdict.WRONG))
    assert (badge.symbol, badge.text, badge.kind) == (
        "✗",
        "default, wrong results reported",
        "error",
    )


def test_a_good_verdict_does_not_hide_a_refusal() -> None:
    assert cell_badge(cell(ChoiceState.CONDITIONAL, Verdict.WORKS)).kind == "warning"
    assert cell_badge(cell(ChoiceState.REFUSED, Verdict.WORKS)).text == "refused"
