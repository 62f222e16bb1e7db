"""`os`, `sys` and `platform`.

Assumes: Linux on x86-64 with CPython 3.11.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.classes import new_instance
from sgl_audit.evaluate.standins import paths
from sgl_audit.evaluate.values import (
    MISSING,
    Class,
    Instance,
    Module,
    Native,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.standins import Standins


def environment_object(standins: Standins) -> Value:
    """`os.environ`: a dict of text that knows when it is read."""
    world = standins.world
    machine = standins.machine
    found = world.extra.get("environ")
    if found is None:
        cls = Class("_Environ", (machine.types[dict],), {}, "os")

        def store(args: list[Value], kwargs: dict[str, Value]) -> None:
            for text in args[1:]:
                if not isinstance(text, (str, Unknown)):
                    kind = machine.type_name(text)
                    raise machine.error("TypeError", f"str expected, not {kind}")
            machine.touch(args[0])
            dict.__setitem__(args[0], args[1], args[2])

        cls.ns["__setitem__"] = Native("__setitem__", store, raw=True, method=True)
        found = new_instance(cls, world.environment)
        found.d["mapping"] = found
        world.environment = found
        world.extra["environ"] = found
    return found


def _os(standins: Standins, module: Module) -> None:
    machine = standins.machine
    files = standins.files
    environ = environment_object(standins)

    def getenv(name: Value, default: Value = None) -> Value:
        return dict.get(environ, name, default)

    def put(name: Value, value: Value) -> None:
        machine.touch(environ)
        dict.__setitem__(environ, name, value)

    def unset(name: Value) -> None:
        machine.touch(environ)
        dict.pop(environ, name, None)

    standins.define(
        module,
        getenv=getenv,
        putenv=put,
        unsetenv=unset,
        getpid=lambda: 4242,
        getppid=lambda: 4241,
        getcwd=lambda: "/",
        cpu_count=lambda: 64,
        listdir=files.names_in,
        makedirs=lambda *a, **k: None,
        mkdir=lambda *a, **k: None,
        remove=lambda *a, **k: None,
        unlink=lambda *a, **k: None,
        replace=lambda source, target: files.keep(files.text(target), files.read(source)),
        rename=lambda source, target: files.keep(files.text(target), files.read(source)),
        access=lambda path, mode: files.exists(path),
        getuid=lambda: 0,
        fspath=files.text,
        walk=lambda top, **k: [(top, [], files.names_in(top))] if files.is_dir(top) else [],
        urandom=lambda count: Unknown("random bytes", "chosen anew at every start"),
        sched_getaffinity=lambda pid: set(range(64)),
        scandir=lambda path: [],
    )
    path = machine.imports.load("os.path")
    names = {
        "environ": environ,
        "path": path,
        "sep": "/",
        "linesep": "\n",
        "name": "posix",
        "pathsep": ":",
    }
    module.ns.update(names)
    for name in ("R_OK", "W_OK", "X_OK", "F_OK"):
        module.ns[name] = 4
    pathlike = Class("PathLike", (machine.object_class,), {}, "os")
    pathlike.data["check"] = lambda value: isinstance(value, Instance) and "_path" in value.d
    module.ns["PathLike"] = pathlike


class LoadedModules:
    """`sys.modules` as a question: tree modules count as not loaded unless they are running."""


class LoadedAdapter:
    """Reading `sys.modules`."""

    def attribute(self, machine: Any, owner: Any, name: str) -> Value:
        """`sys.modules.get` and friends."""
        table: dict[str, Callable[..., Value]] = {
            "get": self._get,
            "keys": lambda m: [],
            "items": lambda m: [],
            "pop": lambda m, *a: None,
            "setdefault": lambda m, key, value: value,
        }
        run = table.get(name)
        if run is None:
            return MISSING
        return Native(f"sys.modules.{name}", lambda args, kw: run(machine, *args), raw=True)

    def _get(self, machine: Any, name: Value, default: Value = None) -> Value:
        if not isinstance(name, str):
            return default
        if machine.imports.program.owns(name):
            module = machine.imports.modules.get(name)
            running = module is not None and module.state == "loading"
            return module if running else default
        root = machine.imports.modules.get(name)
        return root if root is not None else default

    def getitem(self, machine: Any, owner: Any, key: Value) -> Value:
        """`sys.modules[name]`."""
        if key not in machine.imports.modules:
            raise machine.error("KeyError", key)
        return machine.imports.modules[key]

    def setitem(self, machine: Any, owner: Any, key: Value, value: Value) -> bool:
        """`sys.modules[name] = module`."""
        machine.touch(machine.imports.modules)
        if isinstance(value, Module):
            machine.imports.modules[key] = value
        return True

    def delitem(self, machine: Any, owner: Any, key: Value) -> bool:
        """`del sys.modules[name]`."""
        return True

    def iterate(self, machine: Any, owner: Any) -> list[str]:
        """Names of modules outside the tree that are loaded."""
        return [name for name in machine.imports.modules if not machine.imports.program.owns(name)]


def _sys(standins: Standins, module: Module) -> None:
    machine = standins.machine

    def leave(code: Value = None) -> None:
        raise machine.error("SystemExit", code)

    standins.define(
        module,
        exit=leave,
        exc_info=lambda: (None, None, None),
        getsizeof=lambda *a: 0,
        getrecursionlimit=lambda: 1000,
        setrecursionlimit=lambda limit: None,
        intern=lambda text: text,
        is_finalizing=lambda: False,
        getrefcount=lambda value: 1,
    )
    info = Class("version_info", (machine.types[tuple],), {}, "sys")
    version = new_instance(info, (3, 11, 7, "final", 0))
    version.d.update({"major": 3, "minor": 11, "micro": 7})
    loaded = LoadedModules()
    machine.imports.hosts.register(LoadedModules, LoadedAdapter())
    module.ns.update(
        {
            "version_info": version,
            "version": "3.11.7",
            "platform": "linux",
            "argv": ["sglang"],
            "modules": loaded,
            "path": [],
            "executable": "/usr/bin/python3",
            "maxsize": 2**63 - 1,
            "byteorder": "little",
            "meta_path": [],
            "path_hooks": [],
            "flags": machine.imports.opaque("sys.flags"),
            "stdout": machine.imports.opaque("sys.stdout"),
            "stderr": machine.imports.opaque("sys.stderr"),
            "prefix": "/usr",
            "base_prefix": "/usr",
            "implementation": machine.imports.opaque("sys.implementation"),
        }
    )


def _platform(standins: Standins, module: Module) -> None:
    standins.define(
        module,
        machine=lambda: "x86_64",
        system=lambda: "Linux",
        processor=lambda: "x86_64",
        python_version=lambda: "3.11.7",
        node=lambda: "host",
        release=lambda: "6.0",
        platform=lambda: "Linux-x86_64",
        architecture=lambda: ("64bit", "ELF"),
        python_implementation=lambda: "CPython",
        uname=lambda: Unknown("uname", "the host is not known"),
    )


BUILDERS: dict[str, Any] = {
    "os": _os,
    "sys": _sys,
    "platform": _platform,
    **paths.BUILDERS,
}
