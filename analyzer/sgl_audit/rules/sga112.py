"""SGA112: registry or dispatch chain that lacks an admitted pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sgl_audit.model.facts import Option, Rejection, RejectionKind
from sgl_audit.model.guard import atoms
from sgl_audit.model.report import Finding, Severity
from sgl_audit.rules.atoms import vocabulary
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.chains import Chain, chains
from sgl_audit.rules.choosing import in_server
from sgl_audit.rules.findings import finding, link
from sgl_audit.rules.options import UNDECIDED, flag_of, options_by_name
from sgl_audit.rules.registered import registrations
from sgl_audit.rules.sga109 import OLD
from sgl_audit.rules.ways import demands, ways
from sgl_audit.rules.wording import several

# Fewer comparisons are a test for something, not a chain over the values.
_LEAST = 3
_CHAIN = """
class Config:
    def dense_scheme(self, weight, inputs):
        if self._is_int4(weight, inputs):
            return DenseInt4()
        if self._is_fp8(weight, inputs):
            return DenseFp8()
        if self._is_int8(weight, inputs):
            return DenseInt8()
        if self._is_nvfp4(weight, inputs):
            return DenseNvfp4()
        raise NotImplementedError("no scheme")

    def moe_scheme(self, weight, inputs):
        if self._is_int4(weight, inputs):
            return MoeInt4()
        if self._is_fp8(weight, inputs):
            return MoeFp8()
        {more}raise NotImplementedError("no scheme")
"""
_MORE = """if self._is_int8(weight, inputs):
            return MoeInt8()
        if self._is_nvfp4(weight, inputs):
            return MoeNvfp4()
        """
_ARGS = "class ServerArgs:\n    attention_backend: str = None\n"


class MissingPair(Rule):
    """What the command line or a sibling admits has no entry in a registry or chain.

    *What it does*
        Compares the choices of an option with what its registry is filled with
        and with chains that end in `raise`; and chains of checkpoint schemes
        (`_is_...`) with their siblings.

    *Why it is bad*
        The value is accepted and then refused while the model is built, with a
        message about something else.

    *Known limits*
        Registries filled in loops are not seen, and a pair may make no sense.

    *What to do instead*
        Pass another value, or take another release.

    *Seen in*
        NVFP4 experts in compressed-tensors checkpoints with 0.5.4
        (sgl-project/sglang#13639).
    """

    id = "SGA112"
    title = "registry or chain lacks an admitted pair"
    severity = Severity.WARNING
    INVALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/layers/quantization/schemes.py": _CHAIN.format(more=""),
        },
    )
    VALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/layers/quantization/schemes.py": _CHAIN.format(more=_MORE),
        },
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        yield from self._registries(context)
        for rejection in context.facts.rejections:
            yield from self._option_chain(context, rejection)
        for chain in chains(context):
            yield from self._schemes(context, chain)

    def _registries(self, context: RuleContext) -> Iterator[Finding]:
        for name, entries in registrations(context).items():
            option = options_by_name(context)[name]
            known = {item.value for item, _ in entries}
            missing = [value for value in _admitted(context, option) if value not in known]
            if missing and len(missing) * 3 <= len(known):
                place = min(place for _, place in entries)
                yield finding(
                    self,
                    capabilities=context.capabilities,
                    place=place,
                    option=option.name,
                    value=", ".join(missing),
                    message=f"{flag_of(option) or option.name} admits {several(missing, 9)}, "
                    "for which nothing is registered",
                    chain=(link(context, f"{len(known)} are registered from here on", place),),
                )

    def _option_chain(self, context: RuleContext, rejection: Rejection) -> Iterator[Finding]:
        own = in_server(context, rejection.place) and "." not in rejection.function
        if not own or rejection.kind is RejectionKind.CHOICES:
            return
        words = vocabulary(context)
        asked = Counter(atom.options for atom in atoms(rejection.guard))
        for name in rejection.options:
            if asked[(name,)] < _LEAST:
                continue
            option = options_by_name(context)[name]
            found = [
                (capability, demand.excluded)
                for capability in context.capabilities
                for way in ways(context, rejection.guard, capability)
                if len(seen := demands(way.literals, words)) == 1
                and (demand := seen.get(name)) is not None
                and demand.allowed is None
                and way.certain
            ]
            handled = {str(value) for _, values in found for value in values}
            missing = [value for value in _admitted(context, option) if value not in handled]
            if found and len(handled) >= _LEAST and missing and len(missing) < len(handled):
                yield self._chain(context, rejection, option, missing, [c for c, _ in found])

    def _chain(
        self,
        context: RuleContext,
        rejection: Rejection,
        option: Option,
        missing: list[str],
        names: list[str],
    ) -> Finding:
        return finding(
            self,
            capabilities=names,
            place=rejection.place,
            function=rejection.function,
            line=rejection.excerpt,
            option=option.name,
            value=", ".join(missing),
            message=f"{rejection.function} ends in {rejection.exception} without a branch for "
            f"{several(missing, 9)}, which {flag_of(option) or option.name} admits",
            chain=(
                link(context, f"the choices of {option.name}", option.place),
                link(context, f"{rejection.function} ends here", rejection.place),
            ),
            severity=Severity.NOTE,
        )

    def _schemes(self, context: RuleContext, chain: Chain) -> Iterator[Finding]:
        folder = chain.file.rpartition("/")[0]
        for other in chains(context):
            shared = set(chain.asks) & set(other.asks)
            missing = [name for name in other.asks if name not in chain.asks]
            apart = (other.file, other.function) != (chain.file, chain.function)
            if apart and other.file.startswith(folder) and len(shared) > 1 and missing:
                yield finding(
                    self,
                    capabilities=context.capabilities,
                    place=chain.end,
                    function=chain.function,
                    value=", ".join(name.removeprefix("_is_") for name in missing),
                    message=f"{chain.function} knows {several(chain.asks, 9)} and ends in an "
                    f"error for everything else, while {other.function} also knows "
                    f"{several(missing, 9)}",
                    chain=(
                        link(context, f"{chain.function} ends here", chain.end),
                        link(context, f"{other.function} ends here", other.end),
                    ),
                    # One of two long chains lacks what makes no sense for it, more likely.
                    severity=None if 2 * len(chain.asks) <= len(other.asks) else Severity.NOTE,
                )
                return


def _admitted(context: RuleContext, option: Option) -> list[str]:
    """The choices of an option, without those a comment calls old names of others."""
    old = {
        choice.value
        for listed in context.facts.choice_lists
        for choice in listed.choices
        if choice.note and OLD.search(choice.note)
    }
    choices = option.choices or ()
    return [str(item) for item in choices if item not in old and item not in UNDECIDED]
