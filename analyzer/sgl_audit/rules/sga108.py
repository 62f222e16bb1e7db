"""SGA108: allow-list that excludes the default."""

from __future__ import annotations

from collections.abc import Iterator

from sgl_audit.model.guard import text_of
from sgl_audit.model.report import Finding, Severity
from sgl_audit.rules.allowlists import listed_by, other_tests
from sgl_audit.rules.atoms import vocabulary
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.choosing import Selection, selections
from sgl_audit.rules.families import nvidia
from sgl_audit.rules.findings import finding, link
from sgl_audit.rules.models import specific
from sgl_audit.rules.options import flag_of
from sgl_audit.rules.ordering import comes_first
from sgl_audit.rules.reach import FROM_MODEL, Reach, reach_of
from sgl_audit.rules.refusing import Refusal, refusals, refused, refusing_ways, ways_out
from sgl_audit.rules.ways import Literal, Way, possible, subject_of, ways
from sgl_audit.rules.wording import conditions, one_of, several, shortened

_ARGS = """
ATTENTION_CHOICES = ["triton", "flashinfer", "fa3"]
SINK_BACKENDS = ["triton", "fa3"]


class ServerArgs:
    attention_backend: str = None
    enable_sinks: bool = False

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--attention-backend", choices=ATTENTION_CHOICES)
        parser.add_argument("--enable-sinks", action="store_true")

    def __post_init__(self):
        self._handle_attention()
        self._check_sinks()

    def _handle_attention(self):
        if self.attention_backend is None:
            self.attention_backend = {chosen}

    def _check_sinks(self):
        if self.enable_sinks:
            if self.attention_backend not in SINK_BACKENDS:
                raise ValueError("sinks need another attention backend")
"""


class AllowListWithoutDefault(Rule):
    """A list of what is allowed lacks the value that the option has by itself.

    *What it does*
        Finds refusals of everything that is not in a list of two values or
        more, whatever the capability, and reports values that the tree picks by
        itself before it gets there and that the list lacks.

    *Why it is bad*
        Whoever turns on the feature, or loads the model, is refused until a
        second flag is passed that has nothing to do with it at first sight.

    *Known limits*
        Only where the order of the two places is known: in one function, or in
        two methods that one method calls in turn. Where the tree fits the value
        to the list first, nothing is reported.

    *What to do instead*
        Pass one of the values in the list.

    *Seen in*
        GPT-OSS with its attention list in 0.5.1 (sgl-project/sglang#9140).
    """

    id = "SGA108"
    title = "allow-list that excludes the default"
    severity = Severity.WARNING
    INVALID = ({"sglang/srt/server_args.py": _ARGS.format(chosen='"flashinfer"')},)
    VALID = ({"sglang/srt/server_args.py": _ARGS.format(chosen='"triton"')},)

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for refusal in refusals(context):
            if refusal.by_machine or refusal.option.name in FROM_MODEL:
                continue
            listed = listed_by(context, refusal)
            if not listed:
                continue
            yield from self._narrow(context, refusal, listed)
            for selection in selections(context):
                same = selection.option.name == refusal.option.name
                if same and comes_first(context, selection, refusal):
                    met = {
                        capability: way
                        for capability in context.capabilities
                        if (way := _meet(context, selection, refusal, capability)) is not None
                    }
                    if met:
                        yield self._report(context, selection, refusal, met)

    def _narrow(
        self, context: RuleContext, refusal: Refusal, listed: list[str]
    ) -> Iterator[Finding]:
        """Report lists of which a capability leaves one value or none."""
        option, rejection = refusal.option, refusal.rejection
        rest = other_tests(context, refusal, context.capabilities[0])
        if reach_of(context, rest) > Reach.MODEL or not option.name.endswith("backend"):
            return
        left = {
            capability: [v for v in listed if not refused(context, option, v, capability)]
            for capability in nvidia(context.capabilities)
        }
        groups: dict[str, list[str]] = {}
        for capability, values in left.items():
            if len(values) < 2 and len(listed) - len(values) > 1:
                groups.setdefault("".join(values), []).append(capability)
        for usable, names in groups.items():
            yield finding(
                self,
                capabilities=names,
                place=rejection.place,
                function=rejection.function,
                line=rejection.excerpt + usable,
                option=option.name,
                value=usable or None,
                message=f"of the allowed {several(listed, 9)} other refusals leave "
                f"{usable or 'none'} on these capabilities",
                when=conditions(rest),
                remedy=flag_of(option, usable) if usable else "",
                chain=(link(context, f"refused when {text_of(rejection.guard)}", rejection.place),),
                severity=Severity.NOTE if usable else Severity.WARNING,
            )

    def _report(
        self, context: RuleContext, selection: Selection, refusal: Refusal, met: dict[str, Way]
    ) -> Finding:
        option, rejection = selection.option, refusal.rejection
        capability, way = next(iter(met.items()))
        out, flag = ways_out(context, refusal, capability), flag_of(option)
        asked = reach_of(context, way.literals) > Reach.MODEL
        return finding(
            self,
            capabilities=met,
            place=rejection.place,
            function=rejection.function,
            line=rejection.excerpt,
            option=option.name,
            value=selection.value,
            message=f"{option.name} = {selection.value}, which it has by itself, is not in the "
            f"list of what is allowed: {shortened(rejection.message)}",
            when=conditions(way.literals),
            remedy=f"{flag} {one_of(out)}" if flag and out else "",
            chain=(
                link(
                    context,
                    f"{option.name} becomes {selection.value} when {text_of(selection.guard)}",
                    selection.place,
                ),
                link(context, f"refused when {text_of(rejection.guard)}", rejection.place),
            ),
            severity=Severity.NOTE if asked else Severity.WARNING,
        )


def _meet(
    context: RuleContext, selection: Selection, refusal: Refusal, capability: str
) -> Way | None:
    words = vocabulary(context)
    name = selection.option.name
    for chosen in ways(context, selection.guard, capability):
        own = [lit for lit in chosen.literals if subject_of(lit, words) != name]
        if any(specific(context, lit) for lit in own) or reach_of(context, own) > Reach.MODEL:
            continue
        for way in refusing_ways(context, refusal, selection.value, capability):
            together = (*own, *way.literals)
            if way.certain and possible(together, words) and not _fitted(context, refusal, way):
                return way
    return None


def _fitted(context: RuleContext, refusal: Refusal, way: Way) -> bool:
    """Whether some place gives the option an allowed value where it would be refused."""
    asked = {lit for lit in way.literals if _narrows(context, lit)}
    for other in selections(context):
        if other.option.name == refusal.option.name and not other.declared:
            for capability in context.capabilities:
                for chosen in ways(context, other.guard, capability):
                    if asked and asked & set(chosen.literals):
                        return True
    return False


def _narrows(context: RuleContext, literal: Literal) -> bool:
    return specific(context, literal) or reach_of(context, [literal]) is Reach.FLAG
