"""`importlib`, `pkgutil` and package metadata.

Assumes: installed versions are the pins of the analysed distribution's metadata.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.values import MISSING, Class, Instance, Module, Opaque, Raised, Value

if TYPE_CHECKING:
    from sgl_audit.evaluate.standins import Standins


def _importlib(standins: Standins, module: Module) -> None:
    machine = standins.machine

    def import_module(name: Value, package: Value = None) -> Value:
        if name.startswith("."):
            level = len(name) - len(name.lstrip("."))
            name = machine.imports.absolute(package, True, name.lstrip("."), level)
        return machine.imports.load(name)

    standins.define(
        module,
        import_module=import_module,
        reload=lambda target: target,
        invalidate_caches=lambda: None,
    )
    module.ns["util"] = machine.imports.load("importlib.util")
    module.ns["metadata"] = machine.imports.load("importlib.metadata")


def _util(standins: Standins, module: Module) -> None:
    machine = standins.machine

    def find_spec(name: Value, package: Value = None) -> Value:
        program = machine.imports.program
        if program.file_of(name) is not None or program.is_namespace(name):
            return Opaque(f"spec of {name}")
        if program.owns(name) and name.split(".")[0] != "transformers":
            return None
        return Opaque(f"spec of {name}") if standins.exists(name) else None

    standins.define(module, find_spec=find_spec)


def _metadata(standins: Standins, module: Module) -> None:
    machine = standins.machine
    missing = Class(
        "PackageNotFoundError",
        (machine.exceptions["ModuleNotFoundError"],),
        {},
        "importlib.metadata",
    )
    module.ns["PackageNotFoundError"] = missing

    def version(name: Value) -> Value:
        world = standins.world
        wanted = name.lower().replace("_", "-")
        if wanted == world.distribution.name:
            return world.distribution.version
        found = world.package_version(wanted)
        if (
            found is None
            and wanted in ("nvidia-cublas", "nvidia-cublas-cu12")
            and wanted not in world.packages
        ):
            major = world.cuda.split(".")[0]
            if wanted == "nvidia-cublas" and int(major) >= 13:
                found = f"{major}.1"
        if found is not None:
            world.ask(f"package.{wanted}")
            return found
        listed = any(
            pin.name == wanted and pin.extra is None for pin in world.distribution.requires
        )
        unstated = not world.has_metadata and standins.existing.is_known(wanted)
        if (listed or unstated) and wanted not in world.packages:
            from sgl_audit.evaluate.values import Unknown

            reason = "required without an exact version" if listed else "the source has no metadata"
            return Unknown(f"version of {wanted}", reason, ("version", wanted), "version")
        raise Raised(machine.call(missing, [name], {}))

    standins.define(module, version=version)
    standins.define(
        module,
        raw=True,
        entry_points=lambda *a, **k: [],
        distributions=list,
        distribution=lambda n: Opaque("distribution"),
    )


def _pkgutil(standins: Standins, module: Module) -> None:
    machine = standins.machine
    info = Class("ModuleInfo", (machine.object_class,), {}, "pkgutil")

    def iter_modules(path: Value = None, prefix: str = "") -> Value:
        found = []
        for folder in path or ():
            package = str(folder).replace("/", ".")
            for name, is_package in machine.imports.program.submodules(package):
                item = Instance(info)
                item.d.update({"name": prefix + name, "ispkg": is_package, "module_finder": None})
                info.ns["__iter__"] = standins.native(
                    "__iter__",
                    lambda owner: iter((None, owner.d["name"], owner.d["ispkg"])),
                    raw=True,
                )
                info.ns["__iter__"].method = True
                found.append(item)
        return found

    def walk(path: Value = None, prefix: str = "", onerror: Value = None) -> Value:
        listed = []
        for item in iter_modules(path, prefix):
            listed.append(item)
            if item.d["ispkg"]:
                folder = item.d["name"].replace(".", "/")
                listed += walk([folder], item.d["name"] + ".")
        return listed

    standins.define(
        module,
        iter_modules=iter_modules,
        walk_packages=walk,
        resolve_name=lambda name: _resolve(machine, name),
    )


def _resolve(machine: Any, name: str) -> Value:
    parent, _, attribute = name.replace(":", ".").rpartition(".")
    return machine.getattr(machine.imports.load(parent), attribute)


def _builtins(standins: Standins, module: Module) -> None:
    module.ns = standins.machine.builtins
    module.ns.setdefault("__name__", "builtins")


BUILDERS: dict[str, Any] = {
    "importlib": _importlib,
    "importlib.util": _util,
    "importlib.metadata": _metadata,
    "importlib_metadata": _metadata,
    "pkgutil": _pkgutil,
    "builtins": _builtins,
}
__all__ = ["BUILDERS", "MISSING"]
