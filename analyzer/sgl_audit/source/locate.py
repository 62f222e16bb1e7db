"""Finding the package and its metadata from the folder that a user gave."""

from __future__ import annotations

from pathlib import Path

from packaging.utils import canonicalize_name

from sgl_audit.errors import SourceError
from sgl_audit.model.source import Distribution
from sgl_audit.source.metadata import METADATA_BYTES, parse_metadata
from sgl_audit.source.names import Notes, shown
from sgl_audit.source.project import project_distribution
from sgl_audit.source.regular import read_optional
from sgl_audit.source.wanted import Wanted

# Where repositories keep the package: flashinfer, sglang, transformers.
PARENTS = ("", "python", "src")


def find_package(folder: Path, wanted: Wanted) -> Path:
    """The resolved package folder that `folder` holds or is.

    Raises:
        SourceError: none is there, it lacks what the package must have, or it is a link out.
    """
    root = folder.resolve()
    candidates = [root / parent / wanted.package for parent in PARENTS]
    incomplete = None
    for candidate in [*candidates, root]:
        if not (candidate / wanted.marker).exists():
            if candidate.is_dir() and candidate.name == wanted.package:
                incomplete = candidate
            continue
        resolved = candidate.resolve()
        if not resolved.is_relative_to(root):
            raise SourceError(
                f"{shown(candidate)} is a symbolic link out of {shown(folder)}; give the folder "
                f"{shown(resolved)} itself."
            )
        if candidate is root and not _looks_like_package(root, wanted):
            continue
        return resolved
    raise _not_found(folder, incomplete, wanted)


def _looks_like_package(root: Path, wanted: Wanted) -> bool:
    # A marker such as __init__.py says little by itself, so a renamed folder needs a special one.
    return root.name == wanted.package or wanted.marker != "__init__.py"


def _not_found(folder: Path, incomplete: Path | None, wanted: Wanted) -> SourceError:
    advice = (
        f"give a {wanted.package} checkout, its package folder, a wheel file or "
        f"{wanted.distribution}==VERSION"
    )
    if incomplete is not None:
        return SourceError(
            f"{shown(incomplete)} is not a {wanted.package} source tree, because it lacks "
            f"{wanted.marker}; {advice}."
        )
    return SourceError(f"{shown(folder)} holds no {wanted.package} package; {advice}.")


def folder_distribution(package_folder: Path, wanted: Wanted, notes: Notes) -> Distribution:
    """Metadata from a .dist-info folder beside the package, else from the project's own files."""
    parent = package_folder.parent
    for metadata in reversed(_metadata_files(parent, wanted)):
        data = read_optional(metadata, METADATA_BYTES)
        if data is not None:
            return parse_metadata(data, wanted.distribution, notes)

    def fetch(path: str) -> bytes | None:
        # The package folder may go by another name than the package.
        if path.startswith(f"{wanted.package}/"):
            return read_optional(
                package_folder / path.removeprefix(f"{wanted.package}/"), METADATA_BYTES
            )
        return read_optional(parent / path, METADATA_BYTES)

    return project_distribution(fetch, wanted, notes)


def _metadata_files(parent: Path, wanted: Wanted) -> list[Path]:
    try:
        names = sorted(path.name for path in parent.glob("*.dist-info"))
    except OSError:
        return []
    return [
        parent / name / "METADATA" for name in names if is_info_folder(name, wanted.normal_name)
    ]


def is_info_folder(name: str, normal_name: str) -> bool:
    """Whether `name` is `{distribution}-{version}.dist-info` for that distribution."""
    stem = name.removesuffix(".dist-info")
    return stem != name and canonicalize_name(stem.rpartition("-")[0]) == normal_name
