"""The program as its own witness: run with `python -I`, it reports what it does to the outside.

Arguments: a file to report to, the folders to import from (with `:`), then those of the program.
"""

from __future__ import annotations

import os
import sys

report, folders, *arguments = sys.argv[1:]
sys.path[:0] = folders.split(os.pathsep)
out = os.open(report, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink", "os.link", "os.chmod")
# Its own workers are forks of it, in which this hook hears everything too.
_STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn")
_ANALYSED = ("sglang", "torch", "transformers", "flashinfer", "sgl_kernel")


def tell(kind: str, what: object) -> None:
    """One line; written without a file object, of which the hook would hear."""
    os.write(out, f"{kind}\t{what!r}\n".encode("utf-8", "backslashreplace"))


def hook(event: str, given: tuple[object, ...]) -> None:
    """What CPython tells of."""
    opened = event == "open" and isinstance(given[2], int) and given[2] & _WRITING
    if opened or event in _CHANGES:
        tell("write", given[0])
    elif event in _STARTS:
        tell("start", given[0] if given else event)
    elif event.startswith("socket.") and event != "socket.__new__":
        tell("network", event)
        raise PermissionError("no network here")
    elif event == "import" and str(given[0]).partition(".")[0] in _ANALYSED:
        tell("import", given[0])
    elif event == "exec" and "hostile-tree" in getattr(given[0], "co_filename", ""):
        tell("run", given[0])


sys.addaudithook(hook)
from sgl_audit.cli import main  # noqa: E402

main(arguments)
