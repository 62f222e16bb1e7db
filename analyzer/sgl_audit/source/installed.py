"""No SOURCE given: the package installed in this environment, found but never imported."""

from __future__ import annotations

import importlib.metadata
import json
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sgl_audit.errors import SourceError
from sgl_audit.model.source import Distribution, SourceKind
from sgl_audit.source.folder import FolderTree, open_folder
from sgl_audit.source.metadata import parse_metadata
from sgl_audit.source.names import Notes
from sgl_audit.source.wanted import Wanted

DEMO = Path(__file__).resolve().parents[1] / "demo"


def open_installed(wanted: Wanted, notify: Callable[[str], None], demo: Path = DEMO) -> FolderTree:
    """Open what is installed here; where nothing is, the bundled demonstration tree.

    Args:
        wanted: what to look for.
        notify: is told where the demonstration tree stands in.
        demo: that tree; a folder like an unpacked wheel.

    Raises:
        SourceError: neither is there, or what is installed cannot be read.
    """
    paths = _search_paths()
    for found in importlib.metadata.distributions(name=wanted.distribution, path=paths):
        folder = _package_folder(found, wanted)
        if folder is not None:
            metadata = _metadata(found, wanted)
            label = f"{wanted.distribution} {metadata.version or ''}".strip()
            return open_folder(folder, wanted, SourceKind.INSTALLED, label, metadata)
    for path in paths:
        folder = Path(path) / wanted.package
        if (folder / wanted.marker).exists():
            return open_folder(folder, wanted, SourceKind.INSTALLED, wanted.distribution)
    if (demo / wanted.package).is_dir():
        notify(
            f"no {wanted.distribution} is installed in this environment: reading the bundled "
            "demonstration tree instead"
        )
        return open_folder(demo, wanted, SourceKind.DEMO, "bundled demonstration tree")
    raise SourceError(
        f"no {wanted.distribution} is installed in this environment ({sys.prefix}); give a "
        f"checkout, a wheel file or {wanted.distribution}==VERSION."
    )


def _search_paths() -> list[str]:
    # What happens to lie in the current folder is not installed, though Python may import it.
    here = Path.cwd()
    return [path for path in sys.path if path and Path(path).is_dir() and Path(path) != here]


def _package_folder(found: importlib.metadata.Distribution, wanted: Wanted) -> Path | None:
    folder = Path(str(found.locate_file(wanted.package)))
    if (folder / wanted.marker).exists():
        return folder
    checkout = _editable_root(found)
    return checkout if checkout is not None and checkout.is_dir() else None


def _editable_root(found: importlib.metadata.Distribution) -> Path | None:
    """The checkout of an editable install, as PEP 610's direct_url.json names it."""
    try:
        record = json.loads(found.read_text("direct_url.json") or "null")
        url = urlsplit(record["url"])
    except (ValueError, TypeError, KeyError, AttributeError, OSError):
        return None
    if url.scheme != "file":
        return None
    path = unquote(url.path)
    # file:///C:/folder
    return Path(path[1:] if path[2:3] == ":" else path)


def _metadata(found: importlib.metadata.Distribution, wanted: Wanted) -> Distribution:
    text = found.read_text("METADATA") or found.read_text("PKG-INFO") or ""
    return parse_metadata(text.encode("utf-8", errors="replace"), wanted.distribution, Notes())
