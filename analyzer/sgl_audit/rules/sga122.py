"""SGA122: gate whose name and capabilities do not agree."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sgl_audit.model.capability import BY_NAME
from sgl_audit.model.facts import Gate, GateForm
from sgl_audit.model.report import Finding, Severity
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.choosing import in_server
from sgl_audit.rules.families import nvidia
from sgl_audit.rules.findings import finding, link, ordered

_NAMED = re.compile(r"^_?is_sm_?(\d{2,3})(?:_(?:supported|available))?$")
_FORMS = (GateForm.FUNCTION, GateForm.ALIAS, GateForm.ATTRIBUTE)
_ARGS = "class ServerArgs:\n    attention_backend: str = None\n"
_UTILS = """
import torch


def is_sm100_supported():
    return torch.cuda.get_device_capability() {test}
"""


class NameAndCapabilities(Rule):
    """A helper is named after one capability and holds on another generation too.

    *What it does*
        Evaluates each helper whose name is `is_sm` and a number on every
        capability, and compares that with the number.

    *Why it is bad*
        Whoever reads the caller takes the name at its word: code for SM100 then
        runs on SM120, because the helper asks for 10.0 or newer.

    *Known limits*
        Names with more in them (`is_sm90_or_newer`) are left alone.

    *What to do instead*
        Nothing at the command line; see what the callers choose.

    *Seen in*
        mini-sglang (sgl-project/mini-sglang#146).
    """

    id = "SGA122"
    title = "gate holds on another generation than it is named after"
    severity = Severity.WARNING
    compares = True
    INVALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/utils.py": _UTILS.format(test=">= (10, 0)"),
        },
    )
    VALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/utils.py": _UTILS.format(test="in [(10, 0), (10, 3)]"),
        },
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        seen: set[tuple[str, int]] = set()
        for gate in (*context.facts.gates, *context.facts.platform):
            found = _NAMED.match(gate.name)
            key = (gate.place.file, gate.place.line)
            if found and gate.form in _FORMS and in_server(context, gate.place) and key not in seen:
                others = _others(gate, int(found[1]))
                if others:
                    seen.add(key)
                    yield self._report(context, gate, others)

    def _report(self, context: RuleContext, gate: Gate, others: list[str]) -> Finding:
        return finding(
            self,
            capabilities=others,
            place=gate.place,
            function=gate.name,
            value=gate.name,
            message=f"{gate.name} also holds on {', '.join(ordered(others))}, which are of other "
            "generations than its name says",
            chain=(link(context, f"{gate.name} is defined here", gate.place),),
        )


def _others(gate: Gate, number: int) -> list[str]:
    held = nvidia(gate.capabilities or ())
    return [name for name in held if BY_NAME[name].major != number // 10]
