"""Launches of files, resolved on each capability."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sgl_audit import __version__
from sgl_audit.cli.choosing import Opening, Pair, chosen_or_local, open_beside, open_tree
from sgl_audit.cli.flags import explain_unknown_flags
from sgl_audit.cli.launching import Assumptions, archs_of, launches, notes_of, server_arguments
from sgl_audit.cli.models import Described, find
from sgl_audit.cli.resolving import finished, resolve_each
from sgl_audit.cli.stderr import Feedback
from sgl_audit.errors import EXIT_CLEAN, EXIT_FINDINGS, EXIT_INCOMPLETE, UsageError
from sgl_audit.launch import LaunchLine, read_launch_file
from sgl_audit.model.checks import CheckReport, LaunchCheck, Standing
from sgl_audit.model.source import Diagnostic, SourceTree

REFUSED, UNKNOWN, NEVER = "refused", "unknown", "never"
FAIL_ON = (REFUSED, UNKNOWN, NEVER)
_NO_SERVER = "starts no SGLang server"
_ENVIRONMENT = "env."


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be checked."""

    source: str | None
    files: tuple[Path, ...]
    archs: tuple[Pair, ...]
    assume: Assumptions


@dataclass(frozen=True, slots=True)
class _Written:
    file: Path
    line: LaunchLine


def check_launches(asked: Asked, opening: Opening, feedback: Feedback) -> CheckReport:
    """Resolve every launch of the files.

    Raises:
        UsageError: a file is broken, or none is named.
    """
    if not asked.files:
        raise UsageError(
            "there is no file with launches; name one, or set launches in sgl-audit.toml"
        )
    written, notices = _read(asked)
    tree = open_tree(asked.source, opening, feedback)
    libraries, missing = open_beside(tree, opening, feedback)
    for gap in missing:
        feedback.notify(gap.message)
    fallback = asked.archs or (chosen_or_local((), feedback) if written else ())
    checks: list[LaunchCheck] = []
    for item in written:
        checks += _check(item, replace(asked, archs=fallback), tree, libraries, opening, feedback)
    return CheckReport(tree.info, __version__, tuple(checks), notices)


def _read(asked: Asked) -> tuple[list[_Written], tuple[Diagnostic, ...]]:
    variables = {
        key.removeprefix(_ENVIRONMENT): value
        for key, value in asked.assume
        if key.startswith(_ENVIRONMENT)
    }
    written: list[_Written] = []
    notices: list[Diagnostic] = []
    for file in asked.files:
        try:
            lines = read_launch_file(file, variables=variables)
        except UsageError as error:
            if _NO_SERVER not in str(error):
                raise
            # Hooks hand over every script that changed, and most start something else.
            notices.append(Diagnostic(str(error)))
        else:
            written += [_Written(file, line) for line in lines]
    return written, tuple(notices)


def _check(
    item: _Written,
    asked: Asked,
    tree: SourceTree,
    libraries: Sequence[SourceTree],
    opening: Opening,
    feedback: Feedback,
) -> Iterator[LaunchCheck]:
    described = Described(item.line.model_config)
    pairs = archs_of((), item.line) or asked.archs
    with tempfile.TemporaryDirectory(prefix="sgl-audit-") as folder:
        model = find(server_arguments(item.line), described, Path(folder))
        ready = launches(item.line, model, described, pairs, asked.assume)
        found = resolve_each(tree, libraries, ready, False, feedback)
    notes = notes_of(item.line, model)
    shown = [finished(answer, model, notes, ()) for answer in found]
    for answer in explain_unknown_flags(shown, tree, opening.cache_dir, asked.source):
        yield LaunchCheck(str(item.file), item.line.line, item.line.name, answer)


def exit_code(report: CheckReport, fail_on: str) -> int:
    """1 where a launch is refused; 3 where one is unknown and that was asked to count."""
    standings = {item.standing for item in report.checks}
    if fail_on != NEVER and Standing.REFUSED in standings:
        return EXIT_FINDINGS
    if fail_on == UNKNOWN and Standing.UNKNOWN in standings:
        return EXIT_INCOMPLETE
    return EXIT_CLEAN
