"""The local Hugging Face cache, read without `huggingface_hub` and without the network.

Source of the layout: huggingface_hub's guide "Understand caching": models--ORG--NAME/ with
refs/REVISION, snapshots/COMMIT/ and blobs/.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from sgl_audit.errors import UsageError
from sgl_audit.launch.text import read_bounded

_REPOSITORY = re.compile(
    r"(?:[A-Za-z0-9][A-Za-z0-9._-]{0,95}/)?[A-Za-z0-9][A-Za-z0-9._-]{0,95}", re.ASCII
)
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*){0,4}", re.ASCII)
_COMMIT = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,127}", re.ASCII)
_REF_LIMIT = 1024


def hub_cache(environment: Mapping[str, str] | None = None) -> Path:
    """The folder of cached repositories.

    Source of the order: huggingface_hub/constants.py (HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE,
    HF_HOME, XDG_CACHE_HOME).
    """
    variables = os.environ if environment is None else environment
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if variables.get(name):
            return Path(variables[name]).expanduser()
    if variables.get("HF_HOME"):
        return Path(variables["HF_HOME"]).expanduser() / "hub"
    base = variables.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "huggingface" / "hub"


def is_hub_name(text: str) -> bool:
    """Whether a model path can be the name of a repository: `org/name` or `name`."""
    return bool(_REPOSITORY.fullmatch(text)) and "--" not in text and ".." not in text


def find_snapshot(name: str, revision: str | None, cache: Path) -> Path | None:
    """The snapshot folder of a cached repository, or None where it is not cached.

    With no revision, `main`; where that is not cached but exactly one snapshot is, that one.
    """
    if not is_hub_name(name) or not _safe_revision(revision):
        return None
    repository = cache / f"models--{name.replace('/', '--')}"
    snapshots = repository / "snapshots"
    commit = _read_ref(repository / "refs" / (revision or "main"))
    for candidate in (commit, revision):
        if candidate and (snapshots / candidate).is_dir():
            return snapshots / candidate
    if revision is not None or not snapshots.is_dir():
        return None
    only = sorted(path for path in snapshots.iterdir() if path.is_dir())
    return only[0] if len(only) == 1 else None


def _safe_revision(revision: str | None) -> bool:
    return revision is None or (bool(_REVISION.fullmatch(revision)) and ".." not in revision)


def _read_ref(path: Path) -> str | None:
    if not path.is_file():
        return None
    try:
        text = read_bounded(path, _REF_LIMIT, "ref").decode("ascii", "replace").strip()
    except UsageError:
        return None
    return text if _COMMIT.fullmatch(text) and ".." not in text else None
