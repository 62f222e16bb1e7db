"""The history of an option in a terminal."""

from __future__ import annotations

from rich.console import Console

from sgl_audit.model.history import History
from sgl_audit_reports.common.histories import (
    first_release,
    problems,
    rows_of,
    skipped,
    start_of,
)
from sgl_audit_reports.common.text import listed, plural
from sgl_audit_reports.terminal.console import HEADING, QUIET, indented, line, plain_table, text

_SKIPPED = 12


def render_history(history: History, console: Console) -> None:
    """Print what the first release holds, then every change."""
    read = [release for release in history.releases if release.looked]
    head = f"{history.option} on {', '.join(history.capabilities)}"
    ends = f"{history.releases[0].version} to {history.releases[-1].version}"
    console.print(line((head, HEADING), f", {ends}: {plural(len(read), 'release')} read"))
    console.print()
    console.print(text(first_release(history), HEADING))
    for said in start_of(history) or ["there is no such option"]:
        indented(console, text(said))
    console.print()
    rows = rows_of(history)
    if not rows:
        console.print(text("nothing changes"))
    else:
        body = [[text(r.release), text(r.what), text(r.old), text(r.new)] for r in rows]
        console.print(plain_table(("release", "what", "before", "from here on"), body))
    left_out = skipped(history.releases)
    if left_out:
        names = listed(left_out, _SKIPPED)
        console.print(text(f"not read, as both neighbours are equal: {names} (--every)", QUIET))
    for problem in problems(history.releases):
        console.print(line(("not read: ", "magenta"), problem))
