"""The verdicts of one resolved and followed launch."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from sgl_audit.audit.verdicts.calls import decisive, grounds_of
from sgl_audit.audit.verdicts.describing import launch_facts, values_of
from sgl_audit.audit.verdicts.effective import (
    STAGES,
    UNDECIDED,
    choice_of,
    effective,
    option_of,
)
from sgl_audit.audit.verdicts.knowledge import Knowledge
from sgl_audit.kernels.advisories import matching
from sgl_audit.model.kernels import AdvisoryHit, Certainty, HitState, Outcome
from sgl_audit.model.paths import KernelCall, LayerPath, Site
from sgl_audit.model.resolution import Refusal, Resolution
from sgl_audit.model.verdict import ORDER, Ground, GroundKind, ValueVerdict, Verdict

SAYS = {
    Outcome.WORKS: Verdict.WORKS,
    Outcome.SLOW: Verdict.SLOW,
    Outcome.FAILS: Verdict.NO_KERNEL,
    Outcome.WRONG: Verdict.WRONG,
}
PARTS = {
    "quantization": "quantization",
    "moe_method": "moe_runner_backend",
    "expert_method": "moe_runner_backend",
    "attention": "attention_backend",
    "loader": "quantization",
}

# Names of what turns quantized weights into plain ones.
EXPANDS = re.compile(r"upcast|dequant")
# Choices that are named as the library is: what is said of them holds wherever it is called.
LIBRARIES = ("deep_gemm",)
Choices = Mapping[str, Collection[str]]


def judge(
    resolution: Resolution, knowledge: Knowledge, choices: Choices
) -> tuple[ValueVerdict, ...]:
    """Verdicts on the values that decide which kernels a launch runs, refusals first.

    Args:
        resolution: resolved with its layers followed.
        choices: the choices of each option.
    """
    refused = tuple(_refusals(resolution))
    values = values_of(resolution)
    facts = launch_facts(resolution, knowledge.tree)
    judged = [
        _path(path, resolution, values, facts, knowledge, choices)
        for path in resolution.paths
        # What beside the back end starts no kernel of weight (norms, gates) decides nothing.
        if path.site is not Site.OTHER or any(map(decisive, path.calls))
    ]
    judged += _switches(resolution, values, facts, knowledge)
    return (*refused, *_merged(judged))


def _refusals(resolution: Resolution) -> Iterator[ValueVerdict]:
    found = [resolution.rejection] if resolution.rejection else list(resolution.late or ())
    for refusal in found:
        option = PARTS.get(refusal.stage, "")
        values = values_of(resolution)
        yield ValueVerdict(
            option,
            values.get(option, ""),
            resolution.launch.capability,
            Verdict.REFUSED,
            (Ground(GroundKind.OWN, Verdict.REFUSED, refused_text(refusal), refusal.place),),
        )


def refused_text(refusal: Refusal) -> str:
    """A refusal in one line."""
    when = "at start" if refusal.stage == "resolution" else "once loading starts"
    return f"refused {when}: {refusal.type}: {' '.join(refusal.message.split())[:240]}"


def _path(
    path: LayerPath,
    resolution: Resolution,
    values: Mapping[str, str],
    facts: Mapping[str, str | None],
    knowledge: Knowledge,
    choices: Choices,
) -> ValueVerdict:
    capability = resolution.launch.capability
    option = option_of(path, values)
    value = path.layer if path.site in STAGES else values.get(option, "")
    among = choices.get(option) or (
        choices.get("attention_backend", ()) if path.site in STAGES else ()
    )
    real = effective(path, value, among)
    grounds: list[Ground] = []
    if path.refused:
        grounds.append(Ground(GroundKind.OWN, Verdict.REFUSED, path.refused, path.refused_place))
    asked = Asked(option, capability, facts, knowledge)
    grounds += [*asked.hits(value), *(asked.hits(real) if real != value else ())]
    for call in path.calls:
        grounds += _of_call(call, asked, (value, real), among)
    grounds += [expanded(call) for call in path.prepares if EXPANDS.search(call.function)]
    unseen = not path.refused and not any(map(decisive, path.calls))
    # Where nothing of the kernel itself was seen, what advisories say of the back end still counts.
    said = any(ground.kind is GroundKind.ADVISORY for ground in grounds)
    if not unseen and not path.refused and unmet(path, real):
        # Kernels before it were met: what is known of those is not known of it.
        unseen, said = True, bool(asked.hits(real))
    if unseen and not (said and path.method):
        grounds.append(_untold(path))
    verdict = max((g.says for g in grounds), key=ORDER.index, default=Verdict.UNKNOWN)
    return ValueVerdict(
        option,
        value,
        capability,
        verdict,
        tuple(sorted(_once(grounds), key=lambda g: -ORDER.index(g.says))),
        path.site,
        real if real != value else "",
        undecided=value in UNDECIDED and option not in STAGES.values(),
    )


def expanded(call: KernelCall) -> Ground:
    """Weights that are no longer quantized once they are loaded."""
    text = f"the weights are expanded while they load ({call.function}): more memory, no gain"
    return Ground(GroundKind.OWN, Verdict.SLOW, text, call.place, "", call)


def _once(grounds: list[Ground]) -> list[Ground]:
    """Grounds of which no two say the same."""
    found: dict[tuple[str, Verdict], Ground] = {}
    for ground in grounds:
        found.setdefault((ground.text, ground.says), ground)
    return list(found.values())


def _of_call(
    call: KernelCall, asked: Asked, known: tuple[str, ...], among: Collection[str]
) -> list[Ground]:
    """What is known of one call, from its library and from what is said of the choice it is."""
    found = list(grounds_of(call, asked.capability, asked.knowledge))
    if not decisive(call):
        return [ground for ground in found if not ground.says.good]
    choice = choice_of(call, among or LIBRARIES)
    said = asked.hits(choice or known[0])
    if choice and choice not in known:
        found += [replace(ground, call=call) for ground in said]
    if not found and not said:
        found.append(_open(call, asked))
    if call.when:
        where = f" (where {' and '.join(call.when)[:160]})"
        found = [g if g.says.good else replace(g, text=g.text + where) for g in found]
    return found


def _open(call: KernelCall, asked: Asked) -> Ground:
    if call.library == "flashinfer" and asked.knowledge.flashinfer is None:
        why = f"FlashInfer is not read: {asked.knowledge.missing}"
    elif call.library == "flashinfer":
        why = f"FlashInfer {asked.knowledge.version} does not say where it works"
    else:
        why = f"{call.library} is prebuilt or not read, and no advisory speaks of it"
    text = f"nothing says that {call.function} has a kernel for {asked.capability}: {why}"
    return Ground(GroundKind.LIBRARY, Verdict.UNKNOWN, text, call.place, call.library, call)


def unmet(path: LayerPath, value: str) -> bool:
    """Whether a choice is named as its library is, and no call of that library was met."""
    return value in LIBRARIES and all(call.library != value for call in path.calls)


def _untold(path: LayerPath) -> Ground:
    if path.gaps:
        text = f"{path.method or 'the layer'} could not be followed to a kernel: {path.gaps[0]}"
    else:
        text = f"no call of {path.method} into a kernel library was found"
    return Ground(GroundKind.OWN, Verdict.UNKNOWN, text, path.place)


@dataclass(slots=True)
class Asked:
    """An option on a capability, and what advisories say of its values."""

    option: str
    capability: str
    facts: Mapping[str, str | None]
    knowledge: Knowledge
    _said: dict[str, tuple[Ground, ...]] = field(default_factory=dict)

    def hits(self, value: str) -> tuple[Ground, ...]:
        """What advisories say of one value."""
        if not value:
            return ()
        if not self.option:
            return self._of_any(value)
        if value not in self._said:
            found = matching(
                self.knowledge.advisories,
                option=self.option,
                value=value,
                capability=self.capability,
                pins=self.knowledge.pins,
                sglang_version=self.knowledge.info.distribution.version,
                facts=self.facts,
            )
            grounds = (advisory_ground(hit) for hit in found if self.knowledge.concerns(hit))
            self._said[value] = tuple(ground for ground in grounds if ground is not None)
        return self._said[value]

    def _of_any(self, value: str) -> tuple[Ground, ...]:
        """What is said of a library by its name, whichever option names it."""
        if value not in LIBRARIES:
            return ()
        named = {
            entry.option
            for advisory in self.knowledge.advisories
            for entry in advisory.values
            if entry.value == value and not entry.when
        }
        found: dict[Ground, None] = {}
        for option in sorted(named):
            other = Asked(option, self.capability, self.facts, self.knowledge)
            found.update(dict.fromkeys(other.hits(value)))
        return tuple(found)


def advisory_ground(hit: AdvisoryHit) -> Ground | None:
    """What an advisory says; one that may apply says no more than that it is not known."""
    if hit.state is HitState.OUTSIDE:
        return None
    advisory = hit.advisory
    says = SAYS[hit.outcome]
    text = advisory.title if says is Verdict.WORKS else f"{advisory.title}: {advisory.effect}"
    doubtful = hit.state is HitState.MAY_APPLY
    weak = advisory.certainty is Certainty.LOW and says is Verdict.NO_KERNEL
    if doubtful and says.good:
        return None
    if doubtful or weak:
        why = hit.reason if doubtful else "one report only"
        return Ground(GroundKind.ADVISORY, Verdict.UNKNOWN, f"{text} ({why})", None, advisory.id)
    return Ground(GroundKind.ADVISORY, says, text, None, advisory.id)


def _switches(
    resolution: Resolution,
    values: Mapping[str, str],
    facts: Mapping[str, str | None],
    knowledge: Knowledge,
) -> Iterator[ValueVerdict]:
    """Switches that are on and of which an advisory speaks."""
    named = {entry.option for advisory in knowledge.advisories for entry in advisory.values}
    for option in sorted(named):
        if values.get(option) != "true":
            continue
        capability = resolution.launch.capability
        grounds = Asked(option, capability, facts, knowledge).hits("true")
        bad = [ground for ground in grounds if not ground.says.good]
        if bad:
            verdict = max((ground.says for ground in bad), key=ORDER.index)
            yield ValueVerdict(option, "true", capability, verdict, grounds)


def _merged(judged: list[ValueVerdict]) -> Iterator[ValueVerdict]:
    """One row for each option, value and part of the model, what is the same once."""
    seen: dict[tuple[str, str, str, Verdict], ValueVerdict] = {}
    for item in judged:
        if not item.option and item.verdict.good:
            continue
        key = (item.option or str(item.site), item.value, item.effective, item.verdict)
        seen.setdefault(key, item)
    yield from seen.values()
