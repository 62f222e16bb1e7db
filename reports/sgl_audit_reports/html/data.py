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
class Label:
    """One line of text in a picture."""

    x: int
    y: int
    text: str
    strong: bool


@dataclass(frozen=True, slots=True)
class Box:
    """One box of a picture; `way` draws it strong or faint, `full` is what was cut."""

    x: int
    y: int
    width: int
    height: int
    kind: str
    way: str
    labels: tuple[Label, ...]
    full: str
    url: str | None
    groups: str


@dataclass(frozen=True, slots=True)
class Line:
    """One way between two boxes: its line with the head of its arrow, as path data."""

    shape: str
    way: str
    groups: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A layered picture, laid out."""

    width: int
    height: int
    columns: tuple[tuple[int, str], ...]
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class PathItem:
    """The way of one option on capabilities that share it, in one picture and in words.

    Attributes:
        said: the picture as a sentence, for who cannot see it.
        steps: what is taken, in order, as words with places.
        left_out: what the picture leaves out, or "".
    """

    anchor: str
    where: str
    capabilities: tuple[str, ...]
    said: str
    picture: Picture
    steps: tuple[tuple[str, Link | None], ...]
    left_out: str


@dataclass(frozen=True, slots=True)
class PathGroup:
    """The ways of one option."""

    option: str
    anchor: str
    family: str
    summary: str
    badge: Badge | None
    items: tuple[PathItem, ...]


@dataclass(frozen=True, slots=True)
class StandingItem:
    """One line of the verdict: who stands how. `everything` names what `parts` shorten."""

    badge: Badge
    parts: tuple[str, ...]
    everything: tuple[str, ...]


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
    """One row of the option table; `path` is the anchor of its pictures, or "". Cells reach over
    as many capabilities as stand beside them."""

    option: str
    path: str
    important: bool
    default: str
    cells: tuple[tuple[CellItem, int], ...]


@dataclass(frozen=True, slots=True)
class WhyItem:
    """Why one choice stands as it does on some capabilities."""

    badge: Badge
    capabilities: str
    why: str
    places: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One choice over the capabilities; `anchor` names its explanation.

    Attributes:
        cells: what stands in the row, and over how many capabilities each reaches.
    """

    choice: str
    anchor: str
    cells: tuple[tuple[Badge, int], ...]
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
    """One model family on one capability.

    Attributes:
        faults: values that are known not to work, each with the reason.
        flags: what to add, or "".
    """

    family: str
    capability: str
    badge: Badge
    notes: tuple[tuple[int, str], ...]
    values: tuple[str, ...]
    faults: tuple[tuple[Badge, str, str], ...]
    why: str
    place: Link | None
    flags: str
    anchor: str


@dataclass(frozen=True, slots=True)
class FamilyGroup:
    """The families on one capability, the worst first."""

    capability: str
    anchor: str
    summary: str
    open: bool
    rows: tuple[FamilyItem, ...]


@dataclass(frozen=True, slots=True)
class FamiliesPage:
    """Model families with nothing set: the first screen of an audit, and every row."""

    head: Head
    verdict: Badge
    standings: tuple[StandingItem, ...]
    advice: tuple[AdviceItem, ...]
    capabilities: tuple[str, ...]
    kinds: tuple[str, ...]
    families: tuple[FamilyGroup, ...]
    assumptions: tuple[AssumptionItem, ...]
    diagnostics: tuple[GapItem, ...]


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
    paths: tuple[PathGroup, ...]
    undrawn: int
    path_families: tuple[str, ...]
    path_quantizations: tuple[tuple[str, str], ...]
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
    picture: Picture | None
    reason: str
    cases: tuple[tuple[str, str], ...]
    steps: tuple[StepItem, ...]


@dataclass(frozen=True, slots=True)
class RefusalItem:
    """One refusal; `times` counts those that differ in nothing but their condition."""

    kind: str
    perhaps: bool
    times: int
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
class FlagItem:
    """One flag of a recommendation: what happens without it, its cost, and what else there is."""

    words: str
    reason: str
    place: Link | None
    cost: str
    others: tuple[tuple[Badge, str], ...]


@dataclass(frozen=True, slots=True)
class VerdictItem:
    """What is known of one value, and on what it rests."""

    badge: Badge
    subject: str
    rests: str
    why: str
    place: Link | None


@dataclass(frozen=True, slots=True)
class RecommendationItem:
    """What to add on one capability; `copy` is the line, `after` what becomes of the launch."""

    anchor: str
    capability: str
    label: str
    badge: Badge
    given: str
    before: Badge
    copy: str
    said: str
    flags: tuple[FlagItem, ...]
    after: tuple[VerdictItem, ...]
    remaining: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecommendationPage:
    """Recommendations for one launch."""

    head: Head
    command: str
    items: tuple[RecommendationItem, ...]


@dataclass(frozen=True, slots=True)
class ResolutionPage:
    """One launch on one capability or several."""

    head: Head
    names: tuple[str, ...]
    compared: tuple[tuple[str, tuple[str, ...], bool], ...]
    items: tuple[ResolutionItem, ...]
