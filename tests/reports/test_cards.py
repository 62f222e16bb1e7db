"""Launches on cards of one capability: every report tells them apart."""

from __future__ import annotations

import io
from dataclasses import replace

from sgl_audit.model.resolution import Launch, Outcome, Resolution, ResolvedValue
from sgl_audit.source import open_source
from sgl_audit_reports.html import resolution_html
from sgl_audit_reports.json import resolution_to_json
from sgl_audit_reports.markdown import resolution_to_markdown
from sgl_audit_reports.terminal import render_resolutions
from sgl_audit_reports.terminal.console import make_console

PLAIN = Resolution(
    Launch("one", "sm120", ()),
    Outcome.OK,
    options=(ResolvedValue("moe_runner_backend", True, "flashinfer_cutlass"),),
    late=(),
)


def on(card: str | None) -> Resolution:
    return replace(PLAIN, launch=replace(PLAIN.launch, card=card))


CARDS = ("rtx-5090", None, "rtx-pro-6000")
FOUND = [on(card) for card in CARDS]


def printed(found: list[Resolution], width: int = 80) -> str:
    stream = io.StringIO()
    render_resolutions(found, make_console(stream, color="never", width=width), everything=True)
    return stream.getvalue()


def test_terminal() -> None:
    lines = printed(FOUND, width=90).splitlines()
    assert "accepted on rtx-5090 (sm120)" in lines
    assert "accepted on rtx-pro-6000 (sm120)" in lines
    heads = [line.split() for line in lines if line.split()[:1] == ["option"]]
    assert heads == [["option", "rtx-5090", "sm120", "rtx-pro-6000"]]


def test_what_does_not_fit_goes_into_a_table_of_its_own() -> None:
    text = printed(FOUND, width=60)
    heads = [line.split() for line in text.splitlines() if line.split()[:1] == ["option"]]
    *apart, same = heads
    assert [name for head in apart for name in head[1:]] == ["rtx-5090", "sm120", "rtx-pro-6000"]
    assert all(len(head) > 1 for head in apart)
    # What is the same in all of them is said once.
    assert same == ["option", "the", "same", "on", "each"]
    lines = [line.split() for line in text.splitlines()]
    row = lines[lines.index(same) + 1]
    assert sum(line[:1] == row[:1] for line in lines) == 1


def test_the_other_forms() -> None:
    info = open_source(None, notify=lambda text: None).info
    for text in (resolution_to_markdown(FOUND, info), resolution_html(FOUND, info, "0")):
        assert "rtx-5090 (sm120)" in text.replace("\\", "")
        assert "rtx-pro-6000 (sm120)" in text.replace("\\", "")
    assert [resolution_to_json(item)["card"] for item in FOUND] == list(CARDS)
