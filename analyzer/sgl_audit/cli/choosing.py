"""Which capabilities, and which sources: what the words of the user come to."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sgl_audit import api
from sgl_audit.cli.configured import configured_source
from sgl_audit.cli.fetching import asked_to_fetch
from sgl_audit.errors import UsageError
from sgl_audit.model.capability import ALL_CAPABILITIES

if TYPE_CHECKING:
    from sgl_audit.audit.verdicts.knowledge import Knowledge
    from sgl_audit.cli.stderr import Feedback
    from sgl_audit.model.source import Diagnostic, SourceTree

Pair = tuple[str, str | None]
ArchValues = Sequence[Sequence[Pair]]


@dataclass(frozen=True, slots=True)
class Opening:
    """How sources are opened.

    Attributes:
        fetch: get what a local tree pins as well; as `--fetch` says where it is not given.
    """

    offline: bool = False
    cache_dir: Path | None = None
    transformers: str | None = None
    flashinfer: str | None = None
    advisories: Path | None = None
    binaries: tuple[Path, ...] = ()
    fetch: bool = field(default_factory=asked_to_fetch)


def chosen(archs: ArchValues) -> tuple[Pair, ...]:
    """The (capability, card) pairs of every `--arch`, each once."""
    return tuple(dict.fromkeys(pair for value in archs for pair in value))


def chosen_or_local(archs: ArchValues, feedback: Feedback) -> tuple[Pair, ...]:
    """What `--arch` says, else the GPU of this machine, else every capability."""
    given = chosen(archs)
    if given:
        return given
    from sgl_audit.cli.machine import local_gpus

    gpus = local_gpus()
    if gpus:
        names = ", ".join(f"{name} ({capability})" for capability, _, name in gpus)
        feedback.notify(f"no --arch given: taking the GPU of this machine, {names}")
        return tuple((capability, card) for capability, card, _ in gpus)
    return tuple((name, None) for name in ALL_CAPABILITIES)


def names_of(pairs: Iterable[Pair]) -> tuple[str, ...]:
    """The capabilities alone, each once."""
    return tuple(dict.fromkeys(capability for capability, _ in pairs))


def open_tree(spec: str | None, opening: Opening, feedback: Feedback) -> SourceTree:
    """The SGLang tree; what it lacks of its code is said."""
    from sgl_audit.cli.unread import tell_unread

    tree = api.open_source(
        spec, offline=opening.offline, cache_dir=opening.cache_dir, notify=feedback.notify
    )
    tell_unread(tree.info.diagnostics, feedback)
    return tree


def open_beside(
    tree: SourceTree, opening: Opening, feedback: Feedback
) -> tuple[tuple[SourceTree, ...], tuple[Diagnostic, ...]]:
    """The libraries read with it, and what is missing."""
    return api.open_libraries(
        tree,
        transformers=opening.transformers,
        offline=opening.offline,
        fetch=opening.fetch,
        cache_dir=opening.cache_dir,
        notify=feedback.notify,
    )


def open_known(
    tree: SourceTree,
    opening: Opening,
    assume: tuple[tuple[str, str], ...],
    feedback: Feedback,
) -> Knowledge:
    """What verdicts rest on besides the tree."""
    return api.open_knowledge(
        tree,
        flashinfer=opening.flashinfer,
        advisories=opening.advisories,
        binaries=opening.binaries,
        assume=assume,
        offline=opening.offline,
        fetch=opening.fetch,
        cache_dir=opening.cache_dir,
        notify=feedback.notify,
    )


def known_name(name: str, names: Iterable[str], what: str) -> str:
    """A name as it is known, `-` and `_` alike.

    Raises:
        UsageError: there is no such name; the sentence suggests the nearest.
    """
    known = sorted(set(names))
    wanted = name.strip().lstrip("-").replace("-", "_")
    for candidate in known:
        if wanted in (candidate, candidate.replace("-", "_")):
            return candidate
    raise UsageError(f"there is no {what} {name!r} here{suggestion(name, known)}")


def suggestion(name: str, known: Iterable[str], count: int = 3) -> str:
    """`; did you mean a, b or c?`, or nothing."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    wanted = name.strip().lstrip("-").replace("-", "_").lower()
    near = difflib.get_close_matches(wanted[:80], by_lower, count)
    near += [key for key in by_lower if wanted in key and key not in near and len(wanted) > 3]
    if not near:
        return ""
    shown = [by_lower[key] for key in near[:count]]
    words = " or ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]
    return f"; did you mean {words}?"


def source_and(words: Sequence[str], what: str) -> tuple[str | None, str]:
    """`[SOURCE] NAME` taken apart: click would give the only word to SOURCE.

    Without SOURCE it is the one of the settings.

    Raises:
        UsageError: there are more than two words.
    """
    if len(words) == 1:
        return configured_source(), words[0]
    if len(words) == 2:
        return words[0], words[1]
    raise UsageError(f"give [SOURCE] {what}; {len(words)} words are too many")
