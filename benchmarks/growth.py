"""How costs grow with launches, capabilities and releases. Prints one table.

    python benchmarks/growth.py [VERSION]

Growth with the number of files is in the tables of benchmarks/run.py: releases differ in it. All
caches are new ones, in which only wheels are.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from run import TOOL, Cost, batch_file, cost, new_cache

from sgl_audit.model.capability import ALL_CAPABILITIES

# Ranges of releases; of each, those that are in the cache are read.
RANGES = ("0.5.9..0.5.10", "0.5.9..0.5.15", "0.5.4..0.5.23")


def measure(version: str, folder: Path) -> Iterator[tuple[str, Cost]]:
    """Rows of the table."""
    source = f"sglang=={version}"
    for count in (10, 100, 200):
        kept = new_cache(folder / f"launches-{count}")
        words = (*TOOL, "resolve", source, "--batch", batch_file(folder, count))
        yield f"{count} launches in a batch", cost(words, kept)
    for count in (1, 3, 8, len(ALL_CAPABILITIES)):
        kept = new_cache(folder / f"capabilities-{count}")
        names = ",".join(ALL_CAPABILITIES[-count:])
        yield f"audit on {count} capabilities", cost((*TOOL, source, "--arch", names), kept)
    for span in RANGES:
        kept = new_cache(folder / span)
        asked = ("--option", "attention_backend", "--arch", "sm120", "--offline")
        words = (*TOOL, "history", f"sglang=={span}", *asked)
        yield f"history of the releases at hand in {span}", cost(words, kept)


def main() -> None:
    """Print the table."""
    version = sys.argv[1] if len(sys.argv) > 1 else "0.5.9"
    print(f"sglang {version}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for what, spent in measure(version, Path(folder)):
            print(f"  {what:42} {spent}", flush=True)


if __name__ == "__main__":
    main()
