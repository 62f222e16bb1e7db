"""Values that only a device without a compute capability can run."""

from __future__ import annotations

from collections.abc import Iterable

from sgl_audit.audit.places import concerns_gpu
from sgl_audit.model.facts import Decision, DecisionKind
from sgl_audit.model.guard import ALWAYS


def foreign_values(decisions: Iterable[Decision]) -> frozenset[str]:
    """Members of enums, as the source writes them, that no class of a GPU says it stands for.

    A class that runs a value names it: `runner_backend = Backend.X` in its body, or a property
    `runner_backend` that returns it. A layer that chooses the value may belong to no device by its
    own name; what it chooses then has nothing to run on.
    """
    stands: dict[str, list[bool]] = {}
    for item in decisions:
        if _implements(item):
            # The class itself is the owner, also of what stands in its body.
            owner = item.function if _of_class(item) else item.function.rpartition(".")[0]
            stands.setdefault(item.value, []).append(concerns_gpu(item.place.file, f"{owner}."))
    return frozenset(value for value, gpu in stands.items() if not any(gpu))


def _implements(item: Decision) -> bool:
    if "." not in item.value or item.guard != ALWAYS:
        return False
    named = item.function.rpartition(".")[2] == item.option
    return (named and item.kind is DecisionKind.RETURNED) or _of_class(item)


def _of_class(item: Decision) -> bool:
    name = item.function.rpartition(".")[2]
    return item.kind is DecisionKind.LOCAL and name[:1].isupper()
