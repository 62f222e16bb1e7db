"""The plain data that the templates render. Everything here is text, except `CodeLine.markup`."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True, slots=True)
class Link:
    """A place, with the address of its line upstream where that is known."""

    text: str
    url: str | None


@dataclass(frozen=True, slots=True)
class CodeLine:
    """One highlighted source line."""

    number: int
    markup: Markup
    marked: bool


@dataclass(frozen=True, slots=True)
class Badge:
    """A state: symbol, text and a class that colours it."""

    symbol: str
    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Head:
    """What every page begins with."""

    title: str
    source: str
    tool_version: str
    facts: tuple[str, ...]
    sections: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class StandingItem:
    """One line of the verdict: who stands how."""

    badge: Badge
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AdviceItem:
    """Flags to copy."""

    families: str
    where: str
    flags: str
    reasons: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True)
class Tile:
    """One number of the summary."""

    label: str
    value: str
    kind: str


@dataclass(frozen=True, slots=True)
class CellItem:
    """One option on one capability, with links to its findings."""

    text: str
    badge: Badge | None
    notes: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class OptionItem:
    """One row of the option table."""

    option: str
    default: str
    cells: tuple[CellItem, ...]


@dataclass(frozen=True, slots=True)
class WhyItem:
    """Why one choice stands as it does on some capabilities."""

    badge: Badge
    capabilities: str
    why: str
    places: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One choice over the capabilities; `anchor` names its explanation."""

    choice: str
    anchor: str
    cells: tuple[Badge, ...]
    why: tuple[WhyItem, ...]


@dataclass(frozen=True, slots=True)
class MatrixOption:
    """The choices of one option."""

    option: str
    anchor: str
    open: bool
    summary: str
    rows: tuple[MatrixRow, ...]


@dataclass(frozen=True, slots=True)
class ChainItem:
    """One place of a finding's chain."""

    text: str
    place: Link | None
    code: tuple[CodeLine, ...]


@dataclass(frozen=True, slots=True)
class FindingItem:
    """One finding; the data for filters is kept beside what is shown."""

    number: int
    anchor: str
    rule: str
    badge: Badge
    title: str
    message: str
    place: Link
    where: str
    when: str
    option: str
    value: str
    remedy: str
    capabilities: tuple[str, ...]
    chain: tuple[ChainItem, ...]


@dataclass(frozen=True, slots=True)
class FamilyItem:
    """One model family on one capability."""

    family: str
    capability: str
    badge: Badge
    notes: tuple[tuple[int, str], ...]
    values: tuple[str, ...]
    why: str
    place: Link | None


@dataclass(frozen=True, slots=True)
class FamilyGroup:
    """The families on one capability, the worst first."""

    capability: str
    anchor: str
    summary: str
    open: bool
    rows: tuple[FamilyItem, ...]


@dataclass(frozen=True, slots=True)
class FactItem:
    """A named fact with its values."""

    name: str
    note: str
    values: tuple[str, ...]
    place: Link


@dataclass(frozen=True, slots=True)
class AssumptionItem:
    """Something taken as given."""

    name: str
    value: str
    source: str
    decided: str


@dataclass(frozen=True, slots=True)
class GapItem:
    """Something not understood."""

    message: str
    place: Link | None


@dataclass(frozen=True, slots=True)
class AuditPage:
    """The whole audit page."""

    head: Head
    verdict: Badge
    standings: tuple[StandingItem, ...]
    advice: tuple[AdviceItem, ...]
    tiles: tuple[Tile, ...]
    capabilities: tuple[str, ...]
    options: tuple[OptionItem, ...]
    matrix: tuple[MatrixOption, ...]
    legend: tuple[Badge, ...]
    findings: tuple[FindingItem, ...]
    finding_options: tuple[str, ...]
    families: tuple[FamilyGroup, ...]
    choice_lists: tuple[FactItem, ...]
    environment: tuple[FactItem, ...]
    assumptions: tuple[AssumptionItem, ...]
    gaps: tuple[GapItem, ...]
    diagnostics: tuple[GapItem, ...]


@dataclass(frozen=True, slots=True)
class StepItem:
    """One step of a trace."""

    value: str
    what: str
    place: Link | None
    conditions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ValueItem:
    """One resolved value with its trace."""

    name: str
    anchor: str
    value: str
    decided: bool
    acted: bool
    reason: str
    cases: tuple[tuple[str, str], ...]
    steps: tuple[StepItem, ...]


@dataclass(frozen=True, slots=True)
class RefusalItem:
    """One refusal."""

    kind: str
    type: str
    stage: str
    message: str
    when: str
    place: Link | None


@dataclass(frozen=True, slots=True)
class ResolutionItem:
    """One launch on one capability."""

    capability: str
    label: str
    anchor: str
    command: str
    badge: Badge
    reason: str
    refusals: tuple[RefusalItem, ...]
    late_unknown: bool
    verdicts: tuple[tuple[Badge, str, str], ...]
    groups: tuple[tuple[str, tuple[ValueItem, ...]], ...]
    assumptions: tuple[AssumptionItem, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ResolutionPage:
    """One launch on one capability or several."""

    head: Head
    names: tuple[str, ...]
    compared: tuple[tuple[str, tuple[str, ...], bool], ...]
    items: tuple[ResolutionItem, ...]
