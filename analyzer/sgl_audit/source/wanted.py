"""What the caller wants opened: which package of which distribution, and how it is recognised."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from sgl_audit.source.limits import DEFAULT_LIMITS, Limits

# What a folder of that name must hold to be the real package; __init__.py for any other.
_MARKERS = {"sglang": "srt"}
# Repository and the folder in it that holds the package, from each project's PyPI page.
_UPSTREAM = {
    "sglang": ("https://github.com/sgl-project/sglang", "python/"),
    "flashinfer-python": ("https://github.com/flashinfer-ai/flashinfer", ""),
    "transformers": ("https://github.com/huggingface/transformers", "src/"),
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """One package to open. `package` is the import name, `distribution` the name on PyPI."""

    package: str
    distribution: str
    limits: Limits = DEFAULT_LIMITS

    @property
    def marker(self) -> str:
        """The entry that the package folder must hold."""
        return _MARKERS.get(self.package, "__init__.py")

    @property
    def normal_name(self) -> str:
        """The distribution's normalised name."""
        return canonicalize_name(self.distribution)

    def is_held_by(self, paths: Iterable[str]) -> bool:
        """Whether a tree of these paths holds the package."""
        marker = f"{self.package}/{self.marker}"
        return any(path == marker or path.startswith(f"{marker}/") for path in paths)


def upstream_at_version(wanted: Wanted, name: str, version: str | None) -> str | None:
    """Base URL for links into the release `version`, or None where no tag can be named."""
    if version is None or name != wanted.normal_name:
        return None
    try:
        parsed = Version(version)
    except InvalidVersion:
        return None
    # Development and local versions are built between tags: a link would show other lines.
    if parsed.is_devrelease or parsed.local:
        return None
    return _upstream(wanted, f"v{version}")


def upstream_at_commit(wanted: Wanted, commit: str) -> str | None:
    """Base URL for links into one commit, or None for a project whose home is not known."""
    return _upstream(wanted, commit)


def _upstream(wanted: Wanted, ref: str) -> str | None:
    home = _UPSTREAM.get(wanted.normal_name)
    return None if home is None else f"{home[0]}/blob/{ref}/{home[1]}"
