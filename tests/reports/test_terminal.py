"""The terminal reports: snapshots at 80 columns without colour, and what must never happen."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from sgl_audit.model.capability import BY_NAME
from sgl_audit.model.report import ShowPage, ShowRow, ShowSection
from sgl_audit.model.source import Place
from sgl_audit_reports.common.overview import overview_of
from sgl_audit_reports.terminal import (
    make_console,
    render_audit,
    render_explain,
    render_facts_summary,
    render_families,
    render_matrix,
    render_resolution,
    render_resolutions,
    render_rules,
    render_show,
)

from . import sample

RENDERINGS: dict[str, Callable[[Console], None]] = {
    "first screen": lambda c: render_audit(sample.audit(hostile=False), c),
    "three capabilities": lambda c: render_audit(sample.audit("sm90", "sm100", "sm120"), c),
    "all capabilities": lambda c: render_audit(sample.audit(*BY_NAME, hostile=False), c),
    "details": lambda c: render_audit(sample.audit(), c, details=True),
    "matrix": lambda c: render_matrix(sample.audit(*BY_NAME), c),
    "matrix of one option": lambda c: render_matrix(
        sample.audit("sm90", "sm120"), c, option="attention_backend"
    ),
    "families": lambda c: render_families(sample.audit("sm120", "sm121"), c),
    "facts": lambda c: render_facts_summary(sample.FACTS, sample.SOURCE, c),
    "resolution": lambda c: render_resolution(sample.resolution(), c),
    "one option resolved": lambda c: render_resolution(
        sample.resolution(), c, options=("page_size",)
    ),
    "everything resolved": lambda c: render_resolution(sample.resolution(), c, everything=True),
    "refused": lambda c: render_resolution(sample.refused(), c),
    "several resolutions": lambda c: render_resolutions(
        [sample.resolution("sm90"), sample.resolution("sm120"), sample.refused()], c
    ),
    "show": lambda c: render_show(sample.SHOW, c),
    "show details": lambda c: render_show(sample.SHOW, c, details=True),
    "rules": lambda c: render_rules([sample.RULE], c),
    "explain": lambda c: render_explain(sample.RULE, c),
}


def printed(render: Callable[[Console], None], *, width: int = 80, color: str = "never") -> str:
    """What a rendering prints, without the spaces that tables are padded with."""
    buffer = io.StringIO()
    render(make_console(buffer, color=color, width=width))
    return "\n".join(line.rstrip() for line in buffer.getvalue().split("\n"))


@pytest.mark.parametrize("name", RENDERINGS)
def test_snapshot(name: str, snapshot: SnapshotAssertion) -> None:
    assert printed(RENDERINGS[name]) == snapshot


@pytest.mark.parametrize("width", [40, 80, 160])
@pytest.mark.parametrize("name", RENDERINGS)
def test_hostile_text_stays_text(name: str, width: int) -> None:
    text = printed(RENDERINGS[name], width=width)
    assert "\x1b" not in text
    assert not {"\u2028", "\u2029", "\u202e"} & set(text)


@pytest.mark.parametrize("name", RENDERINGS)
def test_fits_the_width(name: str) -> None:
    longest = max(map(len, printed(RENDERINGS[name]).split("\n")))
    assert longest <= 80


def test_markup_is_printed_as_it_stands() -> None:
    text = printed(RENDERINGS["details"])
    assert sample.MARKUP in text.replace("\n  ", " ")
    assert "\\x1b[31mred" in text


def test_first_screen_is_one_screen() -> None:
    text = printed(RENDERINGS["first screen"])
    assert text.count("\n") <= 25
    assert "NOT SAFE BY DEFAULT on sm120: hybrid GDN, NVFP4 MoE" in text
    assert "--attention-backend triton" in text
    assert "sglang/srt/layers/attention/attention_registry.py:205" in text
    assert "gates understood 60 of 61, decisions 214 of 219" in text


def test_wide_terminal_shows_titles_in_the_table() -> None:
    text = printed(RENDERINGS["first screen"], width=140)
    assert "nobody decides moe_runner_backend for NVFP4 MoE [2]" in text


def test_several_capabilities_are_columns_where_they_fit() -> None:
    text = printed(RENDERINGS["three capabilities"], width=140)
    header = next(line for line in text.split("\n") if line.startswith("option "))
    assert header.split() == ["option", "default", "sm90", "sm100", "sm120"]


def test_colour_only_where_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    render = RENDERINGS["first screen"]
    assert "\x1b[" not in printed(render, color="auto")
    assert "\x1b[" in printed(render, color="always")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in printed(render, color="auto")
    assert "\x1b[" not in printed(render, color="never")


def test_no_color_removes_colours_that_nobody_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1;31m" in printed(RENDERINGS["first screen"], color="always")
    text = printed(RENDERINGS["first screen"], color="auto")
    assert "\x1b[31m" not in text
    assert "\x1b[1;31m" not in text


def test_ascii_terminal_gets_ascii() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    render_matrix(sample.audit("sm90", "sm120"), make_console(stream, width=80))
    stream.flush()
    text = stream.buffer.getvalue().decode("ascii")  # type: ignore[attr-defined]
    assert "x refused" in text


def test_meaning_survives_without_symbols() -> None:
    text = printed(lambda c: render_matrix(sample.audit("sm90", "sm120"), c), width=100)
    assert "refused" in text
    assert "default" in text


def test_flags_paste_as_one_command() -> None:
    from sgl_audit_reports.terminal.first_screen import wrapped_flags

    rows = wrapped_flags(("--a-flag one", "--b-flag", "two words; rm -rf", "--c-flag=3"), 20)
    assert rows == ["--a-flag one \\", "--b-flag 'two words; rm -rf' \\", "--c-flag=3"]


def test_a_first_look_at_places_is_short_and_details_are_all() -> None:
    rows = tuple(
        ShowRow(
            (f"x = {n}", "always", "in f"), Place("a.py", n), sample.excerpt("a.py", n, f"x = {n}")
        )
        for n in range(1, 10)
    )
    page = ShowPage("x", "option", "", (ShowSection("Set at", (), rows, first=3),))
    short = printed(lambda c: render_show(page, c))
    assert "Set at (9)" in short
    assert "... 6 more: --details" in short
    assert "a.py:4" not in short
    assert "a.py:3  in f" in short
    assert "2 x = 3" not in short
    full = printed(lambda c: render_show(page, c, details=True))
    assert "a.py:9  in f" in full
    assert "8 x = 9" in full
    assert "--details" not in full


def test_what_no_table_holds_is_said_below_what_it_is_said_of() -> None:
    rows = (ShowRow(("a" * 30, "b" * 25, "said of it " * 4), Place("a.py", 1)),)
    page = ShowPage("x", "option", "", (ShowSection("Each", ("one", "two", "why"), rows),))
    lines = printed(lambda c: render_show(page, c)).split("\n")
    assert f"  {'a' * 30}  {'b' * 25}" in lines
    assert f"      {'said of it ' * 3}said of it" in lines
    assert "      a.py:1" in lines


def test_options_that_no_launch_can_choose_are_no_part_of_the_first_screen() -> None:
    audit = sample.audit(hostile=False)
    own = replace(audit.facts.options[0], name="_set_explicitly", flags=())
    behaviour = replace(audit.behaviours[0], option="_set_explicitly", default="False")
    audit = replace(
        audit,
        facts=replace(audit.facts, options=(*audit.facts.options, own)),
        behaviours=(*audit.behaviours, behaviour),
    )
    overview = overview_of(audit)
    assert "_set_explicitly" in {row.option for row in overview.rows}
    assert "_set_explicitly" not in {row.option for row in overview.important_rows}


def test_a_computed_value_comes_last_and_without_its_source() -> None:
    audit = sample.audit(hostile=False)
    case = audit.behaviours[0].becomes[0]
    values = ("(computed: self.x)", "triton", "(computed: y)")
    behaviour = replace(
        audit.behaviours[0], becomes=tuple(replace(case, value=value) for value in values)
    )
    overview = overview_of(replace(audit, behaviours=(behaviour,)))
    assert overview.rows[0].cells[0].becomes == "triton or a computed value"
