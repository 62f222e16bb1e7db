"""What a rule is, and what it is given to look at."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from sgl_audit.extract.tree import Extraction
from sgl_audit.model.facts import Facts
from sgl_audit.model.kernels import Advisory
from sgl_audit.model.report import (
    Excerpt,
    FamilyRow,
    Finding,
    OptionBehaviour,
    RuleDoc,
    RuleExample,
    Severity,
)
from sgl_audit.model.requirements import KernelRequirements
from sgl_audit.model.source import Place, SourceTree

MiniTree = Mapping[str, str]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class RuleContext:
    """One tree as the rules see it.

    Attributes:
        facts: the facts with evaluated values merged in; `extraction` holds the rest. Best
            read on every capability, whatever is asked: rules compare them with each other.
        capabilities: those that findings are wanted for.
        behaviours: what options become with nothing set, or nothing where that was not asked.
        families: what model families become with nothing set, likewise.
        advisories: facts that no source tells; without them the rules that join them say nothing.
        kernels: what FlashInfer's source requires of the device, or None where it was not read.
        excerpt: source around a place.
        memory: what rules work out once and share; keyed by the function that works it out.
    """

    tree: SourceTree
    facts: Facts
    extraction: Extraction
    capabilities: tuple[str, ...]
    behaviours: tuple[OptionBehaviour, ...] = ()
    families: tuple[FamilyRow, ...] = ()
    advisories: tuple[Advisory, ...] = ()
    kernels: KernelRequirements | None = None
    excerpt: Callable[[Place], Excerpt | None] = lambda place: None
    memory: dict[Any, Any] = field(default_factory=dict)

    def once(self, make: Callable[[RuleContext], T]) -> T:
        """What `make` gives for this context, made on first use."""
        if make not in self.memory:
            self.memory[make] = make(self)
        found: T = self.memory[make]
        return found


class Rule(ABC):
    """One fault shape. The class docstring is the documentation that users read.

    Attributes:
        severity: of a finding that says nothing else.
        compares: whether it compares capabilities with each other, and so needs facts on all.
        VALID: mini-trees in which the rule finds nothing.
        INVALID: mini-trees in which it finds something.
    """

    id: ClassVar[str]
    title: ClassVar[str]
    severity: ClassVar[Severity]
    compares: ClassVar[bool] = False
    VALID: ClassVar[tuple[MiniTree, ...]] = ()
    INVALID: ClassVar[tuple[MiniTree, ...]] = ()

    @abstractmethod
    def check(self, context: RuleContext) -> Iterator[Finding]:
        """The findings of this rule in one tree, in any order."""

    @classmethod
    def doc(cls) -> RuleDoc:
        """The rule as `sgl-audit explain` prints it."""
        examples = (
            *(RuleExample(tuple(tree.items())) for tree in cls.INVALID),
            *(RuleExample(tuple(tree.items()), valid=True) for tree in cls.VALID),
        )
        return RuleDoc(cls.id, cls.severity, cls.title, inspect.getdoc(cls) or "", examples)
