"""One audit: facts, families, behaviours, cells, findings, advice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from sgl_audit.answers import AnswerStore
from sgl_audit.audit.behaviours import option_behaviours
from sgl_audit.audit.cells import choice_cells
from sgl_audit.audit.deciding import ground
from sgl_audit.audit.extent import JUDGED
from sgl_audit.audit.facts import TreeFacts, read_tree
from sgl_audit.audit.families import (
    known_families,
    served_families,
)
from sgl_audit.audit.notes import read_notes
from sgl_audit.audit.own import server_facts
from sgl_audit.audit.serving import Asking, chosen_families, started
from sgl_audit.audit.verdicts.cells import judged_cells
from sgl_audit.audit.verdicts.knowledge import Knowledge
from sgl_audit.audit.verdicts.opening import bare_knowledge
from sgl_audit.memory import uncollected
from sgl_audit.model.capability import ALL_CAPABILITIES
from sgl_audit.model.kernels import Advisory
from sgl_audit.model.progress import Progress
from sgl_audit.model.report import (
    Audit,
    FamilyRow,
    Finding,
    OptionBehaviour,
    Severity,
)
from sgl_audit.model.requirements import KernelRequirements
from sgl_audit.model.resolution import Assumption, Resolution
from sgl_audit.model.source import SourceTree
from sgl_audit.rules import RuleContext, check_rules
from sgl_audit.syntax.excerpt import excerpt
from sgl_audit.version import __version__


def run_audit(
    tree: SourceTree,
    *,
    capabilities: tuple[str, ...],
    libraries: tuple[SourceTree, ...] = (),
    assume: tuple[tuple[str, str], ...] = (),
    jobs: int = 1,
    progress: Progress | None = None,
    knowledge: Knowledge | None = None,
    cards: Mapping[str, str] | None = None,
    store: AnswerStore | None = None,
) -> Audit:
    """Audit a tree on some capabilities.

    Args:
        cards: capability -> the card whose memory and name count there.
        knowledge: what verdicts rest on besides the tree; without it only the advisories.
        store: where parts of earlier audits are kept, to begin from.
    """
    with uncollected():
        return _audit(
            tree, capabilities, libraries, assume, jobs, progress, knowledge, cards, store
        )


def _audit(
    tree: SourceTree,
    capabilities: tuple[str, ...],
    libraries: tuple[SourceTree, ...],
    assume: tuple[tuple[str, str], ...],
    jobs: int,
    progress: Progress | None,
    knowledge: Knowledge | None,
    cards: Mapping[str, str] | None,
    store: AnswerStore | None,
) -> Audit:
    known = knowledge or bare_knowledge(tree)
    asking = Asking(tree, capabilities, libraries, assume, known, dict(cards or {}), jobs, store)
    # Launches are resolved while facts are read, where there are processes for both.
    early = chosen_families(known_families(tree), len(capabilities))
    with started(asking, early) as finish:
        # Rules need what holds elsewhere as evidence of what was meant here.
        read = read_tree(
            tree, capabilities=ALL_CAPABILITIES, jobs=jobs, progress=progress, store=store
        )
        answered = finish(progress)
    if not early:
        late = chosen_families(served_families(tree, read.facts), len(capabilities))
        with started(asking, late) as finish:
            answered = finish(progress)
    rows = answered.rows
    facts = server_facts(tree, read.facts)
    base = ground(facts, read_notes(tree, facts))
    behaviours = option_behaviours(facts, capabilities, rows, base=base)
    cells = choice_cells(facts, capabilities, behaviours, rows, base=base)
    if len(capabilities) <= JUDGED:
        cells = judged_cells(cells, rows, known)
    context = rule_context(
        tree, read, capabilities, behaviours, rows, known.advisories, known.requirements()
    )
    checked = check_rules(context)
    findings = checked.findings
    return Audit(
        source=tree.info,
        tool_version=__version__,
        capabilities=capabilities,
        facts=read.facts,
        behaviours=behaviours,
        cells=cells,
        families=with_findings(rows, findings),
        findings=findings,
        advice=answered.advice,
        assumptions=assumptions_of(answered.resolutions),
        coverage=read.coverage,
        diagnostics=(*read.facts.diagnostics, *checked.diagnostics, *known.diagnostics),
    )


def rule_context(
    tree: SourceTree,
    read: TreeFacts,
    capabilities: tuple[str, ...],
    behaviours: tuple[OptionBehaviour, ...],
    rows: tuple[FamilyRow, ...],
    advisories: tuple[Advisory, ...] = (),
    kernels: KernelRequirements | None = None,
) -> RuleContext:
    """What rules see."""
    return RuleContext(
        tree=tree,
        facts=read.facts,
        extraction=read.extraction,
        capabilities=capabilities,
        behaviours=behaviours,
        families=rows,
        advisories=advisories,
        kernels=kernels,
        excerpt=lambda place: excerpt(tree, place),
    )


def with_findings(
    rows: tuple[FamilyRow, ...], findings: tuple[Finding, ...]
) -> tuple[FamilyRow, ...]:
    """Families with the errors that stand at the place of their refusal."""
    by_place = {(f.place.file, f.place.line): f for f in findings if f.severity is Severity.ERROR}
    marked = []
    for row in rows:
        found = by_place.get((row.place.file, row.place.line)) if row.place else None
        hits = found is not None and row.capability in found.capabilities
        marked.append(replace(row, findings=(found.fingerprint,)) if found and hits else row)
    return tuple(marked)


def assumptions_of(resolved: Iterable[Resolution]) -> tuple[Assumption, ...]:
    """Every assumption that the resolutions rest on, each once."""
    seen: dict[tuple[str, str], Assumption] = {}
    for resolution in resolved:
        for item in resolution.assumptions:
            seen.setdefault((item.name, item.value), item)
    return tuple(seen[key] for key in sorted(seen))
