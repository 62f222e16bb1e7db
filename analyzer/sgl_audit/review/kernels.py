"""What the pinned kernel libraries require of a capability, where two releases of one differ."""

from __future__ import annotations

from collections.abc import Iterator

from sgl_audit.kernels.flashinfer import read_requirements
from sgl_audit.model.kernels import Answer
from sgl_audit.model.requirements import FunctionRequirements, KernelRequirements, Support
from sgl_audit.model.review import Change, ChangeKind, ChangeSubject
from sgl_audit.model.source import SourceTree

_NVIDIA = "sm"


def kernel_changes(
    old: SourceTree, new: SourceTree, capabilities: tuple[str, ...]
) -> Iterator[Change]:
    """Functions, and backends of functions, that work on other capabilities than before.

    Only what both releases say counts: a function that one of them lacks, or of which one says
    nothing, is no change.
    """
    yield from compared(read_requirements(old), read_requirements(new), capabilities)


def compared(
    old: KernelRequirements, new: KernelRequirements, capabilities: tuple[str, ...]
) -> Iterator[Change]:
    """The changes between what two releases were read to require."""
    for was in old.functions:
        now = new.get(was.name)
        if now is None or was.name.rpartition(".")[2].startswith(("_", "get_")):
            continue
        yield from _function(was, now, capabilities)


def _function(
    was: FunctionRequirements, now: FunctionRequirements, capabilities: tuple[str, ...]
) -> Iterator[Change]:
    yield from _support(was, now, was.any, now.any, "", capabilities)
    for backend in was.backends:
        other = now.backend(backend.name)
        if other is not None:
            label = f" with backend {backend.name}"
            yield from _support(was, now, backend.support, other.support, label, capabilities)


def _support(
    was: FunctionRequirements,
    now: FunctionRequirements,
    before: Support,
    after: Support,
    label: str,
    capabilities: tuple[str, ...],
) -> Iterator[Change]:
    lost, gained = [], []
    for name in capabilities:
        if not name.startswith(_NVIDIA):
            continue
        number = int(name.removeprefix(_NVIDIA))
        answers = before.answer(number), after.answer(number)
        if answers == (Answer.YES, Answer.NO):
            lost.append(name)
        elif answers == (Answer.NO, Answer.YES):
            gained.append(name)
    for names, kind, said in (
        (lost, ChangeKind.BEHAVIOUR, "no longer supports"),
        (gained, ChangeKind.ADDITIVE, "now supports"),
    ):
        if names:
            yield Change(
                kind,
                ChangeSubject.KERNEL,
                was.name,
                f"{was.name}{label} {said} {', '.join(names)}",
                before="supported" if names is lost else "not supported",
                after="not supported" if names is lost else "supported",
                capabilities=tuple(names),
                old_place=was.place,
                new_place=now.place,
                backend=True,
                weight=2,
            )
