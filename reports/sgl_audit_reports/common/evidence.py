"""What every report says of a run, in the same words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sgl_audit.model.evidence import Agreement, Compared, Evidence, RunOutcome, Speed


def run_name(evidence: Evidence) -> str:
    """What was varied, else which launch it was."""
    varied = " ".join(f"{option}={value}" for option, value in evidence.launch.varied)
    return varied or " ".join(evidence.launch.argv) or evidence.launch.url


def where(evidence: Evidence) -> str:
    """SGLang, device and time."""
    device = evidence.environment.device
    name = f" ({device.name})" if device.name else ""
    version = evidence.environment.sglang or "of unknown version"
    return f"sglang {version} on {device.capability}{name}, {evidence.created}"


def outcome(evidence: Evidence) -> str:
    """How it ended, with the class of its failure."""
    if evidence.outcome is RunOutcome.FAILED and evidence.failure is not None:
        return f"failed: {evidence.failure}"
    return evidence.outcome.value


def counts(compared: Sequence[Compared]) -> str:
    """`3 confirmed, 1 contradicted, 4 not exercised`."""
    parts = []
    for agreement in Agreement:
        count = sum(item.agreement is agreement for item in compared)
        if count:
            parts.append(f"{count} {agreement.value}")
    return ", ".join(parts) or "nothing to compare"


def speed_text(speed: Sequence[Speed]) -> str:
    """The measurements in one line."""
    parts = []
    for item in speed:
        first = f", first after {item.first_token_s:.3g} s" if item.first_token_s else ""
        parts.append(
            f"{item.tokens_per_second:.4g} tokens/s at concurrency {item.concurrency}{first}"
        )
    return "; ".join(parts)


def timing_text(evidence: Evidence) -> str:
    """Seconds by phase in one line."""
    return ", ".join(f"{phase} {seconds:.1f} s" for phase, seconds in evidence.timings)


# What people choose and ask for; the rest is in the record.
_CHOSEN = re.compile(
    r"^(?:resolution|loading)|(?:^|_)attention_backend|moe_runner_backend|moe_a2a_backend"
    r"|_gemm_(?:runner_)?backend|^sampling_backend|^kv_cache_dtype|^quantization$|^page_size$"
    r"|^linear_attn|\(asked for\)"
)
_RANK = {Agreement.CONTRADICTED: 0, Agreement.CONFIRMED: 1, Agreement.NOT_EXERCISED: 2}


def worth_showing(compared: Sequence[Compared], everything: bool = False) -> tuple[Compared, ...]:
    """Contradictions first, then what names a choice of kernels, or everything."""
    found = [item for item in compared if everything or _worth(item)]
    return tuple(sorted(found, key=lambda item: _RANK[item.agreement]))


def _worth(item: Compared) -> bool:
    if item.agreement is Agreement.CONTRADICTED:
        return True
    if (item.predicted, item.observed) == ("None", "None") or "speculative" in item.subject:
        return False
    return _CHOSEN.search(item.subject) is not None
