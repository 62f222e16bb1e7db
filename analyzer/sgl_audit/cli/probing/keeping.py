"""What `sgl-audit evidence` does, and the runs that are laid beside other answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from sgl_audit.cli import output
from sgl_audit.errors import EXIT_CLEAN, EXIT_FINDINGS, UsageError
from sgl_audit.model.evidence import Evidence, RunOutcome
from sgl_audit.probe.logs import hash_of
from sgl_audit.probe.store import Kept, encode, read_file, read_folder, settled


def one_run(name: str | None, folder: Path) -> Evidence:
    """The run of an id, the beginning of one, or a file; the last one where none is named.

    Raises:
        UsageError: there is none, or several begin so.
    """
    if name is not None and Path(name).is_file():
        try:
            return settled(Kept(Path(name), read_file(Path(name)))).evidence
        except ValueError as error:
            raise UsageError(f"{name} is not read: {error}") from error
    kept, _ = read_folder(folder)
    if not kept:
        raise UsageError(f"there is no run in {folder}")
    if name is None:
        return kept[-1].evidence
    found = [item.evidence for item in kept if item.evidence.id.startswith(name)]
    if len(found) == 1:
        return found[0]
    what = "no run begins" if not found else f"{len(found)} runs begin"
    raise UsageError(f"{what} with {name!r} in {folder}; see sgl-audit evidence list")


def check(folder: Path) -> int:
    """Say what is wrong with each record; gives the exit code.

    Raises:
        UsageError: there is no such folder.
    """
    kept, unread = read_folder(folder)
    problems = [f"{item.path}: {item.reason}" for item in unread]
    problems += [f"{item.path}: {text}" for item in kept for text in _faults(item)]
    good = len(kept) + len(unread) - len({text.partition(": ")[0] for text in problems})
    said = "\n".join([*problems, f"{good} of {len(kept) + len(unread)} records are sound"]) + "\n"
    output.write((output.Target("terminal", output.STDOUT),), lambda _: said)
    return EXIT_FINDINGS if problems else EXIT_CLEAN


def _faults(kept: Kept) -> Iterator[str]:
    evidence = kept.evidence
    if evidence.id != kept.path.stem:
        yield f"it says that it is {evidence.id}"
    if evidence.outcome is RunOutcome.FAILED and (evidence.failure is None or not evidence.grounds):
        yield "it failed, and neither class nor grounds say why"
    if evidence.log is None:
        return
    path = kept.path.parent / evidence.log.path
    if not path.is_file():
        yield f"its log {evidence.log.path} is gone"
        return
    try:
        same = hash_of(path) == evidence.log.sha256
    except OSError as error:
        yield f"its log {evidence.log.path} cannot be read ({error.strerror})"
        return
    if not same:
        yield f"its log {evidence.log.path} is no longer what it was"


def render(
    found: Sequence[Evidence], target: output.Target, color: str, *, everything: bool = False
) -> str:
    """Runs in the form of the target: one as an object, several as a list."""
    match target.form:
        case "json":
            if len(found) == 1:
                return encode(found[0]).decode() + "\n"
            return "[\n" + ",\n".join(encode(item).decode() for item in found) + "\n]\n"
        case "html":
            from sgl_audit import __version__
            from sgl_audit_reports.html import evidence_html

            return evidence_html(found, __version__)
    from sgl_audit_reports.terminal import render_evidence

    return output.on_terminal(
        lambda c: render_evidence(found, c, everything=everything), target.path, color
    )
