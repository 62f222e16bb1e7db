"""What changes between two trees: for everyone, for capabilities, and for somebody's launches."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sgl_audit.model.facts import JsonValue
from sgl_audit.model.resolution import Assumption, Launch, Outcome, Refusal
from sgl_audit.model.source import Diagnostic, Place, SourceInfo


class ChangeKind(StrEnum):
    """How much harm a change can do, the worst first."""

    BREAKING = "breaking"
    BEHAVIOUR = "behaviour"
    ADDITIVE = "additive"
    INFORMATIONAL = "informational"


class ChangeSubject(StrEnum):
    """What a change is about."""

    FAMILY = "model family"
    OPTION = "option"
    FLAG = "flag"
    CHOICE = "choice"
    DEFAULT = "default"
    VALUE = "explicit value"
    GATE = "gate"
    ENVIRONMENT = "environment variable"
    ADVISORY = "advisory"
    KERNEL = "kernel requirement"
    PIN = "pinned version"
    FINDING = "finding"


class Confidence(StrEnum):
    """How sure it is that two names are one thing."""

    CERTAIN = "certain"
    LIKELY = "likely"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two trees.

    Attributes:
        name: what it is about: an option, a flag, a gate, a variable, a library, a family.
        text: what changed, in one line.
        before: the old value as text, "" where there was none.
        after: the new value as text, "" where there is none.
        option: the option concerned, by its new name where it has one.
        capabilities: on which it holds; empty where the capability does not matter.
        families: model families that it concerns; empty where that is not the point.
        groups: what reports call these families together ("NVFP4 MoE").
        remedy: what to write instead, as flags where possible, or "".
        confidence: of a rename, else None; `evidence` says what it rests on.
        backend: whether it concerns the choice of a backend.
        weight: order among changes of one kind, the heaviest first.
    """

    kind: ChangeKind
    subject: ChangeSubject
    name: str
    text: str
    before: str = ""
    after: str = ""
    option: str | None = None
    capabilities: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    old_place: Place | None = None
    new_place: Place | None = None
    remedy: str = ""
    confidence: Confidence | None = None
    evidence: str = ""
    backend: bool = False
    weight: int = 0


@dataclass(frozen=True, slots=True)
class Rename:
    """An option that goes on under another name."""

    old: str
    new: str
    confidence: Confidence
    evidence: str


@dataclass(frozen=True, slots=True)
class FamilyChange:
    """One model family on one capability under both trees.

    Attributes:
        flags: what was added in both, as people had to; empty for nothing set.
        before: outcome under the old tree ("ok", "refused", "unknown"); `after` under the new.
        values: option by its new name, old text, new text: those that differ.
    """

    family: str
    group: str
    capability: str
    flags: tuple[str, ...]
    before: str
    after: str
    why_before: str = ""
    why_after: str = ""
    place_before: Place | None = None
    place_after: Place | None = None
    values: tuple[tuple[str, str, str], ...] = ()


class LaunchVerdict(StrEnum):
    """What an upgrade does to one launch."""

    SAME = "same"
    CHANGES = "changes"
    REFUSED = "refused by the new version"
    WORKS = "works now"
    BOTH_REFUSED = "refused by both"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ValueChange:
    """One value of a launch that both trees have and that differs.

    Attributes:
        group: "options" or "runtime".
        name: by its new name.
        old_name: the name under the old tree where that was another, else "".
        why: what set it in the new tree, where that was traced; `place` is where.
        settled: whether the run time holds the same under both trees all the same.
    """

    group: str
    name: str
    before: JsonValue
    after: JsonValue
    old_name: str = ""
    why: str = ""
    place: Place | None = None
    settled: bool = False


@dataclass(frozen=True, slots=True)
class LoneValue:
    """A value that only one of the trees has. `other_name` is what the other tree calls it."""

    group: str
    name: str
    value: JsonValue
    other_name: str = ""


@dataclass(frozen=True, slots=True)
class OpenValue:
    """A value that could not be compared, and why."""

    group: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class LaunchEnd:
    """How a launch ended under one tree.

    Attributes:
        late: refusals met once loading starts; None where that is not known.
    """

    outcome: Outcome
    refusal: Refusal | None = None
    late: tuple[Refusal, ...] | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """A launch line that the new tree takes.

    Attributes:
        argv: the server's arguments.
        steps: what was done to the line, one sentence each.
        left: values that still differ from what the old tree made of the launch.
    """

    argv: tuple[str, ...]
    steps: tuple[str, ...]
    left: tuple[ValueChange, ...] = ()


@dataclass(frozen=True, slots=True)
class LaunchReview:
    """One launch under both trees.

    Attributes:
        program: what stands before the arguments in the line.
        warnings: known harm of values that only the new tree chooses.
        edit: a line that was tried and found to be accepted, or None.
    """

    launch: Launch
    verdict: LaunchVerdict
    old: LaunchEnd
    new: LaunchEnd
    changes: tuple[ValueChange, ...] = ()
    gone: tuple[LoneValue, ...] = ()
    added: tuple[LoneValue, ...] = ()
    unknown: tuple[OpenValue, ...] = ()
    warnings: tuple[str, ...] = ()
    edit: Edit | None = None
    program: str = ""
    notes: tuple[str, ...] = ()


class UpgradeVerdict(StrEnum):
    """The answer for all given launches together."""

    SAFE = "safe to upgrade"
    WITH_FLAGS = "safe with these flag changes"
    DIFFERENT = "starts, but runs differently"
    NOT_SAFE = "not safe"
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Review:
    """The whole review of an upgrade.

    Attributes:
        same: whether both sources hold the same code.
        trees: whether the trees were compared, not only launches.
        changes: in order of harm.
        verdict: for the launches; None where none were given.
        uncompared: what could not be compared, and why.
    """

    old: SourceInfo
    new: SourceInfo
    tool_version: str
    capabilities: tuple[str, ...]
    same: bool = False
    trees: bool = True
    changes: tuple[Change, ...] = ()
    families: tuple[FamilyChange, ...] = ()
    renames: tuple[Rename, ...] = ()
    launches: tuple[LaunchReview, ...] = ()
    verdict: UpgradeVerdict | None = None
    assumptions: tuple[Assumption, ...] = ()
    uncompared: tuple[Diagnostic, ...] = ()
