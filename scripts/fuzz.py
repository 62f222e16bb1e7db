#!/usr/bin/env python3
"""Break files of a SGLang tree, read what is left, and print how many and what went wrong.

    python3 scripts/fuzz.py SOURCE [--seconds 900] [--start 0] [--limit 20] [--audit sm120]

Each mutant comes from its seed: the one that is printed makes the same one again. Without --audit
the broken files alone are read (thousands a minute on a release); with it the whole tree is
audited, and what the broken tree calls safe is compared with what the whole one does.
"""

from __future__ import annotations

import argparse
import faulthandler
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.hostile.mutating import Mutant, MutantTree, mutant_of
from tests.hostile.standing import audited, claims, gained

from sgl_audit.errors import SglAuditError
from sgl_audit.extract.files import read_file
from sgl_audit.extract.index import build_index, machines_for, server_files
from sgl_audit.model.source import SourceTree
from sgl_audit.source import open_source

Check = Callable[[Mutant], list[str]]


def reading(tree: SourceTree, files: tuple[str, ...]) -> Check:
    """Read each changed file as the whole tree's pass does."""
    machines = machines_for(tree, ("sm90", "sm120"), "13.0", "7.0.0")
    index = build_index(tree, files, machines)

    def check(mutant: Mutant) -> list[str]:
        wrong = []
        for path, data in mutant.changed.items():
            if data is None:
                continue
            facts = read_file(path, data, index, machines)
            said = (facts.lists, facts.gates, facts.decisions, facts.rejections, facts.enums)
            if facts.diagnostics and any(said):
                wrong.append("facts of a file that was not read")
        return wrong

    return check


def auditing(tree: SourceTree, capability: str) -> Check:
    """Audit the whole tree; what is broken must not be safer for it."""
    before = claims(audited(tree, capability))

    def check(mutant: Mutant) -> list[str]:
        try:
            after = claims(audited(MutantTree(tree, mutant.changed), capability))
        except SglAuditError:
            return []
        # One that parses is another program, which may well be a better one.
        return gained(before, after) if mutant.broken else []

    return check


def main() -> int:
    """Go through seeds until the time is up."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source")
    parser.add_argument("--seconds", type=float, default=900)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--limit", type=float, default=20, help="seconds for one mutant")
    parser.add_argument("--audit", metavar="CAPABILITY")
    asked = parser.parse_args()
    tree = open_source(asked.source, offline=True)
    files = server_files(tree)
    check = auditing(tree, asked.audit) if asked.audit else reading(tree, files)
    began, seed = time.monotonic(), asked.start
    counts: Counter[str] = Counter()
    while time.monotonic() < began + asked.seconds:
        mutant = mutant_of(tree, files, seed)
        # A crash of native code, or a hang in it, names the seed as well.
        print(f"\r{seed}", end="", file=sys.stderr, flush=True)
        faulthandler.dump_traceback_later(asked.limit * 10, exit=True)
        start = time.process_time()
        try:
            wrong = check(mutant)
        except Exception as error:
            traceback.print_exc(limit=-3)
            wrong = [f"crash: {type(error).__name__}"]
        faulthandler.cancel_dump_traceback_later()
        if time.process_time() - start > asked.limit:
            wrong.append("over the time limit")
        counts["wrong"] += bool(wrong)
        counts["broken" if mutant.broken else "still valid"] += 1
        for text in wrong:
            print(f"\n{mutant}: {text}", flush=True)
        seed += 1
    print(
        f"\nseeds {asked.start} to {seed - 1} of {tree.info.label}: {seed - asked.start} mutants, "
        f"{counts['broken']} broken, {counts['still valid']} still valid, {counts['wrong']} wrong"
    )
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
