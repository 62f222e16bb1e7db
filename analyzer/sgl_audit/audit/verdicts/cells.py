"""What is known of each choice on each capability, whatever the model."""

from __future__ import annotations

from dataclasses import replace

from sgl_audit.audit.verdicts.judge import Asked
from sgl_audit.audit.verdicts.knowledge import Knowledge
from sgl_audit.model.report import ChoiceCell, ChoiceState, FamilyRow
from sgl_audit.model.verdict import ORDER, Ground, GroundKind, Verdict


def judged_cells(
    cells: tuple[ChoiceCell, ...], rows: tuple[FamilyRow, ...], knowledge: Knowledge
) -> tuple[ChoiceCell, ...]:
    """Cells with a verdict where own gates, an advisory or a judged family speak of the choice.

    A verdict of some families only is not one of the choice: it is told with their names.
    """
    asked: dict[tuple[str, str], Asked] = {}
    found = []
    for cell in cells:
        key = (cell.option, cell.capability)
        about = asked.setdefault(key, Asked(*key, {}, knowledge))
        found.append(_judged(cell, about, rows))
    return tuple(found)


def _judged(cell: ChoiceCell, about: Asked, rows: tuple[FamilyRow, ...]) -> ChoiceCell:
    if cell.state is ChoiceState.REFUSED:
        text = cell.why or "the tree itself refuses it here"
        return replace(cell, verdict=Verdict.REFUSED, grounds=(f"{GroundKind.OWN}: {text}",))
    value = str(cell.choice).lower() if isinstance(cell.choice, bool) else str(cell.choice)
    grounds = about.hits(value)
    told = tuple(_told(ground) for ground in grounds) + _of_families(cell, value, rows)
    if not told:
        return cell
    verdict = max((ground.says for ground in grounds), key=ORDER.index, default=Verdict.UNKNOWN)
    return replace(cell, verdict=verdict, grounds=told)


def _told(ground: Ground) -> str:
    source = f" [{ground.source}]" if ground.source else ""
    return f"{ground.kind}: {ground.text}{source}"


def _of_families(cell: ChoiceCell, value: str, rows: tuple[FamilyRow, ...]) -> tuple[str, ...]:
    groups: dict[Verdict, list[str]] = {}
    for row in rows:
        if row.capability != cell.capability:
            continue
        for item in row.verdicts:
            if item.option == cell.option and item.value == value:
                groups.setdefault(item.verdict, []).append(row.group or row.family)
    return tuple(
        f"{verdict} for {', '.join(dict.fromkeys(names))}" for verdict, names in groups.items()
    )
