"""Where a report goes: a file, replaced as a whole or not at all, a device, or stdout."""

from __future__ import annotations

import io
import os
import stat
import sys
import tempfile
from pathlib import Path

from sgl_audit.errors import UsageError

STDOUT = "-"


def write_report(text: str, target: str) -> Path | None:
    """Write a report to a file or to stdout.

    A link is written through: what it names is replaced, the link stays.

    Args:
        text: the whole report.
        target: a path, or "-" for stdout.

    Returns:
        The file written, or None for stdout.

    Raises:
        UsageError: the file cannot be written; nothing half-written is left.
    """
    if target == STDOUT or _is_stream(target, sys.stdout):
        write_stdout(text)
        return None
    path = Path(target)
    data = text.encode("utf-8", "backslashreplace")
    try:
        _write(path, data)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"Cannot write the report to {target}: {reason}.") from error
    return path


def check_target(target: str) -> None:
    """Refuse a path that cannot take a report, before the work for it is done.

    Raises:
        UsageError: it is a folder, its folder is missing, or it may not be written.
    """
    if target == STDOUT:
        return
    if not target.strip() or "\0" in target:
        raise UsageError("-o needs the name of a file, or - for stdout; it is empty.")
    try:
        _check_path(target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"Cannot write the report to {target}: {reason}.") from error


def _check_path(target: str) -> None:
    status = _status(target)
    if status is None:
        # What a link names is what will be written.
        parent = Path(os.path.realpath(target)).parent
        if not parent.exists():
            raise UsageError(f"-o {target}: the folder {parent} does not exist; make it first.")
        if not parent.is_dir():
            raise UsageError(f"-o {target}: {parent} is a file, not a folder; name another one.")
        return
    if stat.S_ISDIR(status.st_mode):
        raise UsageError(f"-o {target} is a folder; name a file in it.")
    # The superuser may write anything; the person who took the right away meant it nonetheless.
    protected = stat.S_ISREG(status.st_mode) and not status.st_mode & 0o222
    if protected or not os.access(target, os.W_OK):
        raise UsageError(f"-o {target} is write-protected; name another file or make it writable.")


def _status(target: str) -> os.stat_result | None:
    try:
        # Not of what realpath gives: the link behind /dev/fd/3 names nothing that can be found.
        return Path(target).stat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_stream(target: str, stream: object) -> bool:
    """Whether the path is what that stream already writes to, as /dev/stdout is."""
    try:
        here = os.fstat(stream.fileno())  # type: ignore[attr-defined]
        return os.path.samestat(Path(target).stat(), here)
    except (OSError, ValueError, AttributeError):
        return False


def write_stdout(text: str) -> None:
    """Write to stdout; a reader that went away (`| head`) is not an error.

    Raises:
        UsageError: stdout is closed, or has no room.
    """
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
    except OSError as error:
        silence_stdout()
        raise UsageError(
            f"Cannot write the report to stdout: {error.strerror}; -o FILE writes it to a file."
        ) from error


def silence_stdout() -> None:
    """Point stdout at nothing, or the interpreter complains of the closed pipe when it exits."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        # No file of the system is behind it, so that only the object can be replaced.
        sys.stdout = io.StringIO()


def _write(path: Path, data: bytes) -> None:
    check_target(str(path))
    status = _status(str(path))
    real = Path(os.path.realpath(path))
    if status is not None and _in_place(path, real, status):
        path.write_bytes(data)
    else:
        _replace(real, data)


def _in_place(path: Path, real: Path, status: os.stat_result) -> bool:
    """Whether a rename over it would harm: it is no file, or others hold on to this very one."""
    return (
        not stat.S_ISREG(status.st_mode)
        or status.st_nlink > 1
        or path.is_relative_to("/dev")
        or path.is_relative_to("/proc")
        or _is_stream(str(path), sys.stderr)
        or not os.access(real.parent, os.W_OK)
    )


def _replace(path: Path, data: bytes) -> None:
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
