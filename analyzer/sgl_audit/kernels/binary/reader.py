"""Open a FILE.whl or FILE.so and report the device images in it. Nothing is extracted."""

from __future__ import annotations

import mmap
import zipfile
from pathlib import Path

from sgl_audit.errors import SourceError
from sgl_audit.kernels.binary.library import read_library
from sgl_audit.kernels.binary.wheel import Limits, wheel_libraries
from sgl_audit.model.kernels import BinaryReport, SharedObject
from sgl_audit.model.source import Diagnostic

__all__ = ["Limits", "read_binary"]

_NO_CODE = (
    "{label} carries no GPU code ({why}), so it says nothing about any capability; "
    "give the file that holds the kernels."
)


def read_binary(path: Path, limits: Limits | None = None) -> BinaryReport:
    """Report which CUDA (and ROCm) images a wheel or shared object carries.

    A library of a wheel that cannot be read becomes a diagnostic and the rest goes on; a file
    without GPU code is a report without objects whose last diagnostic says so.

    Raises:
        SourceError: the file cannot be opened, or is neither a wheel nor a library.
    """
    try:
        if not path.is_file():
            raise SourceError(f"--binary {path}: no such file. Give a .whl or .so file.")
        if path.suffix == ".whl" or zipfile.is_zipfile(path):
            return _finish(path.name, *_read_wheel(path, limits or Limits()))
        return _finish(path.name, *_read_file(path))
    except OSError as error:
        raise SourceError(f"--binary {path}: cannot be read ({error.strerror}).") from error


def _read_wheel(
    path: Path, limits: Limits
) -> tuple[int, tuple[SharedObject, ...], tuple[Diagnostic, ...]]:
    objects: list[SharedObject] = []
    diagnostics: list[Diagnostic] = []
    examined = 0
    for name, data in wheel_libraries(path, limits):
        examined += 1
        try:
            if isinstance(data, str):
                raise SourceError(data)
            found = read_library(name, data)
        except SourceError as error:
            diagnostics.append(Diagnostic(f"{path.name}: {name} was not read: {error}."))
            continue
        if found is not None:
            objects.append(found)
    return examined, tuple(objects), tuple(diagnostics)


def _read_file(path: Path) -> tuple[int, tuple[SharedObject, ...], tuple[Diagnostic, ...]]:
    try:
        with path.open("rb") as stream:
            if path.stat().st_size == 0:
                raise SourceError("it is empty")
            with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
                found = read_library(path.name, data)
    except SourceError as error:
        raise SourceError(
            f"--binary {path}: {error}. Give a wheel or a Linux shared object."
        ) from error
    return 1, (found,) if found else (), ()


def _finish(
    label: str,
    examined: int,
    objects: tuple[SharedObject, ...],
    diagnostics: tuple[Diagnostic, ...],
) -> BinaryReport:
    if not objects and len(diagnostics) < max(examined, 1):
        why = f"libraries examined: {examined}" if examined else "there is no library in it"
        diagnostics += (Diagnostic(_NO_CODE.format(label=label, why=why)),)
    return BinaryReport(label, examined, objects, diagnostics)
