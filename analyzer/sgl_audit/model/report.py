"""What reports are made from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sgl_audit.model.facts import Facts, Scalar
from sgl_audit.model.resolution import Assumption, Case
from sgl_audit.model.source import Diagnostic, Place, SourceInfo
from sgl_audit.model.triage import UNTRIAGED, Triage
from sgl_audit.model.verdict import ValueVerdict, Verdict


class Severity(StrEnum):
    """How bad it is: refusal, crash or wrong output; a likely trap; worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Source lines around a place; `first` is the number of the first line."""

    place: Place
    first: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChainLink:
    """One place in the chain of a finding, with what happens there."""

    text: str
    place: Place | None = None
    excerpt: Excerpt | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule applied at one place.

    Attributes:
        rule: "SGA101".
        capabilities: names on which it holds, sorted as in CAPABILITIES.
        option: option concerned, or None.
        value: value concerned, as text, or None.
        when: further condition ("hybrid GDN models"), or "".
        remedy: what to set instead, as flags where possible, or "" when nothing helps.
        fingerprint: stable over line moves.
    """

    rule: str
    severity: Severity
    title: str
    message: str
    capabilities: tuple[str, ...]
    place: Place
    option: str | None = None
    value: str | None = None
    when: str = ""
    remedy: str = ""
    chain: tuple[ChainLink, ...] = ()
    fingerprint: str = ""


class ChoiceState(StrEnum):
    """What a capability makes of one choice."""

    DEFAULT = "default"
    AUTOMATIC = "automatic"
    FLAG = "by flag only"
    REFUSED = "refused"
    CONDITIONAL = "refused under a condition"
    UNREACHABLE = "reachable nowhere"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ChoiceCell:
    """One choice of one option on one capability, and why.

    Attributes:
        verdict: what is known of the choice whatever the model; None where nothing speaks of it.
        grounds: what that rests on, one line each.
    """

    option: str
    choice: Scalar
    capability: str
    state: ChoiceState
    why: str = ""
    places: tuple[Place, ...] = ()
    verdict: Verdict | None = None
    grounds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OptionBehaviour:
    """What one option is on one capability with nothing set.

    Attributes:
        default: the declared default, as text.
        becomes: cases under conditions; one case with guard "always" where nothing else matters.
        undecided: True where nobody decides and the default (`auto`) survives to run time.
        why: one line for the reader.
    """

    option: str
    capability: str
    default: str
    becomes: tuple[Case, ...]
    undecided: bool = False
    why: str = ""
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class FamilyRow:
    """One model family on one capability with nothing set.

    Attributes:
        family: how the family is named ("Qwen3_5MoeForConditionalGeneration NVFP4").
        group: what the first screen calls it together with its like ("NVFP4 MoE"), or "".
        findings: fingerprints of the findings that hold for this family with nothing set.
        values: option name -> resolved text, in report order.
        outcome: "ok", "refused" or "unknown".
        why: refusal or reason.
        verdicts: what is known of the values that decide its kernels; empty where its layers were
            not followed.
    """

    family: str
    architecture: str
    quantization: str
    capability: str
    outcome: str
    values: tuple[tuple[str, str], ...] = ()
    why: str = ""
    place: Place | None = None
    group: str = ""
    findings: tuple[str, ...] = ()
    verdicts: tuple[ValueVerdict, ...] = ()


@dataclass(frozen=True, slots=True)
class Coverage:
    """The honesty numbers: understood / total."""

    gates_understood: int
    gates_total: int
    decisions_understood: int
    decisions_total: int
    not_understood: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Advice:
    """The flags to pass on one capability for one family, with the reason of each.

    Attributes:
        family: a `FamilyRow.family`, or a group of them.
        flags: what to add to the command; empty where nothing is needed or nothing helps.
        safe: True where the family works with these flags (with none: by default), False where
            it does not even so, None where that is not known.
    """

    capability: str
    family: str
    flags: tuple[str, ...]
    reasons: tuple[str, ...] = ()
    safe: bool | None = None


@dataclass(frozen=True, slots=True)
class Audit:
    """The whole answer of one audit."""

    source: SourceInfo
    tool_version: str
    capabilities: tuple[str, ...]
    facts: Facts
    behaviours: tuple[OptionBehaviour, ...]
    cells: tuple[ChoiceCell, ...]
    families: tuple[FamilyRow, ...]
    findings: tuple[Finding, ...]
    advice: tuple[Advice, ...]
    assumptions: tuple[Assumption, ...]
    coverage: Coverage
    diagnostics: tuple[Diagnostic, ...] = ()
    triage: Triage = UNTRIAGED


@dataclass(frozen=True, slots=True)
class ShowRow:
    """One row of a section, with the place it comes from."""

    cells: tuple[str, ...]
    place: Place | None = None
    excerpt: Excerpt | None = None


@dataclass(frozen=True, slots=True)
class ShowSection:
    """One part of a page: rows under a heading, which are places of the source without columns.

    Attributes:
        empty: what is said where there are no rows.
        first: how many rows a first look needs, or None for all of them.
    """

    heading: str
    columns: tuple[str, ...] = ()
    rows: tuple[ShowRow, ...] = ()
    empty: str = ""
    first: int | None = None


@dataclass(frozen=True, slots=True)
class ShowPage:
    """Everything about one name.

    Attributes:
        name: "moe_runner_backend".
        kind: "option", "choice", "gate", "enum", "environment variable".
        summary: one line, or "".
        place: where it is defined, or None.
    """

    name: str
    kind: str
    summary: str
    sections: tuple[ShowSection, ...]
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class RuleExample:
    """A mini-tree that a rule accepts (`valid`) or reports: file path and text, in order."""

    files: tuple[tuple[str, str], ...]
    valid: bool = False


@dataclass(frozen=True, slots=True)
class RuleDoc:
    """What a rule says of itself. `description` is its docstring, dedented."""

    id: str
    severity: Severity
    title: str
    description: str = ""
    examples: tuple[RuleExample, ...] = ()
