"""`abc`, `types`, `inspect`, `warnings`, `copy`, `logging` and friends.

Assumes: logging and warnings have no effect on decisions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sgl_audit.evaluate.standins import contexts, copying, functools_module, records, reflection
from sgl_audit.evaluate.standins.contexts import Fixed
from sgl_audit.evaluate.values import (
    Bound,
    Class,
    ClassMethod,
    Function,
    Instance,
    Module,
    Native,
    Opaque,
    Property,
    StaticMethod,
    Value,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine
    from sgl_audit.evaluate.standins import Standins


def _simple(standins: Standins, module: Module) -> None:
    machine = standins.machine
    root = machine.object_class
    identity = standins.native("identity", lambda item: item, raw=True)
    match module.name:
        case "abc":
            meta = Class("ABCMeta", (machine.types[type],), {}, "abc")
            meta.ns["register"] = Native(
                "register", lambda a, k: _register(machine, a[0], a[1]), raw=True, method=True
            )
            base = Class("ABC", (root,), {}, "abc")
            base.meta = meta
            module.ns.update({"ABC": base, "ABCMeta": meta})
            standins.define(
                module,
                raw=True,
                abstractmethod=lambda item: _mark_abstract(machine, item),
                abstractproperty=lambda item: Property(_mark_abstract(machine, item)),
                abstractclassmethod=lambda item: ClassMethod(_mark_abstract(machine, item)),
                abstractstaticmethod=lambda item: StaticMethod(_mark_abstract(machine, item)),
            )
        case "copy":
            standins.define(
                module,
                raw=True,
                copy=lambda value: copying.shallow(machine, value),
                deepcopy=lambda value, memo=None: copying.deep(machine, value),
            )
        case "warnings":
            standins.define(
                module,
                raw=True,
                warn=lambda *a, **k: None,
                filterwarnings=lambda *a, **k: None,
                simplefilter=lambda *a, **k: None,
                catch_warnings=lambda *a, **k: Fixed([]),
                deprecated=lambda *a, **k: identity,
            )
        case "__future__":
            module.ns["annotations"] = Opaque("annotations")
        case "weakref":
            standins.define(
                module,
                raw=True,
                ref=lambda target, *rest: standins.native("ref", lambda: target, raw=True),
            )
            module.ns["WeakKeyDictionary"] = module.ns["WeakValueDictionary"] = machine.types[dict]
            module.ns["WeakSet"] = machine.types[set]


def _mark_abstract(machine: Machine, item: Value) -> Value:
    if isinstance(item, Property):
        item.abstract = True
    elif isinstance(item, (ClassMethod, StaticMethod)):
        _mark_abstract(machine, item.function)
    elif isinstance(item, (Function, Native)):
        item.d["__isabstractmethod__"] = True
    return item


def _register(machine: Machine, cls: Class, heir: Value) -> Value:
    """`AbstractClass.register(heir)`."""
    if isinstance(heir, Class):
        machine.touch(heir.data)
        heir.data["virtual"] = (*heir.data.get("virtual", ()), cls)
    return heir


def _types(standins: Standins, module: Module) -> None:
    machine = standins.machine
    from sgl_audit.evaluate.classes import make_class

    def new_class(
        name: str, bases: Value = (), kwds: Value = None, exec_body: Value = None
    ) -> Value:
        ns: dict[str, Value] = {"__module__": "types"}
        if exec_body is not None:
            machine.call(exec_body, [ns], {})
        return make_class(machine, name, tuple(bases), ns, dict(kwds or {}))

    namespace = Class("SimpleNamespace", (machine.object_class,), {}, "types")
    namespace.ns["__init__"] = Native(
        "SimpleNamespace.__init__", lambda args, kw: args[0].d.update(kw), raw=True, method=True
    )
    records.fill_bag(machine, namespace, "namespace")
    module.ns["SimpleNamespace"] = namespace
    union = standins.typing.form("UnionType")
    union.data["check"] = lambda value: (
        isinstance(value, Instance) and value.d.get("__origin__") is union
    )
    module.ns["UnionType"] = union
    for name, kind in (("FunctionType", Function), ("ModuleType", Module), ("MethodType", Bound)):
        module.ns[name] = machine.types[kind]
    machine.types[Bound].data["new"] = Native(
        "MethodType", lambda a, k: Bound(a[1], a[2]), raw=True
    )
    machine.types[Module].data["new"] = Native(
        "ModuleType", lambda a, k: _new_module(a[1]), raw=True
    )
    module.ns["NoneType"] = machine.types[type(None)]
    module.ns["GenericAlias"] = standins.typing.alias_class
    standins.define(
        module,
        raw=True,
        new_class=new_class,
        MappingProxyType=lambda value: value,
        resolve_bases=lambda bases: bases,
    )
    module.ns["LambdaType"] = module.ns["BuiltinFunctionType"] = machine.types[Function]


def _new_module(name: str) -> Module:
    module = Module(name)
    module.state = "loaded"
    return module


def _logging(standins: Standins, module: Module) -> None:
    machine = standins.machine
    silent = standins.native("log", lambda *a, **k: None, raw=True)
    cls = Class("Logger", (machine.object_class,), {}, "logging")
    cls.data["silent"] = True
    for name in [
        "debug",
        "info",
        "warning",
        "warn",
        "error",
        "exception",
        "critical",
        "log",
        "addHandler",
        "removeHandler",
        "setLevel",
        "addFilter",
    ]:
        cls.ns[name] = silent
    cls.ns["isEnabledFor"] = standins.native("isEnabledFor", lambda *a: False, raw=True)
    cls.ns["getEffectiveLevel"] = standins.native("getEffectiveLevel", lambda *a: 20, raw=True)
    cls.ns.update({"level": 20, "propagate": True, "handlers": [], "disabled": False})
    module.ns.update(
        {
            "Logger": cls,
            "DEBUG": 10,
            "INFO": 20,
            "WARNING": 30,
            "WARN": 30,
            "ERROR": 40,
            "CRITICAL": 50,
            "FATAL": 50,
            "NOTSET": 0,
        }
    )
    loggers: dict[str, Instance] = {}

    def get_logger(name: Value = "root") -> Value:
        key = name if isinstance(name, str) else "root"
        return loggers.setdefault(key, Instance(cls))

    standins.define(
        module,
        raw=True,
        getLogger=get_logger,
        basicConfig=lambda *a, **k: None,
        getLevelName=lambda level: str(level),
        captureWarnings=lambda *a: None,
        addLevelName=lambda *a: None,
        disable=lambda *a: None,
    )
    for name in ["debug", "info", "warning", "warn", "error", "exception", "critical", "log"]:
        module.ns[name] = silent
    for name in (
        "Handler",
        "Formatter",
        "Filter",
        "StreamHandler",
        "FileHandler",
        "LoggerAdapter",
        "LogRecord",
    ):
        module.ns[name] = Class(name, (machine.object_class,), {}, "logging")
        module.ns[name].data["new"] = Native(name, lambda a, k: Opaque("logging object"), raw=True)


Build = Callable[["Standins", Module], None]
BUILDERS: dict[str, Build] = {
    "functools": functools_module.build,
    "contextlib": contexts.build,
    "types": _types,
    "inspect": reflection.build,
    "logging": _logging,
    **dict.fromkeys(("abc", "copy", "warnings", "__future__", "weakref"), _simple),
}
