"""A file system in which a launch can read its model folders and write to memory only.

Assumes: nothing exists but the folders that the launch names, the files of the tree, and what the
kernel says of the memory of NUMA nodes.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.values import Undecidable, Unknown, Value

if TYPE_CHECKING:
    from sgl_audit.evaluate.standins import Standins

MAX_BYTES = 32_000_000
_NODE_MEMORY = re.compile(r"/sys/devices/system/node/node([0-9]{1,4})/meminfo")
# Questions about a model that is not at hand as a whole. It is taken to be a folder as the hub has.
ABOUT_MODEL = frozenset({"configuration of", "is at"})


def _whole(question: str) -> str:
    """A question about the model itself, not about one of its files."""
    return "the model's configuration" if question == "configuration of" else f"model {question}"


class Handle:
    """An open file. Text written stays in memory."""

    def __init__(self, files: Files, path: str, content: Any, writable: bool) -> None:
        self.files = files
        self.path = path
        self.content = content
        self.writable = writable
        self._state = {"lines read": 0}

    def readline(self) -> Any:
        """The next line, empty at the end."""
        lines = self.content.splitlines(keepends=True)
        number = self._state["lines read"]
        self.files.standins.machine.touch(self._state)
        self._state["lines read"] = number + 1
        return lines[number] if number < len(lines) else self.content[:0]

    def write(self, text: Any) -> None:
        """Append to a file in memory."""
        self.content = self.content + text
        self.files.keep(self.path, self.content)


class Files:
    """Reads below the folders a launch names; everything else does not exist.

    Attributes:
        roots: real folders that may be read, by the path the program uses for them.
        written: files written during a launch.
    """

    def __init__(self, standins: Standins) -> None:
        self.standins = standins
        self.roots: dict[str, Path] = {}
        self.written: dict[str, Any] = {}
        self.unknown_roots: set[str] = set()

    def doubt(self, path: Value, question: str) -> Unknown | None:
        """An unknown for a question about a model that is not at hand, else None."""
        if not self.unknown_roots:
            return None
        text = posixpath.normpath(self.text(path))
        for root in self.unknown_roots:
            if text.startswith(root + "/") or (text == root and question in ABOUT_MODEL):
                rest = text[len(root) :].lstrip("/")
                return Unknown(
                    f"model {question} {rest}" if rest else _whole(question),
                    "the model is not at hand",
                    ("model", question, rest),
                    "model",
                )
        return None

    def allow(self, name: str, folder: Path) -> None:
        """Let the program read a folder under the given name."""
        self.roots[name.rstrip("/") or "/"] = folder

    def keep(self, path: str, content: Any) -> None:
        """Remember what was written."""
        self.standins.machine.touch(self.written)
        self.written[path] = content

    def real(self, path: str) -> Path | None:
        """The real file behind a path, or None where it may not be read."""
        return next((place for place, inside in self._places(path) if inside), None)

    def leads_out(self, path: str) -> bool:
        """Whether a path is a file that a link outside of the folder stands for.

        It exists for the program, but what is in it is not read.
        """
        return any(not inside and place.is_file() for place, inside in self._places(path))

    def _places(self, path: str) -> Iterator[tuple[Path, bool]]:
        """Where a path may be below the real folders, and whether it stays in them."""
        path = posixpath.normpath(path)
        for name, folder in self.roots.items():
            if path == name or path.startswith(name + "/"):
                target = folder / path[len(name) :].lstrip("/")
                try:
                    resolved = target.resolve()
                    inside = resolved.is_relative_to(folder.resolve())
                    yield target, inside or _in_hub_cache(folder, resolved)
                except (OSError, RuntimeError):
                    # RuntimeError: links in a circle, before Python 3.13.
                    return

    def is_file(self, path: Value) -> Any:
        """`os.path.isfile`."""
        doubt = self.doubt(path, "has file")
        if doubt is not None:
            return doubt
        text = self.text(path)
        if text in self.written:
            return True
        real = self.real(text)
        try:
            if real is not None and stat.S_ISREG(real.stat().st_mode):
                return True
        except OSError:
            return False
        return self.leads_out(text) or self._in_tree(text) or self._of_kernel(text) is not None

    def _in_tree(self, path: str) -> bool:
        try:
            self.standins.machine.imports.program.read(path)
        except KeyError:
            return False
        return True

    def _of_kernel(self, path: str) -> bytes | None:
        found = _NODE_MEMORY.fullmatch(path)
        size = self.standins.world.numa_node_mib(int(found[1])) if found else None
        return (
            None
            if found is None or size is None
            else (f"Node {found[1]} MemTotal:       {size << 10} kB\n".encode())
        )

    def is_dir(self, path: Value) -> Any:
        """`os.path.isdir`."""
        text = self.text(path)
        if posixpath.normpath(text) in self.unknown_roots:
            return True
        doubt = self.doubt(path, "has folder")
        if doubt is not None:
            return doubt
        real = self.real(text)
        if real is not None and real.is_dir():
            return True
        prefix = text.rstrip("/") + "/"
        return any(name.startswith(prefix) for name in self.written)

    def exists(self, path: Value) -> Any:
        """`os.path.exists`."""
        doubt = self.doubt(path, "has file")
        if doubt is not None:
            return doubt
        return bool(self.is_file(path)) or bool(self.is_dir(path))

    def text(self, path: Value) -> str:
        """A path as text."""
        if isinstance(path, str):
            return str(path)
        inner = getattr(path, "d", {}).get("_path")
        if isinstance(inner, str):
            return inner
        raise self.standins.machine.error("TypeError", "expected str, bytes or os.PathLike object")

    def names_in(self, path: Value) -> list[str]:
        """Names in a folder, sorted."""
        doubt = self.doubt(path, "has in folder")
        if doubt is not None:
            raise Undecidable(f"{doubt.name}: {doubt.reason}")
        text = self.text(path).rstrip("/")
        names = {n[len(text) + 1 :].split("/")[0] for n in self.written if n.startswith(text + "/")}
        real = self.real(text)
        if real is not None and real.is_dir():
            names.update(entry.name for entry in real.iterdir())
        elif not names:
            raise self.missing(text)
        return sorted(names)

    def glob(self, pattern: Value, **options: Value) -> list[str]:
        """`glob.glob` for a pattern in the last part."""
        if isinstance(pattern, Unknown):
            raise TypeError("unknown pattern")
        doubt = self.doubt(pattern, "has files like")
        if doubt is not None:
            raise Undecidable(f"{doubt.name}: {doubt.reason}")
        folder, last = posixpath.split(self.text(pattern))
        if not self.is_dir(folder):
            return []
        return [f"{folder}/{name}" for name in self.names_in(folder) if fnmatch.fnmatch(name, last)]

    def missing(self, path: str) -> Any:
        """The exception for a file that is not there."""
        return self.standins.machine.error(
            "FileNotFoundError", 2, "No such file or directory", path
        )

    def read(self, path: Value) -> bytes:
        """The bytes of a file."""
        doubt = self.doubt(path, "says in")
        if doubt is not None:
            raise Undecidable(f"{doubt.name}: {doubt.reason}")
        text = self.text(path)
        if text in self.written:
            content = self.written[text]
            return content if isinstance(content, bytes) else content.encode()
        real = self.real(text)
        if real is not None and self.is_file(text):
            if real.stat().st_size > MAX_BYTES:
                raise Undecidable(
                    f"{text} has more than the {MAX_BYTES // 1_000_000} MB that sgl-audit reads"
                )
            return real.read_bytes()
        if self.leads_out(text):
            raise Undecidable(
                f"{text} is a link out of the model folder, which sgl-audit does not follow; "
                "copy the file into the folder"
            )
        said = self._of_kernel(text)
        if said is not None:
            return said
        try:
            packed: bytes = self.standins.machine.imports.program.read(text)
        except KeyError:
            raise self.missing(text) from None
        return packed

    def fingerprint(self, path: str) -> Any:
        """What tells one content of a file or model folder from another."""
        if path in self.written:
            return self.written[path]
        real = self.real(path)
        if real is None:
            return None
        try:
            state = real.stat()
            if stat.S_ISDIR(state.st_mode):
                names = (entry for entry in real.iterdir() if entry.suffix == ".json")
                return tuple(
                    sorted((n.name, n.stat().st_size, n.stat().st_mtime_ns) for n in names)
                )
        except OSError:
            return None
        return (state.st_size, state.st_mtime_ns)

    def open(self, path: Value, mode: str = "r", *rest: Value, **options: Value) -> Handle:
        """`open`."""
        doubt = self.doubt(path, "says in")
        if doubt is not None and "r" in mode:
            return Handle(self, self.text(path), doubt, False)
        text = self.text(path)
        if any(letter in mode for letter in "wax"):
            start: Any = b"" if "b" in mode else ""
            handle = Handle(self, text, start, True)
            self.keep(text, start)
            return handle
        data = self.read(path)
        return Handle(self, text, data if "b" in mode else data.decode("utf-8", "replace"), False)


def _in_hub_cache(folder: Path, resolved: Path) -> bool:
    """Snapshot folders of the hub cache hold links into the blobs folder beside them."""
    parts = folder.parts
    return "snapshots" in parts and resolved.parent.name == "blobs"


class HandleAdapter:
    """Methods of open files."""

    def attribute(self, machine: Any, handle: Handle, name: str) -> Value:
        """`handle.name`."""
        from sgl_audit.evaluate.values import MISSING, Native

        table: dict[str, Callable[..., Value]] = {
            "read": lambda *a: handle.content,
            "write": lambda text: handle.write(text),
            "readline": lambda *a: handle.readline(),
            "readlines": lambda *a: handle.content.splitlines(keepends=True),
            "close": lambda: None,
            "flush": lambda: None,
            "fileno": lambda: 3,
            "seek": lambda *a: 0,
            "__enter__": lambda: handle,
            "__exit__": lambda *a: None,
        }
        if name == "name":
            return handle.path
        function = table.get(name)
        if function is None:
            return MISSING
        return Native(name, lambda args, kw: function(*args), raw=name == "write")

    def iterate(self, machine: Any, handle: Handle) -> Any:
        """Lines."""
        return handle.content.splitlines(keepends=True)
