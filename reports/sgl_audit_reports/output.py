"""Where a report goes: a file, replaced as a whole or not at all, or stdout."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path

from sgl_audit.errors import UsageError

STDOUT = "-"


def write_report(text: str, target: str) -> Path | None:
    """Write a report to a file or to stdout.

    Args:
        text: the whole report.
        target: a path, whose folder is created where it is missing, or "-" for stdout.

    Returns:
        The file written, or None for stdout.

    Raises:
        UsageError: the file cannot be written; nothing half-written is left.
    """
    if target == STDOUT:
        write_stdout(text)
        return None
    path = Path(target)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"Cannot write the report to {target}: {reason}.") from error
    return path


def write_stdout(text: str) -> None:
    """Write to stdout; a reader that went away (`| head`) is not an error."""
    try:
        buffer = getattr(sys.stdout, "buffer", None)
        if buffer is None:
            sys.stdout.write(text)
        else:
            sys.stdout.flush()
            buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()


def silence_stdout() -> None:
    """Point stdout at nothing, or the interpreter complains of the closed pipe when it exits."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _replace(path: Path, data: bytes) -> None:
    if path.exists() and not path.is_file():
        # A device or a pipe such as /dev/stderr cannot be replaced, only written to.
        path.write_bytes(data)
        return
    # Beside the target, because a rename is atomic only within one file system.
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(_mode(path))
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _mode(path: Path) -> int:
    # mkstemp makes private files; a report gets what an ordinary new file would get.
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
