"""A release that a tree pins: from the cache, else as installed, else fetched where allowed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sgl_audit.errors import SglAuditError, SourceError
from sgl_audit.model.source import SourceInfo, SourceKind, SourceTree
from sgl_audit.source.cache import WheelCache, cache_root
from sgl_audit.source.installed import open_installed
from sgl_audit.source.opening import open_source
from sgl_audit.source.pypi import parse_pypi_spec
from sgl_audit.source.wanted import Wanted


def open_pinned(
    tree: SourceInfo,
    wanted: Wanted,
    version: str,
    *,
    fetch: bool,
    offline: bool,
    cache_dir: Path | None,
    notify: Callable[[str], None],
    lost: str = "",
) -> SourceTree:
    """Open the release of a library that a tree pins.

    Whoever gives files of their own has not asked for the network: what they pin is fetched where
    the tree is a release from PyPI itself, or with `fetch`.

    Args:
        lost: what is unknown without it, for the one line that says so.

    Raises:
        SourceError: it is not at hand and must not be fetched, or cannot be had.
        UsageError: the pin is no version.
    """
    spec = f"{wanted.distribution}=={version}"
    cached = WheelCache(
        cache_root(cache_dir), wanted.normal_name, parse_pypi_spec(spec, wanted)
    ).find()
    if cached is None:
        installed = _installed(wanted, version)
        if installed is not None:
            return installed
    fetching = not offline and (fetch or tree.kind is SourceKind.PYPI)
    if cached is None and not fetching and not offline:
        reason = f"{spec} is neither in the cache nor installed"
        if lost:
            notify(
                f"{reason}, so {lost} is unknown; --fetch gets it once (for files of your own "
                "nothing is fetched unasked)"
            )
        raise SourceError(f"{reason}; --fetch gets it once")
    return open_source(
        spec,
        offline=not fetching,
        cache_dir=cache_dir,
        package=wanted.package,
        distribution=wanted.distribution,
        notify=notify,
    )


def _installed(wanted: Wanted, version: str) -> SourceTree | None:
    """The library in this environment, where it is exactly that version."""
    try:
        found = open_installed(wanted, lambda text: None, Path("nowhere"))
    except (SglAuditError, OSError):
        return None
    return found if found.info.distribution.version == version else None
