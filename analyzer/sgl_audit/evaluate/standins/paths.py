"""`os.path`, `pathlib`, `glob`, `tempfile`, `shutil`.

Assumes: POSIX paths; `~` stays as it is; temporary files live in memory under /tmp.
"""

from __future__ import annotations

import operator
import posixpath
from collections.abc import Callable
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.values import MISSING, Class, Instance, Module, Native, Property, Value

if TYPE_CHECKING:
    from sgl_audit.evaluate.standins import Standins


def os_path(standins: Standins, module: Module) -> None:
    """`os.path`."""
    files = standins.files

    def pure(name: str) -> Any:
        function = getattr(posixpath, name)
        return lambda *parts: function(*[files.text(part) for part in parts])

    for name in [
        "join",
        "dirname",
        "basename",
        "splitext",
        "split",
        "normpath",
        "isabs",
        "relpath",
    ]:
        standins.define(module, **{name: pure(name)})
    standins.define(
        module,
        commonprefix=lambda paths: posixpath.commonprefix([files.text(p) for p in paths]),
        exists=files.exists,
        isfile=files.is_file,
        isdir=files.is_dir,
        islink=lambda path: False,
        lexists=files.exists,
        abspath=lambda path: posixpath.normpath(files.text(path)),
        realpath=lambda path: posixpath.normpath(files.text(path)),
        expanduser=files.text,
        expandvars=files.text,
        getsize=lambda path: len(files.read(path)),
        getmtime=lambda path: 0.0,
    )
    module.ns.update({"sep": "/", "pathsep": ":", "pardir": "..", "curdir": "."})


def _ordered(order: Callable[[Any, Any], bool], path: str, other: Value) -> Any:
    text = getattr(other, "d", {}).get("_path")
    if text is None:
        return NotImplemented
    return order(PurePosixPath(path), PurePosixPath(text))


def pathlib(standins: Standins, module: Module) -> None:
    """`pathlib`."""
    machine = standins.machine
    files = standins.files
    cls = Class("Path", (machine.object_class,), {}, "pathlib")
    cls.finals = True

    def make(*parts: Value) -> Value:
        item = Instance(cls)
        item.d["_path"] = (
            str(PurePosixPath(*[files.text(part) for part in parts])) if parts else "."
        )
        return item

    cls.data["new"] = Native("Path", lambda args, kw: make(*args[1:]))

    def method(name: str, run: Any) -> None:
        cls.ns[name] = Native(name, lambda a, k: run(a[0].d["_path"], *a[1:], **k), method=True)

    def prop(name: str, run: Any) -> None:
        cls.ns[name] = Property(Native(name, lambda a, k: run(PurePosixPath(a[0].d["_path"]))))

    method("is_file", files.is_file)
    method("is_dir", files.is_dir)
    method("exists", files.exists)
    method("joinpath", make)
    method("__truediv__", make)
    method("__rtruediv__", lambda path, first: make(first, path))
    method("__str__", lambda path: path)
    method("__fspath__", lambda path: path)
    method("__repr__", lambda path: f"PosixPath({path!r})")
    method("__hash__", hash)
    method("__eq__", lambda path, other: getattr(other, "d", {}).get("_path") == path)
    method("as_posix", lambda path: path)
    for name in ("resolve", "absolute", "expanduser"):
        method(name, lambda path, *a, **k: make(posixpath.normpath(path)))
    method("read_text", lambda path, *a, **k: files.read(path).decode("utf-8", "replace"))
    method("read_bytes", lambda path: files.read(path))
    method("write_text", lambda path, text, *a, **k: files.keep(path, text))
    method("iterdir", lambda path: [make(path, name) for name in files.names_in(path)])
    method("glob", lambda path, pattern: [make(p) for p in files.glob(f"{path}/{pattern}")])
    method("rglob", lambda path, pattern: [make(p) for p in files.glob(f"{path}/{pattern}")])
    method("open", lambda path, mode="r", *a, **k: files.open(path, mode))
    method("mkdir", lambda path, *a, **k: None)
    method("with_suffix", lambda path, suffix: make(str(PurePosixPath(path).with_suffix(suffix))))
    method("with_stem", lambda path, stem: make(str(PurePosixPath(path).with_stem(stem))))
    method("match", lambda path, pattern: PurePosixPath(path).match(pattern))
    for sign in ("lt", "le", "gt", "ge"):
        order = getattr(operator, sign)
        method(f"__{sign}__", partial(_ordered, order))
    method("with_name", lambda path, name: make(str(PurePosixPath(path).with_name(name))))
    method("is_absolute", lambda path: path.startswith("/"))
    method(
        "relative_to",
        lambda path, other: make(str(PurePosixPath(path).relative_to(files.text(other)))),
    )
    prop("name", lambda p: p.name)
    prop("stem", lambda p: p.stem)
    prop("suffix", lambda p: p.suffix)
    prop("suffixes", lambda p: list(p.suffixes))
    prop("parts", lambda p: p.parts)
    prop("parent", lambda p: make(str(p.parent)))
    prop("parents", lambda p: [make(str(parent)) for parent in p.parents])
    cls.ns["home"] = Native("home", lambda a, k: make("~"))
    cls.ns["cwd"] = Native("cwd", lambda a, k: make("/"))
    for name in ("Path", "PurePath", "PosixPath", "PurePosixPath"):
        module.ns[name] = cls


def temporary(standins: Standins, module: Module) -> None:
    """`tempfile`, `glob`, `shutil`."""
    files = standins.files
    match module.name:
        case "glob":
            standins.define(module, glob=files.glob, iglob=files.glob)
        case "tempfile":
            standins.define(
                module,
                gettempdir=lambda: "/tmp",
                mkdtemp=lambda *a, **k: "/tmp/work",
                mktemp=lambda *a, **k: "/tmp/work-file",
                NamedTemporaryFile=lambda *a, **k: files.open("/tmp/named", "w"),
            )
            module.ns["TemporaryDirectory"] = standins.machine.imports.opaque(
                "tempfile.TemporaryDirectory"
            )
        case "shutil":
            standins.define(
                module,
                which=lambda name, **k: None,
                rmtree=lambda *a, **k: None,
                copy=lambda *a, **k: None,
            )


BUILDERS: dict[str, Any] = {
    "os.path": os_path,
    "posixpath": os_path,
    "pathlib": pathlib,
    "glob": temporary,
    "tempfile": temporary,
    "shutil": temporary,
}
__all__ = ["BUILDERS", "MISSING"]
