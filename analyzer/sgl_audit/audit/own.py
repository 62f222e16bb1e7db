"""What belongs to the server, not to another program of the same package."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import PurePosixPath

from sgl_audit.model.facts import Facts
from sgl_audit.model.source import SourceTree, program_of


def server_facts(tree: SourceTree, facts: Facts) -> Facts:
    """Facts without decisions and rejections of other programs that have arguments of their own.

    A package beside the server's that has a file of the same name for its arguments (for diffusion
    models) uses the same names for other things.
    """
    own = Counter(program_of(option.place.file) for option in facts.options).most_common(1)
    if not own:
        return facts
    server = own[0][0]
    names = {
        PurePosixPath(path).name
        for path in tree.files()
        if program_of(path) == server and path.endswith("server_args.py")
    }
    others = {program_of(path) for path in tree.files() if PurePosixPath(path).name in names} - {
        server
    }
    if not others:
        return facts
    return replace(
        facts,
        decisions=tuple(d for d in facts.decisions if program_of(d.place.file) not in others),
        rejections=tuple(r for r in facts.rejections if program_of(r.place.file) not in others),
    )
