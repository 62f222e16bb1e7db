"""Git, asked only for objects: no checkout, no hooks, no filters, no network."""

from __future__ import annotations

import os
import subprocess
import threading
import weakref
from pathlib import Path
from typing import IO

from sgl_audit.errors import SourceError
from sgl_audit.source.names import shown

_TIMEOUT_SECONDS = 60
_OPTIONS = (
    "--no-pager",
    "--no-replace-objects",
    "-c",
    "core.fsmonitor=",
    "-c",
    "core.hooksPath=/dev/null",
    # A partial clone would otherwise fetch the objects that it lacks.
    "-c",
    "protocol.allow=never",
)


class GitFault(Exception):
    """Git could not answer; the text is what it said."""


def command(directory: Path, *arguments: str) -> list[str]:
    """The command line for one read-only git call in `directory`."""
    return ["git", *_OPTIONS, "-C", str(directory), *arguments]


def environment() -> dict[str, str]:
    """The caller's environment without anything that points git elsewhere."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return kept | {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_LITERAL_PATHSPECS": "1",
        "LC_ALL": "C",
    }


def ask(directory: Path, *arguments: str) -> bytes:
    """What one git call prints.

    Raises:
        GitFault: git said no.
        SourceError: there is no git on this machine.
    """
    try:
        done = subprocess.run(
            command(directory, *arguments),
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except FileNotFoundError as error:
        raise _no_git(directory) from error
    except subprocess.TimeoutExpired as error:
        raise GitFault(f"no answer in {_TIMEOUT_SECONDS} seconds") from error
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", errors="replace").strip().splitlines()
        raise GitFault(lines[0] if lines else f"exit status {done.returncode}")
    return done.stdout


def _no_git(directory: Path) -> SourceError:
    return SourceError(
        f"git is needed to read {shown(directory)} at a ref and is not on this machine's PATH; "
        "install git, or give the folder without @REF."
    )


class BlobReader:
    """One `git cat-file --batch` process, started on first use. Not for sharing over a fork."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def blob(self, name: str, limit: int) -> bytes | None:
        """The blob `name` (an object id or `COMMIT:PATH`), or None where it is over `limit` bytes.

        Raises:
            GitFault: there is no such blob, or git ended.
        """
        if not name.isprintable():
            raise GitFault("the object name is not printable")
        with self._lock:
            stdin, stdout = self._streams()
            try:
                stdin.write(name.encode("utf-8") + b"\n")
                stdin.flush()
                header = stdout.readline().decode("utf-8", errors="replace").split()
            except OSError as error:
                raise GitFault("git cat-file ended") from error
            if len(header) != 3 or not header[2].isdigit():
                raise GitFault("the object is missing" if header else "git cat-file ended")
            size = int(header[2])
            if header[1] != "blob" or size > limit:
                self._stop()
                if header[1] == "blob":
                    return None
                raise GitFault(f"the object is a {header[1]}, not a file")
            data = stdout.read(size + 1)
        if len(data) != size + 1:
            raise GitFault("git cat-file ended")
        return data[:size]

    def _streams(self) -> tuple[IO[bytes], IO[bytes]]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                command(self._directory, "cat-file", "--batch"),
                env=environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            self._end = weakref.finalize(self, _end, self._process, os.getpid())
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        return self._process.stdin, self._process.stdout

    def _stop(self) -> None:
        # Cheaper than reading the rest of an object that nobody wants.
        self._end()
        self._process = None


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    # A forked child holds a copy of this object but must not end its parent's process.
    if os.getpid() != owner:
        return
    process.kill()
    process.communicate()
