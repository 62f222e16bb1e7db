#!/usr/bin/env python3
"""Break files of a SGLang tree, read what is left, and print how many and what went wrong.

    python3 scripts/fuzz.py SOURCE [--seconds 900] [--start 0] [--limit 20] [--audit sm120]

Each mutant comes from its seed: the one that is printed makes the same one again. The files that
the whole tree's pass reads are broken, in one warm process:

read      every mutant: parsed, and read with the names of the whole tree
judged    with --audit, the broken ones: what the tree calls safe without that file is compared
          with what the whole tree does. One audit answers for all mutants of which an audit sees
          the same; every --recheck'th is audited by itself all the same, and must agree
whole     with --audit, every --whole'th other one: audited from end to end
"""

from __future__ import annotations

import argparse
import faulthandler
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Hashable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.hostile.mutating import Mutant, MutantTree, mutant_of
from tests.hostile.standing import Claims, audited, claims, gained
from tests.hostile.views import Views

from sgl_audit.errors import SglAuditError
from sgl_audit.extract.files import FileFacts, read_file
from sgl_audit.extract.index import build_index, machines_for, server_files
from sgl_audit.model.source import SourceTree
from sgl_audit.source import open_source

EVERY = 5000


class Reading:
    """Each changed file is read as the whole tree's pass does; the rest of the tree is kept."""

    def __init__(self, tree: SourceTree, most: int | None, largest: int) -> None:
        self.machines = machines_for(tree, ("sm90", "sm120"), "13.0", "7.0.0")
        files = server_files(tree)
        self.index = index = build_index(tree, files, self.machines)
        read = [p for p in files if p in index.declaring or index.relevant.search(tree.read(p))]
        # Those that say most, where not all are wanted.
        read.sort(key=lambda path: -len(index.relevant.findall(tree.read(path))))
        read = [path for path in read if len(tree.read(path)) <= largest]
        self.paths = tuple(sorted(read[:most]))

    def check(self, mutant: Mutant, counts: Counter[str]) -> list[str]:
        """What is wrong with what was read."""
        wrong = []
        for path, data in mutant.changed.items():
            if data is None:
                counts["files gone"] += 1
                continue
            facts = read_file(path, data, self.index, self.machines)
            refused = bool(facts.diagnostics)
            counts["files refused by the parser" if refused else "files read"] += 1
            if refused and facts != FileFacts(path, diagnostics=facts.diagnostics[:1]):
                wrong.append("facts of a file that was not read")
        return wrong


class Judging:
    """What is broken must not be called safer for it."""

    def __init__(self, tree: SourceTree, capability: str, recheck: int, whole: int) -> None:
        self.tree, self.capability, self.recheck, self.whole = tree, capability, recheck, whole
        self.views, self.known = Views(tree), dict[Hashable, Claims]()
        self.before = claims(audited(tree, capability))

    def check(self, mutant: Mutant, counts: Counter[str]) -> list[str]:
        """What it gained, or how one view came to have two answers."""
        view = self.views.of(mutant)
        if view is None:
            counts["others"] += 1
            if counts["others"] % self.whole == 0:
                counts["whole"] += 1
                after = self._claims(mutant)
                # One that parses is another program, which may well be a better one.
                return gained(self.before, after) if mutant.broken else []
            return []
        counts["judged"] += 1
        wrong = []
        if view not in self.known:
            counts["views audited"] += 1
            self.known[view] = self._claims(mutant)
        elif counts["judged"] % self.recheck == 0:
            counts["audited again"] += 1
            if self._claims(mutant) != self.known[view]:
                wrong.append("one view has two answers")
        return wrong + gained(self.before, self.known[view])

    def _claims(self, mutant: Mutant) -> Claims:
        try:
            return claims(audited(MutantTree(self.tree, mutant.changed), self.capability))
        except SglAuditError:
            return {}


def arguments() -> argparse.Namespace:
    """What the user asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source")
    parser.add_argument("--seconds", type=float, default=900)
    parser.add_argument("--mutants", type=int, default=sys.maxsize, help="stop after so many")
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--limit", type=float, default=20, help="processor seconds for one mutant")
    parser.add_argument("--files", type=int, help="only the N files that say most of backends")
    parser.add_argument("--largest", type=int, default=sys.maxsize, help="bytes of a file")
    parser.add_argument("--audit", metavar="CAPABILITY")
    parser.add_argument("--recheck", type=int, default=200)
    parser.add_argument("--whole", type=int, default=200)
    return parser.parse_args()


def report(asked: argparse.Namespace, counts: Counter[str], label: str) -> None:
    """One line with the seeds and every count."""
    seeds = f"{asked.start} to {asked.start + counts['mutants'] - 1}"
    said = ", ".join(f"{name} {count}" for name, count in counts.items() if name != "wrong")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{label}, seeds {seeds}: {said}; wrong {counts['wrong']}; "
        f"{time.process_time():.0f} s of processor time, at most {peak} MiB",
        flush=True,
    )


def main() -> int:
    """Go through seeds until the time is up, or a signal comes."""
    asked = arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # A hang shows where it is and ends this process; in processor time, whatever else runs here.
    faulthandler.register(signal.SIGPROF, chain=True)
    tree = open_source(asked.source, offline=True)
    reading = Reading(tree, asked.files, asked.largest)
    judging = Judging(tree, asked.audit, asked.recheck, asked.whole) if asked.audit else None
    label, began = f"{tree.info.label}, {len(reading.paths)} files", time.monotonic()
    counts: Counter[str] = Counter({"mutants": 0})
    try:
        while time.monotonic() < began + asked.seconds and counts["mutants"] < asked.mutants:
            seed = asked.start + counts["mutants"]
            # What ends this process leaves the seed behind.
            print(f"\r{seed}", end="", file=sys.stderr, flush=True)
            mutant = mutant_of(tree, reading.paths, seed)
            signal.setitimer(signal.ITIMER_PROF, asked.limit * 3)
            start = time.process_time()
            try:
                wrong = reading.check(mutant, counts)
                counts["mutants"] += 1
                wrong += judging.check(mutant, counts) if judging else []
            except Exception as error:
                traceback.print_exc(limit=-3)
                wrong = [f"crash: {type(error).__name__}"]
                counts["mutants"] = seed - asked.start + 1
            signal.setitimer(signal.ITIMER_PROF, 0)
            if time.process_time() - start > asked.limit:
                wrong.append("over the time limit")
            counts["wrong"] += bool(wrong)
            for text in wrong:
                print(f"{mutant}: {text}", flush=True)
            if counts["mutants"] % EVERY == 0:
                report(asked, counts, label)
    except KeyboardInterrupt:
        pass
    report(asked, counts, label)
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
