"""Links lead somewhere, commands are ones that there are, and what is generated is current."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from sgl_audit.cli.root import COMMANDS, root

from .pages import PAGES, ROOT, name_of, script, without_code

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_COMMAND = re.compile(r"^\$ (sgl-audit(?:.*\\\n)*.*)$", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """The names that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    kept = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in kept}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for link in _LINK.findall(without_code(page.read_text("utf-8"))):
        if link.startswith(("https://", "http://")):
            continue
        target, _, anchor = link.partition("#")
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), link
        assert path.is_relative_to(ROOT), link
        if anchor:
            assert anchor in anchors(path), link


def test_every_page_is_reached_from_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text("utf-8")
    linked = {link.partition("#")[0] for link in _LINK.findall(index)}
    missing = [page.name for page in (ROOT / "docs").glob("*.md") if page.name not in linked]
    assert missing == ["index.md"]


def commands() -> list[object]:
    """Every command line of the pages."""
    return [
        pytest.param(line.replace("\\\n", " "), id=f"{name_of(page)}-{number}")
        for page in PAGES
        for number, line in enumerate(_COMMAND.findall(page.read_text("utf-8")))
    ]


@pytest.mark.parametrize("line", commands())
def test_commands_parse(line: str) -> None:
    # What is in brackets may be left out.
    line = re.sub(r"\[[^\]]*\]", "", re.split(r"\s[|;>#]\s|;\s", line)[0])
    words = [word for word in shlex.split(line, comments=True)[1:] if word != "..."]
    context = click.Context(root, info_name="sgl-audit")
    if "--arch" in words and "sm999" in words:
        pytest.skip("an example of wrong input")
    name, command, rest = root.resolve_command(context, words)
    while isinstance(command, click.Group):
        name, command, rest = command.resolve_command(context, rest)
    assert command is not None
    with command.make_context(name, rest, parent=context):
        pass


def test_every_command_has_an_example() -> None:
    lines = [line for page in PAGES for line in _COMMAND.findall(page.read_text("utf-8"))]
    named = {line.split()[1] for line in lines} | {"audit"}
    assert set(COMMANDS) <= named


def test_the_rule_pages_are_current() -> None:
    pages = script("rule_pages")
    assert pages.differing(pages.pages()) == [], "run scripts/rule_pages.py"


DOC_EXAMPLES = script("doc_examples")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the commands of the examples name."""
    made = tmp_path_factory.mktemp("examples")
    DOC_EXAMPLES.prepared(made)
    return made


@pytest.mark.parametrize(
    "example",
    [item for page in DOC_EXAMPLES.PAGES for item in DOC_EXAMPLES.examples(page)],
    ids=lambda item: item.name,
)
def test_the_output_shown_is_real(example: object, folder: Path) -> None:
    command, output = example.command, example.output  # type: ignore[attr-defined]
    assert DOC_EXAMPLES.ran(command, folder) == output, "run scripts/doc_examples.py"
