"""Markdown: source text is text, tables and fences hold."""

from __future__ import annotations

import re
from dataclasses import replace

from syrupy.assertion import SnapshotAssertion

from sgl_audit.model.report import ChainLink
from sgl_audit.model.source import Place
from sgl_audit_reports.markdown import audit_to_markdown, resolution_to_markdown
from sgl_audit_reports.markdown.escape import code, escaped, fenced, in_html, table

from . import sample

OUTSIDE_CODE = re.compile(r"```.*?```|(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)


def outside_code(text: str) -> str:
    """The text without code spans and blocks."""
    return OUTSIDE_CODE.sub("", text)


def test_audit(snapshot: SnapshotAssertion) -> None:
    assert audit_to_markdown(sample.audit()) == snapshot


def test_resolutions(snapshot: SnapshotAssertion) -> None:
    several = [sample.resolution("sm90"), sample.resolution("sm120")]
    assert resolution_to_markdown(several, sample.SOURCE) == snapshot
    assert resolution_to_markdown(several[:1], sample.SOURCE) == snapshot


def test_no_markup_from_the_source() -> None:
    text = outside_code(audit_to_markdown(sample.audit("sm90", "sm120")))
    assert set(re.findall(r"<(\w+)", text)) == {"details", "summary"}
    assert "](http://" not in text
    assert "\x1b" not in text


def test_rows_have_as_many_cells_as_the_head() -> None:
    lines = audit_to_markdown(sample.audit("sm90", "sm120")).split("\n")
    counts = [len(re.findall(r"(?<!\\)\|", line)) for line in lines if line.startswith("|")]
    assert counts
    heads = [
        c
        for line, c in zip([x for x in lines if x.startswith("|")], counts, strict=True)
        if set(line) <= set("|- ")
    ]
    assert set(counts) == set(heads)


def test_escapes() -> None:
    assert escaped("a|b `c` *d* [e](f)") == "a\\|b \\`c\\` \\*d\\* \\[e\\](f)"
    assert escaped("- item") == "\\- item"
    assert escaped("1. item") == "1\\. item"
    assert escaped("<b>&") == "&lt;b&gt;&amp;"
    assert escaped("@someone #12 http://x") == ("@&#8288;someone \\#&#8288;12 http:&#8288;//x")
    assert in_html("a_b <i>") == "a_b &lt;i&gt;"
    assert code("a`b``c") == "```a`b``c```"
    assert code("`a") == "`` `a ``"
    assert code("") == ""


def test_a_fence_outlasts_its_content() -> None:
    assert fenced(["````", "x"])[0] == "`````"


def test_a_table_cell_keeps_its_pipe() -> None:
    assert table(("a",), [(code("x | y"),)])[2] == "| `x \\| y` |"


def test_a_long_audit_is_cut_between_findings() -> None:
    text = audit_to_markdown(sample.audit(), findings=2)
    assert "3 more are left out here." in text
    assert text.count("<details>") == text.count("</details>")


def graphs(text: str) -> list[str]:
    """The Mermaid graphs of a report."""
    return re.findall(r"```mermaid\n(.*?)```", text, re.DOTALL)


def test_a_chain_is_drawn() -> None:
    (graph, *_) = graphs(audit_to_markdown(sample.audit(hostile=False)))
    assert graph.splitlines()[0] == "flowchart TD"
    assert 'n0(["attention_backend on sm120"])' in graph
    assert "srt/server_args.py#58;1290" in graph
    assert graph.count("-->") == 2


def test_no_graph_can_be_broken_by_the_source() -> None:
    nasty = replace(
        sample.GDN,
        option='x"]; click n0 "javascript:alert(1)"',
        chain=tuple(
            ChainLink(f"{text} when {text}", Place(f"a/{text}", 1)) for text in sample.HOSTILE
        ),
    )
    text = audit_to_markdown(replace(sample.audit(), findings=(nasty,)))
    (graph,) = graphs(text)
    for line in graph.splitlines()[1:]:
        shape = r'n\d(\(\[|\{\{|\[)"[^"`<>]*(<br/>)?[^"`<>]*"(\]\)|\}\}|\])'
        assert re.fullmatch(rf"  ({shape}|n\d -->\|\"[^\"`<>|]*\"\| n\d)", line), line


def test_a_report_fits_into_a_comment() -> None:
    many = tuple(
        replace(sample.GDN, fingerprint=f"{number:016x}", message="long " * 200)
        for number in range(300)
    )
    whole = replace(sample.audit("sm90", "sm120"), findings=many)
    text = audit_to_markdown(whole)
    assert len(text) <= 60_000
    assert "more are left out here." in text
    assert text.count("<details>") == text.count("</details>")
