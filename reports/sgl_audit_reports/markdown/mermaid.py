"""The chain of one finding as a small Mermaid graph, which GitHub and GitLab draw."""

from __future__ import annotations

from collections.abc import Iterator

from sgl_audit.model.report import Finding
from sgl_audit_reports.common.text import clipped, visible

_MOST = 6
_LABEL = 72
_CONDITION = 48
_WHEN = " when "
# Mermaid reads these as markup or as its own syntax even within quotes.
_PLAIN = frozenset(" .,/=-_")


def chain_graph(finding: Finding) -> list[str]:
    """The lines of a flowchart, from the option over its decisions to the place of the finding.

    Empty where there are fewer than two places to connect.
    """
    links = [link for link in finding.chain if link.place is not None][:_MOST]
    if len(links) < 2:
        return []
    lines = ["flowchart TD", f'  n0(["{_text(_start(finding))}"])']
    for number, link in enumerate(links, 1):
        what, _, condition = link.text.partition(_WHEN)
        left, right = ("{{", "}}") if number == len(links) else ("[", "]")
        label = f"{_text(clipped(what, _LABEL))}<br/>{_text(_short(str(link.place)))}"
        lines.append(f'  n{number}{left}"{label}"{right}')
        lines.append(f"  n{number - 1} -->{_edge(condition)} n{number}")
    return lines


def _start(finding: Finding) -> str:
    where = ", ".join(finding.capabilities[:3])
    more = f" and {len(finding.capabilities) - 3} more" if len(finding.capabilities) > 3 else ""
    return f"{finding.option or finding.rule} on {where}{more}"


def _edge(condition: str) -> str:
    return f'|"{_text(clipped(condition, _CONDITION))}"|' if condition else ""


def _short(place: str) -> str:
    # The last two parts tell a file from its namesakes; the whole path stands below.
    return "/".join(place.split("/")[-2:])


def _text(text: str) -> str:
    return "".join(_characters(visible(text)))


def _characters(text: str) -> Iterator[str]:
    for character in text:
        plain = character.isalnum() or character in _PLAIN
        yield character if plain else f"#{ord(character)};"
