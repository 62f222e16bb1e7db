"""HTML: nothing from outside, nothing from the source as markup, everything reachable."""

from __future__ import annotations

import base64
import hashlib
import html
import re
import shlex
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from urllib.parse import urlsplit

import pytest

from sgl_audit.model.capability import BY_NAME
from sgl_audit.model.report import ChainLink, ChoiceCell, ChoiceState
from sgl_audit.model.source import Place
from sgl_audit.model.verdict import Ground, GroundKind, ValueVerdict, Verdict
from sgl_audit_reports.html import (
    audit_html,
    evidence_html,
    families_html,
    history_html,
    recommendation_html,
    resolution_html,
    review_html,
)
from sgl_audit_reports.html.highlight import code_lines

from . import sample, sample_evidence, sample_recommendation, sample_review

VOID = {"meta", "input", "br"}
ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "a", "header", "div", "p", "strong", "span",
    "nav", "button", "main", "section", "h1", "h2", "h3", "h4", "ul", "ol", "li", "code", "details",
    "summary", "dl", "dt", "dd", "table", "thead", "tbody", "tr", "th", "td", "b", "label",
    "input", "select", "option", "article", "pre", "footer", "dialog", "kbd", "form", "script",
    "br", "svg", "g", "rect", "path", "text",
}  # fmt: skip


class Page(HTMLParser):
    """What a browser would see of the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.raw: dict[str, str] = {}
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("style", "script"):
            self.raw[self.open[-1]] = self.raw.get(self.open[-1], "") + data
        self.texts.append(data)

    def attributes(self, name: str) -> list[str]:
        """Every value of one attribute."""
        return [value for _, attrs in self.tags if (value := attrs.get(name)) is not None]


PAGES = {
    "audit": audit_html(sample.audit("sm90", "sm100", "sm120")),
    "all": audit_html(sample.audit(*BY_NAME)),
    "empty": audit_html(
        replace(
            sample.audit(hostile=False),
            behaviours=(), cells=(), families=(), findings=(), advice=(), assumptions=(),
        )
    ),
    "resolution": resolution_html([sample.resolution()], sample.SOURCE, "0.1.0"),
    "resolutions": resolution_html(
        [sample.resolution("sm90"), sample.resolution("sm120"), sample.refused()],
        sample.SOURCE,
        "0.1.0",
    ),
    "review": review_html(sample_review.review()),
    "same": review_html(sample_review.same()),
    "history": history_html(sample_review.history()),
    "families": families_html(sample.audit("sm90", "sm120")),
    "recommendation": recommendation_html(
        [sample_recommendation.mended(), sample_recommendation.hopeless()], sample.SOURCE, "0.1.0"
    ),
    "evidence": evidence_html([sample_evidence.evidence()], "0.1.0"),
}  # fmt: skip
PARSED = {name: Page(text) for name, text in PAGES.items()}
every_page = pytest.mark.parametrize("name", PAGES)


@every_page
def test_only_our_elements_and_all_closed(name: str) -> None:
    page = PARSED[name]
    assert {tag for tag, _ in page.tags} <= ALLOWED
    assert page.open == []
    counts = [tag for tag, _ in page.tags]
    assert counts.count("script") == 1
    assert counts.count("style") == 1


@every_page
def test_no_handler_and_no_inline_style(name: str) -> None:
    for _, attributes in PARSED[name].tags:
        assert not [key for key in attributes if key.startswith("on") or key == "style"]


@every_page
def test_policy_admits_exactly_our_script_and_style(name: str) -> None:
    page = PARSED[name]
    policy = next(
        attributes["content"]
        for tag, attributes in page.tags
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    for kind in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(page.raw[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


@every_page
def test_nothing_is_loaded_from_outside(name: str) -> None:
    page = PARSED[name]
    assert page.attributes("src") == []
    assert "url(" not in page.raw["style"]
    assert "@import" not in page.raw["style"]
    assert not re.search(r"fetch|XMLHttpRequest|import\(|innerHTML|eval\(", page.raw["script"])
    for address in page.attributes("href"):
        parts = urlsplit(address)
        assert (parts.scheme, parts.netloc) in {("", ""), ("https", "github.com")}, address
        assert address.startswith(("#", "https://github.com/sgl-project/sglang/"))


@every_page
def test_every_local_link_has_its_target_and_ids_are_unique(name: str) -> None:
    page = PARSED[name]
    ids = page.attributes("id")
    assert len(ids) == len(set(ids))
    for address in page.attributes("href"):
        if address.startswith("#"):
            assert address[1:] in ids
    for named in (*page.attributes("aria-labelledby"), *page.attributes("data-copy")):
        assert named in ids


def test_hostile_text_is_shown_as_text() -> None:
    text = "".join(PARSED["audit"].texts)
    assert sample.IMG in text
    assert sample.SCRIPT in text
    assert sample.MARKUP in text
    assert "\\x1b[31mred" in text
    assert "a\\u2028b\\u2029c\\u202ed" in text
    assert not {"\x1b", "\u2028", "\u2029", "\u202e"} & set(PAGES["audit"])


def test_every_finding_has_its_anchor() -> None:
    ids = set(PARSED["audit"].attributes("id"))
    for finding in sample.audit("sm90", "sm100", "sm120").findings:
        assert finding.fingerprint in ids


def test_every_matrix_cell_says_its_state_in_words() -> None:
    cells = re.findall(
        r'<td class="(\w+)"><a href="#w-[^"]+"><b[^>]*>(.)</b> ([a-z ]+)</a>', PAGES["audit"]
    )
    assert len(cells) == len(sample.cells(("sm90", "sm100", "sm120")))
    assert {("error", "✗", "refused"), ("unknown", "?", "unknown")} <= set(cells)


def test_templates_mark_nothing_safe() -> None:
    for template in files("sgl_audit_reports.html").joinpath("templates").iterdir():
        text = template.read_text(encoding="utf-8")
        assert not re.search(r"\|\s*safe|autoescape\s+false|Markup", text), template.name


def test_highlighting_escapes_and_keeps_the_lines() -> None:
    excerpt = sample.excerpt("x.py", 2, "if x < 1 and s == '</code>':", '    """open', "\ttab\x00")
    lines = code_lines(excerpt)
    assert [line.number for line in lines] == [1, 2, 3]
    assert [line.marked for line in lines] == [False, True, False]
    assert "</code>" not in lines[0].markup
    assert "&lt;/code&gt;" in lines[0].markup
    assert "\\0" in lines[2].markup


def test_same_bytes_every_time() -> None:
    assert audit_html(sample.audit(*BY_NAME)) == PAGES["all"]


def test_a_release_sized_audit_stays_under_two_megabytes() -> None:
    states = tuple(ChoiceState)
    cells = tuple(
        ChoiceCell(
            f"option_number_{option}_backend",
            f"flashinfer_choice_{choice}",
            name,
            states[(option + choice + index) % 3],
            f"no decision on {name} chooses {choice}; refused where the model is number {choice}",
            (Place(sample.ARGS, 1000 + choice),),
        )
        for option in range(40)
        for choice in range(9)
        for index, name in enumerate(BY_NAME)
    )
    chain = tuple(
        ChainLink(f"link {n}", Place(sample.ARGS, n + 5), sample.GDN.chain[0].excerpt)
        for n in range(4)
    )
    findings = tuple(
        replace(sample.GDN, fingerprint=f"f{n}", place=Place(sample.ARGS, n + 1), chain=chain)
        for n in range(150)
    )
    audit = replace(sample.audit(*BY_NAME), cells=cells, findings=findings)
    assert len(audit_html(audit).encode()) < 2_000_000


def test_a_launch_that_is_refused_while_loading_is_not_called_accepted() -> None:
    launch = sample.resolution()
    refusal = sample.refused().rejection
    assert refusal is not None
    text = resolution_html([replace(launch, late=(refusal,))], sample.SOURCE, "0.1.0")
    lead = text.split('class="lead"')[1].split("</p>")[0]
    assert "refused once loading starts" in lead
    assert "accepted" not in lead


def _said(text: str) -> str:
    return " ".join("".join(Page(text).texts).split())


def test_a_recommendation_says_how_the_launch_ends() -> None:
    pages = {
        "works with these flags": sample_recommendation.mended(),
        "no kernel and no flag is known to help": sample_recommendation.hopeless(),
        "not known to be enough": sample_recommendation.unknown(),
    }
    for words, item in pages.items():
        text = recommendation_html([item], sample.SOURCE, "0.1.0")
        lead = _said(text.split('class="lead"')[1].split("</p>")[0])
        assert f"{words} on {item.capability}" in lead
        others = [other for other in pages if other != words]
        assert not [other for other in others if other in lead]


def test_a_recommendation_can_be_copied_into_a_shell() -> None:
    found = re.search(r'<code id="on-sm120-flags">(.*?)</code>', PAGES["recommendation"])
    assert found is not None
    words = shlex.split(html.unescape(re.sub(r"<[^>]*>", "", found[1])))
    assert words == ["--attention-backend", "triton", "--fp4-gemm-backend", "a b"]


def test_every_family_is_a_row_with_its_standing() -> None:
    rows = re.findall(
        r'<tr class="entry" id="family-[^"]+"[^>]*data-severity="([^"]*)"', PAGES["families"]
    )
    assert len(rows) == len(sample.families(("sm90", "sm120")))
    assert {"refused", "accepted, not safe", "unknown"} <= set(rows)


def test_a_value_that_is_known_not_to_work_is_marked_in_its_family() -> None:
    audit = sample.audit()
    ground = Ground(GroundKind.ADVISORY, Verdict.NO_KERNEL, "nothing is built for it")
    bad = ValueVerdict("attention_backend", "flashinfer", "sm120", Verdict.NO_KERNEL, (ground,))
    rows = tuple(replace(row, verdicts=(bad,)) for row in audit.families)
    text = _said(families_html(replace(audit, families=rows)))
    assert "✗ no kernel attention_backend = flashinfer: nothing is built for it" in text
    assert "no kernel" not in _said(families_html(audit))


def test_a_wide_matrix_says_what_neighbours_share_once() -> None:
    names = tuple(BY_NAME)
    cells = tuple(
        ChoiceCell(
            "attention_backend",
            "fa3",
            name,
            ChoiceState.FLAG if name.startswith("sm") else ChoiceState.REFUSED,
            f"no decision on {name} chooses fa3",
            (Place(sample.ARGS, 7),),
        )
        for name in names
    )
    text = audit_html(replace(sample.audit(*names), cells=cells))
    spans = re.findall(r'<td class="(\w+)" colspan="(\d+)"><a href="#w-fa3">', text)
    nvidia = sum(name.startswith("sm") for name in names)
    assert spans == [("plain", str(nvidia)), ("error", str(len(names) - nvidia))]
    assert text.count("no decision there chooses fa3") == 2
    assert "no decision on sm" not in text
    few = audit_html(replace(sample.audit("sm90", "sm120"), cells=cells))
    assert "colspan" not in few.split('class="why"')[0].split('id="matrix"')[1]
