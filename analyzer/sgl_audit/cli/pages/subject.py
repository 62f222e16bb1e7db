"""What every page is made from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sgl_audit.model.facts import BackendEnum, DecisionKind, Facts, Option
from sgl_audit.model.guard import Guard, holds_on
from sgl_audit.model.source import SourceTree
from sgl_audit_reports.common.names import capability_range

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# A dispatch reads a value to choose code; the other kinds give it one.
SETTING = frozenset(DecisionKind) - {DecisionKind.DISPATCH}
_ALIKE = 0.6


@dataclass(frozen=True, slots=True)
class Subject:
    """The facts of a tree, and the capabilities that were asked.

    Attributes:
        narrowed: whether the user named the capabilities.
        details: whether conditions are wanted in full.
    """

    tree: SourceTree
    facts: Facts
    capabilities: tuple[str, ...]
    narrowed: bool
    details: bool = False

    def named(self, capabilities: Sequence[str]) -> str:
        """Some of the capabilities in few words."""
        return capability_range(capabilities, self.capabilities)

    def possible(self, guard: Guard) -> bool:
        """Whether a place can be reached on any of the capabilities."""
        return any(holds_on(guard, name) is not False for name in self.capabilities)


def enums_of(facts: Facts, option: Option) -> tuple[BackendEnum, ...]:
    """The enums that hold an option's values: named like it, else with most of its choices."""
    named = tuple(item for item in facts.enums if snake(item.name) == option.name)
    choices = {value for value in option.choices or () if isinstance(value, str)}
    if named or not choices:
        return named
    return tuple(
        item
        for item in facts.enums
        if len(choices & {str(member.value) for member in item.members}) > _ALIKE * len(choices)
    )


def snake(name: str) -> str:
    """`Fp4GemmRunnerBackend` -> `fp4_gemm_runner_backend`."""
    return _HUMP.sub("_", name).lower()
