"""The HTML reports as a browser shows them: offline, without errors, by keyboard, for everyone."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sgl_audit.model.capability import BY_NAME
from sgl_audit_reports.html import (
    audit_html,
    evidence_html,
    families_html,
    history_html,
    recommendation_html,
    resolution_html,
    review_html,
)

from . import sample, sample_evidence, sample_recommendation, sample_review

ROOT = Path(__file__).resolve().parents[2]
SEVERE = {"serious", "critical"}


def _load() -> ModuleType:
    found = importlib.util.spec_from_file_location("browser", ROOT / "scripts" / "browser.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


DRIVER = _load()
pytestmark = pytest.mark.skipif(
    DRIVER.chromium() is None or importlib.util.find_spec("playwright") is None,
    reason="there is no chromium here, or no playwright",
)
PAGES = {
    "all": lambda: audit_html(sample.audit(*BY_NAME)),
    "audit": lambda: audit_html(sample.audit("sm90", "sm100", "sm120")),
    "resolve": lambda: resolution_html(
        [sample.resolution("sm90"), sample.resolution("sm120"), sample.refused()],
        sample.SOURCE,
        "0.1.0",
    ),
    "diff": lambda: review_html(sample_review.review()),
    "probe": lambda: evidence_html([sample_evidence.evidence()], "0.1.0"),
    "families": lambda: families_html(sample.audit("sm90", "sm120")),
    "history": lambda: history_html(sample_review.history()),
    "recommend": lambda: recommendation_html(
        [
            sample_recommendation.mended(),
            sample_recommendation.hopeless(),
            sample_recommendation.unknown(),
        ],
        sample.SOURCE,
        "0.1.0",
    ),
}
FOCUSED = """(({activeElement: at}) =>
  [at.getAttribute("href") || "", (at.parentElement || {}).id || ""])(document)"""
every_page = pytest.mark.parametrize("name", PAGES)


@pytest.fixture(scope="module")
def running() -> Iterator[Any]:
    """One browser for all tests of this file."""
    with DRIVER.browser(DRIVER.chromium()) as found:
        yield found


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages on disk, as a reader opens them."""
    folder = tmp_path_factory.mktemp("pages")
    found = {name: folder / f"{name}.html" for name in PAGES}
    for name, path in found.items():
        path.write_text(PAGES[name](), encoding="utf-8")
    return found


@every_page
@pytest.mark.parametrize("width", DRIVER.WIDTHS)
def test_opens_without_an_error_or_a_request(
    running: Any, files: dict[str, Path], name: str, width: int
) -> None:
    said: list[str] = []
    asked: list[str] = []
    with DRIVER.opened(running, files[name], width) as page:
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(f"dialog {dialog.message}"))
        page.on("request", lambda request: asked.append(request.url))
        page.reload()
        page.wait_for_load_state("load")
        wide = page.evaluate("document.documentElement.scrollWidth")
        page.evaluate("document.querySelectorAll('details').forEach((n) => { n.open = true; })")
        unfolded = page.evaluate("document.documentElement.scrollWidth")
        counts = page.evaluate(
            "['script', 'img', 'iframe', 'object'].map((n) => document.querySelectorAll(n).length)"
        )
    assert said == []
    assert asked == [files[name].resolve().as_uri()]
    assert counts == [1, 0, 0, 0], "text of the source became an element"
    assert wide <= width, "the page is wider than the screen"
    assert unfolded <= width, "what is unfolded is wider than the screen"


@every_page
@pytest.mark.parametrize("scheme", DRIVER.SCHEMES)
@pytest.mark.parametrize("width", DRIVER.WIDTHS)
def test_axe_finds_nothing_serious(
    running: Any, files: dict[str, Path], name: str, scheme: str, width: int
) -> None:
    script = DRIVER.axe(ROOT / ".cache")
    if script is None:
        pytest.skip("axe-core could not be fetched from the npm registry")
    with DRIVER.opened(running, files[name], width, color_scheme=scheme) as page:
        page.evaluate("document.querySelectorAll('details').forEach((n) => { n.open = true; })")
        page.evaluate(script)
        found = page.evaluate("axe.run()")
    bad = [
        f"{item['id']}: {node['target']} {node['failureSummary']}"
        for item in found["violations"]
        for node in item["nodes"][:3]
        if item["impact"] in SEVERE
    ]
    assert bad == []
    assert len(found["passes"]) > 10, "axe did not look"


def _shown(page: Any) -> list[str]:
    return page.evaluate("[...document.querySelectorAll('.finding:not([hidden])')].map(n => n.id)")


def test_filters_leave_what_they_name(running: Any, files: dict[str, Path]) -> None:
    with DRIVER.opened(running, files["audit"]) as page:
        everything = _shown(page)
        page.select_option("#filter-severity", "error")
        errors = _shown(page)
        kinds = page.eval_on_selector_all(
            ".finding:not([hidden])", "nodes => nodes.map((n) => n.dataset.severity)"
        )
        page.fill("#search", "no such words")
        nothing = _shown(page)
        page.keyboard.press("Escape")
        again = _shown(page)
    assert 0 < len(errors) < len(everything)
    assert set(kinds) == {"error"}
    assert nothing == []
    assert again == everything


def test_a_deep_link_reaches_a_finding_that_a_filter_hid(
    running: Any, files: dict[str, Path]
) -> None:
    with DRIVER.opened(running, files["audit"]) as page:
        wanted = _shown(page)[-1]
        page.fill("#search", "no such words")
        page.evaluate("(id) => { location.hash = id; }", wanted)
        page.wait_for_function("(id) => document.activeElement.id === id", arg=wanted)
        assert page.locator(f"#{wanted}").is_visible()


def test_a_deep_link_opens_a_folded_picture(running: Any, files: dict[str, Path]) -> None:
    with DRIVER.opened(running, files["audit"]) as page:
        anchors = page.eval_on_selector_all("details.paths", "nodes => nodes.map((n) => n.id)")
        page.evaluate("(id) => { location.hash = id; }", anchors[-1])
        page.wait_for_function("(id) => document.getElementById(id).open", arg=anchors[-1])
        assert page.locator(f"#{anchors[-1]} svg").first.is_visible()


def test_pictures_follow_their_filters(running: Any, files: dict[str, Path]) -> None:
    shown = "[...document.querySelectorAll('.path')].filter((n) => n.offsetParent)"
    with DRIVER.opened(running, files["audit"]) as page:
        page.evaluate("document.querySelectorAll('details').forEach((n) => { n.open = true; })")
        before = page.evaluate(f"{shown}.length")
        page.select_option("#path-capability", "sm120")
        only = page.evaluate(f"{shown}.map((n) => n.dataset.capabilities.split(' '))")
        kinds = page.locator("#path-family option").all_inner_texts()
        page.select_option("#path-family", kinds[1])
        fewer = page.evaluate(f"{shown}.map((n) => n.parentElement.dataset.family)")
    assert 0 < len(only) <= before
    assert all("sm120" in names for names in only)
    assert 0 < len(fewer) < len(only)
    assert set(fewer) == {kinds[1]}


def test_every_finding_and_picture_is_reached_by_keyboard(
    running: Any, files: dict[str, Path]
) -> None:
    with DRIVER.opened(running, files["audit"]) as page:
        wanted = _shown(page)
        focused = []
        for _ in wanted:
            page.keyboard.press("j")
            focused.append(page.evaluate("document.activeElement.id"))
        # The same with nothing but Tab, as without the script.
        links: set[str] = set()
        page.evaluate("document.activeElement.blur()")
        for _ in range(
            page.evaluate("document.querySelectorAll('a, button, summary, [tabindex]').length") + 20
        ):
            page.keyboard.press("Tab")
            links.update(page.evaluate(FOCUSED))
        pictures = page.eval_on_selector_all("details.paths", "nodes => nodes.map((n) => n.id)")
    assert focused == wanted
    assert {f"#{name}" for name in wanted} <= links
    assert set(pictures) <= links


def test_pictures_and_reasons_show_without_the_script(running: Any, files: dict[str, Path]) -> None:
    with DRIVER.opened(running, files["audit"], java_script_enabled=False) as page:
        assert page.locator("svg.picture").first.is_visible()
        assert not page.locator(".js-only").first.is_visible()
        link = page.locator(".matrix td > a").first
        anchor = link.get_attribute("href")
        link.click()
        assert page.locator(str(anchor)).is_visible()


def test_print_hides_what_paper_cannot_do(running: Any, files: dict[str, Path]) -> None:
    with DRIVER.opened(running, files["audit"]) as page:
        page.emulate_media(media="print")
        assert not page.locator(".top").is_visible()
        assert page.locator("#findings").is_visible()


@every_page
def test_screenshots_are_made(
    running: Any, files: dict[str, Path], name: str, tmp_path: Path
) -> None:
    out = Path(os.environ.get("SGL_AUDIT_SCREENSHOTS") or tmp_path)
    made = DRIVER.screenshots(running, files[name], out)
    assert len(made) == 8
    assert all(path.stat().st_size > 5_000 for path in made)


def test_families_are_found_by_search_filters_keys_and_links(
    running: Any, files: dict[str, Path]
) -> None:
    shown = "[...document.querySelectorAll('tr.entry:not([hidden])')]"
    with DRIVER.opened(running, files["families"]) as page:
        everything = page.evaluate(f"{shown}.map((n) => n.id)")
        page.fill("#search", "gptoss")
        found = page.evaluate(f"{shown}.map((n) => n.firstElementChild.innerText)")
        page.select_option("#filter-capability", "sm90")
        one = page.evaluate(f"{shown}.map((n) => n.id)")
        groups = page.locator("details.families").evaluate_all(
            "nodes => nodes.filter((n) => !n.hidden).map((n) => n.id)"
        )
        page.keyboard.press("Escape")
        focused = []
        for _ in everything:
            page.keyboard.press("j")
            focused.append(page.evaluate("document.activeElement.id"))
        page.fill("#search", "no such words")
        page.evaluate("(id) => { location.hash = id; }", everything[-1])
        page.wait_for_function("(id) => document.activeElement.id === id", arg=everything[-1])
        assert page.locator(f"#{everything[-1]}").is_visible()
    assert len(found) == 2
    assert all(name.startswith("GptOss") for name in found)
    assert len(one) == 1
    assert groups == ["families-sm90"]
    assert focused == everything


def test_the_flags_of_a_recommendation_are_reached_by_keyboard(
    running: Any, files: dict[str, Path]
) -> None:
    with DRIVER.opened(running, files["recommend"]) as page:
        wanted = page.eval_on_selector_all("article.flag", "nodes => nodes.map((n) => n.id)")
        focused = []
        for _ in wanted:
            page.keyboard.press("j")
            focused.append(page.evaluate("document.activeElement.id"))
        page.locator("[data-copy]").first.click()
        copied = page.evaluate("getSelection().toString()")
    assert len(wanted) == 3
    assert focused == wanted
    assert copied == "--attention-backend triton --fp4-gemm-backend 'a b'"


def test_arrows_move_in_a_matrix_whose_cells_reach_over_columns(
    running: Any, files: dict[str, Path]
) -> None:
    where = (
        "(({activeElement: a}) => [a.closest('td').cellIndex, a.closest('tr').rowIndex])(document)"
    )
    with DRIVER.opened(running, files["all"]) as page:
        page.evaluate("document.querySelectorAll('details').forEach((n) => { n.open = true; })")
        page.locator(".matrix td > a").first.focus()
        seen = []
        for key in ("ArrowRight", "ArrowDown", "ArrowUp", "ArrowLeft"):
            page.keyboard.press(key)
            seen.append(tuple(page.evaluate(where)))
        wide = page.evaluate(
            "[...document.querySelectorAll('.matrix td')].some((n) => n.colSpan > 1)"
        )
    assert wide
    assert len({row for _, row in seen}) > 1
    assert seen[-1][1] == 1
