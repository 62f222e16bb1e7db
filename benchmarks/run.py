"""What an audit and a resolve cost, as ratios to parsing the same files. Prints one table.

    python benchmarks/run.py [VERSION ...]

Ratios count: machines differ and share their cores. Each measurement is the CPU time of this
process, the best of a few runs.
"""

from __future__ import annotations

import ast
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from sgl_audit import api
from sgl_audit.audit.facts import read_tree
from sgl_audit.audit.families import model_folders, served_families
from sgl_audit.evaluate.resolver import Resolver
from sgl_audit.model.resolution import Launch
from sgl_audit.model.source import SourceTree

VERSIONS = ("0.5.4", "0.5.9", "0.5.15", "0.5.23")
CACHE = Path(__file__).resolve().parents[1] / ".cache"


def cpu(run: Callable[[], object], times: int = 1) -> float:
    """CPU seconds, the best of some runs."""
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best


def parse(tree: SourceTree, paths: tuple[str, ...]) -> None:
    """Parse files with `ast`."""
    for path in paths:
        ast.parse(tree.read(path))


def launches(tree: SourceTree, count: int) -> Iterator[Launch]:
    """Launches of the families people serve, on one capability."""
    read = read_tree(tree, capabilities=("sm120",))
    families = served_families(tree, read.facts)
    with model_folders(families) as folders:
        listed = list(folders.values())
        for index in range(count):
            yield Launch(str(index), "sm120", ("--model-path", listed[index % len(listed)]))


def measure(version: str) -> list[str]:
    """One row of the table."""
    tree = api.open_source(f"sglang=={version}", cache_dir=CACHE)
    libraries, _ = api.open_libraries(tree, cache_dir=CACHE)
    resolver = Resolver(tree, libraries)
    every = list(launches(tree, 60))
    cold = cpu(lambda: resolver.resolve(every[0]))
    loaded = tuple(resolver.machine.imports.loaded_files)
    base = cpu(lambda: parse_all(resolver, loaded), 3)
    for launch in every[:20]:
        resolver.resolve(launch)
    warm = cpu(lambda: [resolver.resolve(launch) for launch in every[20:]]) / len(every[20:])
    facts = cpu(lambda: read_tree(tree, capabilities=api.ALL_CAPABILITIES))
    files = cpu(lambda: parse(tree, server_files(tree)))
    return [
        version,
        f"{cold:.2f} s = {cold / base:.1f} x ast of {len(loaded)} files",
        f"{1000 * warm:.0f} ms",
        f"{facts:.1f} s = {facts / files:.1f} x ast of {len(server_files(tree))} files",
    ]


def parse_all(resolver: Resolver, paths: tuple[str, ...]) -> None:
    """Parse the files an interpretation loaded."""
    for path in paths:
        ast.parse(resolver.program.read(path))


def server_files(tree: SourceTree) -> tuple[str, ...]:
    """Files that mention a gate, a backend or a choice list: those an audit reads in full."""
    words = (b"_backend", b"is_sm", b"is_cuda", b"capability", b"_CHOICES")
    return tuple(path for path in tree.files() if any(w in tree.read(path) for w in words))


def main() -> None:
    """Print the table."""
    print("version | first launch, cold | a launch, warm | facts on all capabilities")
    for version in sys.argv[1:] or VERSIONS:
        print(" | ".join(measure(version)), flush=True)


if __name__ == "__main__":
    main()
