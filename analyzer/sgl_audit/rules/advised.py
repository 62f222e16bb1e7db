"""What advisories say of values that this tree comes to, or admits, on a capability."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sgl_audit.kernels.advisory_match import matching
from sgl_audit.launch.quantization import describe_quantization
from sgl_audit.model.facts import Scalar
from sgl_audit.model.kernels import Advisory, AdvisoryHit, Certainty, HitState, Outcome
from sgl_audit.model.report import Severity
from sgl_audit.rules.atoms import vocabulary
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.ways import Literal, demands

Known = dict[str, str | None]
BAD = (Outcome.FAILS, Outcome.WRONG)
# What a checkpoint decides and a rule can name; the rest needs a launch, which `resolve` follows.
OF_MODEL = frozenset({"quantization", "architecture"})
_CLASSES = (
    (re.compile("nv_?fp4", re.IGNORECASE), "NVFP4"),
    (re.compile("mx_?fp4", re.IGNORECASE), "MXFP4"),
    (re.compile("mx_?fp8", re.IGNORECASE), "MXFP8"),
    (re.compile("w4a_?fp8", re.IGNORECASE), "W4AFP8"),
    (re.compile("fp4", re.IGNORECASE), "NVFP4"),
    (re.compile("fp8", re.IGNORECASE), "FP8"),
    (re.compile("unquant", re.IGNORECASE), "none"),
)


def pins(context: RuleContext) -> dict[str, str | None]:
    """Distribution name -> the version that the tree pins."""
    return context.once(_pins)


def _pins(context: RuleContext) -> dict[str, str | None]:
    distribution = context.tree.info.distribution
    return {pin.name: distribution.pin(pin.name) for pin in distribution.requires}


def hits(
    context: RuleContext, option: str, value: str, capability: str, known: Known
) -> list[AdvisoryHit]:
    """The advisories on a value that may apply, bad or slow ones only, the worst first.

    Those that rest on more than the model and the versions are left out: nothing here says that
    a launch is so.
    """
    found = _matching(context, option, value, capability, known)
    works = {hit.advisory.library for hit in found if hit.outcome is Outcome.WORKS}
    return [
        hit
        for hit in found
        if hit.outcome is not Outcome.WORKS and _told(hit) and not _either(hit, works)
    ]


def _either(hit: AdvisoryHit, works: set[str]) -> bool:
    """Whether only an unpinned version tells a bad report from a good one."""
    known = "library version unknown" not in hit.reason
    return not known and hit.advisory.library in works


def _told(hit: AdvisoryHit) -> bool:
    # What is slow on every release is how the hardware is, not a fault of this one.
    lasting = hit.outcome is Outcome.SLOW and not hit.advisory.versions
    return not lasting and {name for name, _ in hit.value.when} <= OF_MODEL


def vouched(
    context: RuleContext, option: str, values: Iterable[str], capability: str, known: Known
) -> list[str]:
    """The values that an advisory says work there and none speaks against, the surest first."""
    found: list[tuple[int, str]] = []
    for value in values:
        every = _matching(context, option, value, capability, known)
        good = [hit for hit in every if hit.outcome is Outcome.WORKS]
        bad = [hit for hit in every if hit.outcome in BAD and _told(hit)]
        if good and not bad:
            found.append((min(map(_doubt, good)), value))
    return [value for _, value in sorted(found, key=lambda item: item[0])]


def _doubt(hit: AdvisoryHit) -> int:
    unsure = hit.state is not HitState.APPLIES
    return list(Certainty).index(hit.advisory.certainty) + unsure


def _matching(
    context: RuleContext, option: str, value: str, capability: str, known: Known
) -> list[AdvisoryHit]:
    named = context.once(_by_value)
    spoken = [*named.get(value, ()), *named.get("*", ())]
    if not spoken:
        return []
    every = matching(
        spoken,
        option=option,
        value=value,
        capability=capability,
        pins=pins(context),
        sglang_version=context.tree.info.distribution.version,
        facts=known,
    )
    return [hit for hit in every if hit.state is not HitState.OUTSIDE]


def _by_value(context: RuleContext) -> dict[str, list[Advisory]]:
    """Advisories by the values they name, "*" among them."""
    found: dict[str, list[Advisory]] = {}
    for advisory in context.advisories:
        for value in dict.fromkeys(entry.value for entry in advisory.values):
            found.setdefault(value, []).append(advisory)
    return found


def label_of(quantization: str) -> str:
    """How advisories call a quantization that the source calls by its method."""
    given = {"quantization_config": {"quant_method": quantization}}
    return describe_quantization(given) or quantization.upper()


def known_of(context: RuleContext, literals: Iterable[Literal], function: str = "") -> Known:
    """What the tests around a place, and the class it stands in, say of the model."""
    asked = demands(literals, vocabulary(context))
    known: Known = {}
    quantization = asked.get("quantization")
    if quantization is not None and quantization.allowed:
        known["quantization"] = _one(quantization.allowed - quantization.excluded, True)
    architecture = asked.get("model_arch")
    if architecture is not None and architecture.allowed:
        known["architecture"] = _one(architecture.allowed - architecture.excluded, False)
    if "quantization" not in known:
        label = next((name for found, name in _CLASSES if found.search(function)), None)
        known["quantization"] = label
    return known


def _one(values: frozenset[Scalar], quantization: bool) -> str | None:
    if len(values) != 1:
        return None
    value = next(iter(values))
    if value is None:
        return "none"
    return label_of(str(value)) if quantization else str(value)


def severity_of(hit: AdvisoryHit, certain: bool) -> Severity:
    """What follows: wrong results are the worst, and a crash is an error where it is sure.

    A warning where the way there, the version or the report is less than sure; a note where
    there is one doubtful report, or where it is slow.
    """
    certainty = hit.advisory.certainty
    if hit.outcome is Outcome.SLOW or certainty is Certainty.LOW:
        return Severity.NOTE
    sure = certain and hit.state is HitState.APPLIES
    silent = hit.outcome is Outcome.WRONG
    return Severity.ERROR if sure and (silent or certainty is Certainty.HIGH) else Severity.WARNING


def said_of(hit: AdvisoryHit) -> str:
    """What an advisory says, with how sure it is and whom it has it from."""
    advisory = hit.advisory
    sources = ", ".join(advisory.sources[:2])
    return (
        f"{advisory.title} (advisory {advisory.id}, certainty {advisory.certainty}; "
        f"{hit.reason}; {sources})"
    )


def only_for(hit: AdvisoryHit, known: Known) -> str:
    """What the model must be besides, where that is not known."""
    open_ = [item for item in hit.value.when if known.get(item[0]) is None]
    return " and ".join(f"{name} is {' or '.join(texts)}" for name, texts in open_)
