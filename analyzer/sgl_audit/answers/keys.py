"""Names of questions: equal where, and only where, the answer must be the same."""

from __future__ import annotations

import hashlib
import os
import platform
import stat
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from sgl_audit.model.source import SourceTree
from sgl_audit.source.key import content_key, digest_of
from sgl_audit.version import __version__

# A model folder has some dozens of files. What has more is no model, and is not looked through.
_MOST_FILES = 4000
_MOST_BYTES = 32_000_000


def key_of(kind: str, parts: Iterable[object]) -> str:
    """Sixty-four hex digits for a question.

    Args:
        parts: all that the answer depends on, each with a `repr` that tells its value.
    """
    return digest_of(repr(part) for part in (tool_key(), kind, *parts))


def tree_key(tree: SourceTree | None) -> str:
    """What a tree holds and how it is called: reports name it."""
    return "none" if tree is None else f"{content_key(tree)} {tree.info!r}"


@lru_cache
def tool_key() -> str:
    """Changes with the version of this tool, with any change of its installed files, and with
    Python: each of them may change an answer."""
    digest = hashlib.sha256(f"{__version__} {platform.python_version()}".encode())
    for path, status in sorted(_own_files()):
        digest.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _own_files() -> Iterator[tuple[str, os.stat_result]]:
    pending = [str(folder) for folder in (Path(__file__).resolve().parents[1], *_reports())]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != "__pycache__":
                        pending.append(entry.path)
                else:
                    yield entry.path, entry.stat()


def _reports() -> list[Path]:
    """Where the reports are imported from, without importing them."""
    from importlib.util import find_spec

    found = find_spec("sgl_audit_reports")
    return [Path(place) for place in (found.submodule_search_locations or ())] if found else []


def folder_key(path: Path | None) -> str | None:
    """What a local folder holds, in short; "none" where there is no folder.

    None where it holds too much to tell quickly, or cannot be read.
    """
    if path is None or not path.is_dir():
        return "none"
    digest = hashlib.sha256()
    seen = 0
    try:
        for folder, folders, names in os.walk(path):
            folders.sort()
            seen += len(folders) + len(names)
            if seen > _MOST_FILES:
                return None
            for name in sorted(names):
                line = f"{os.path.relpath(folder, path)}/{name} {_content(Path(folder, name))}\n"
                digest.update(line.encode("utf-8", errors="surrogatepass"))
    except OSError:
        return None
    return digest.hexdigest()


def _content(path: Path) -> str:
    """Text is compared by content, since times can stay the same through a change; weights, of
    which only names and sizes are ever read, by size and time."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
        return f"{status.st_size} {status.st_mtime_ns}"
    return hashlib.sha256(path.read_bytes()).hexdigest()
