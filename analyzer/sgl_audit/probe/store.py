"""The evidence folder: one JSON file a run, written as a whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import psutil

from sgl_audit.errors import UsageError
from sgl_audit.model.evidence import EVIDENCE_FORMAT, Evidence, FailureClass, RunOutcome

DEFAULT_FOLDER = "sgl-audit-evidence"
_MOST_BYTES = 32 << 20
_SAME_START_S = 2.0
_KIND = "sgl-audit evidence"
_NOT_ITS_OWN = FailureClass.PORT_TAKEN


@dataclass(frozen=True, slots=True)
class Unread:
    """A file in the folder that is no evidence, and why."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Kept:
    """A run with the file that holds it."""

    path: Path
    evidence: Evidence


def now() -> str:
    """The time as it stands in a record."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def key_of(*parts: object) -> str:
    """One short text that is equal for equal parts."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def new_id(key: str) -> str:
    """A name for a run: sorts by time, and two at once do not meet."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")[:-3]
    return f"{stamp}-{key[:8]}"


class Store:
    """One folder of evidence."""

    def __init__(self, folder: Path) -> None:
        """Open or create the folder.

        Raises:
            UsageError: it cannot be made or written.
        """
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"the evidence folder {folder} cannot be made ({error.strerror}); give another "
                "one with --evidence"
            ) from error
        if not os.access(folder, os.W_OK | os.X_OK):
            raise UsageError(
                f"the evidence folder {folder} cannot be written; give another one with --evidence"
            )

    def log_path(self, run_id: str) -> Path:
        """Where a run's log goes."""
        return self.folder / f"{run_id}.log"

    def write(self, evidence: Evidence) -> Path:
        """Write a run anew.

        Raises:
            UsageError: the file cannot be written.
        """
        path = self.folder / f"{evidence.id}.json"
        data = encode(evidence)
        try:
            handle, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=self.folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                Path(name).chmod(0o644)
                Path(name).replace(path)
            except BaseException:
                with contextlib.suppress(OSError):
                    Path(name).unlink()
                raise
        except OSError as error:
            raise UsageError(f"the evidence {path} cannot be written ({error.strerror})") from error
        return path


def encode(evidence: Evidence) -> bytes:
    """A run as JSON, indented, keys in the order of the model."""
    return msgspec.json.format(msgspec.json.encode(_plain(msgspec.to_builtins(evidence))), indent=1)


def _plain(value: Any) -> Any:
    """JSON has no NaN and no infinity: such a number becomes its name."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def decode(data: bytes) -> Evidence:
    """A run from JSON.

    Raises:
        ValueError: it is no evidence, or of a format that this version does not read.
    """
    try:
        head = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"it is no JSON ({error})") from error
    if not isinstance(head, dict) or head.get("kind") != _KIND:
        raise ValueError("it is no evidence of sgl-audit")
    if head.get("format") != EVIDENCE_FORMAT:
        raise ValueError(
            f"its format is {head.get('format')!r}; this version of sgl-audit reads "
            f"{EVIDENCE_FORMAT}"
        )
    try:
        return msgspec.convert(head, Evidence)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error


def read_file(path: Path) -> Evidence:
    """One run.

    Raises:
        ValueError: the file is too large, unreadable or no evidence.
    """
    if not path.is_file():
        raise ValueError("it is no regular file")
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ValueError(f"it is larger than {_MOST_BYTES >> 20} MiB")
        data = path.read_bytes()
    except OSError as error:
        raise ValueError(f"it cannot be read ({error.strerror})") from error
    return decode(data)


def read_folder(folder: Path) -> tuple[tuple[Kept, ...], tuple[Unread, ...]]:
    """Every run of a folder, oldest first, and the files that are none.

    Raises:
        UsageError: there is no such folder.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder; give the one that `sgl-audit probe` wrote")
    kept, unread = [], []
    for path in _json_files(folder):
        try:
            kept.append(Kept(path, read_file(path)))
        except ValueError as error:
            unread.append(Unread(path, str(error)))
    kept.sort(key=lambda item: (item.evidence.created, item.evidence.id))
    return tuple(settled(item) for item in kept), tuple(unread)


def _json_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.glob("*.json")):
        if not path.name.startswith("."):
            yield path


def settled(kept: Kept) -> Kept:
    """A run that says it is running, although its tool is gone, was interrupted."""
    item = kept.evidence
    if item.outcome is not RunOutcome.RUNNING or _at_work(item.pid, item.pid_started):
        return kept
    text = item.summary or f"the tool ended in phase {item.phase}, and the run with it"
    return replace(kept, evidence=replace(item, outcome=RunOutcome.INTERRUPTED, summary=text))


def _at_work(pid: int, started: float) -> bool:
    """Whether that very process is still there, and not another one of the same number."""
    if pid <= 0 or not psutil.pid_exists(pid):
        return False
    with contextlib.suppress(psutil.Error):
        return bool(abs(psutil.Process(pid).create_time() - started) < _SAME_START_S)
    return False


def finished(kept: Sequence[Kept], key: str) -> Evidence | None:
    """The latest finished run of a combination, or None. That its port was taken says nothing of
    it."""
    same = (item.evidence for item in kept if item.evidence.key == key)
    found = [run for run in same if run.outcome.final and run.failure is not _NOT_ITS_OWN]
    return found[-1] if found else None
