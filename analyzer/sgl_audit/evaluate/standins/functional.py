"""`functools`, `contextlib`, `abc`, `types`, `inspect`, `warnings`, `copy`, `logging` and friends.

Assumes: logging and warnings have no effect on decisions; caches are per function object.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.journal import Memo
from sgl_audit.evaluate.standins import copying
from sgl_audit.evaluate.values import (
    MISSING,
    Bound,
    Class,
    ClassMethod,
    Function,
    Instance,
    Module,
    Native,
    Opaque,
    Property,
    Raised,
    StaticMethod,
    Unknown,
    Value,
    freeze,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.standins import Standins


def cached(standins: Standins, function: Value) -> Native:
    """`lru_cache`: one entry per arguments; unknown arguments are not remembered."""
    machine = standins.machine
    entries: Memo = Memo()

    def run(args: list[Value], kwargs: dict[str, Value]) -> Value:
        if any(isinstance(arg, Unknown) for arg in (*args, *kwargs.values())):
            return machine.call(function, args, kwargs)
        key = (*args, *kwargs.items())
        try:
            found = entries.get(key, MISSING)
        except TypeError as error:
            raise machine.convert(error) from None
        if found is MISSING:
            found = machine.call(function, args, kwargs)
            machine.touch(entries)
            entries[key] = found
            if machine.journal.top is not None:
                machine.misses.append((function, entries, key))
        return found

    def clear(args: list[Value], kwargs: dict[str, Value]) -> None:
        machine.touch(entries)
        entries.clear()

    native = Native(getattr(function, "name", "cached"), run, raw=True, method=True)
    native.d.update(
        {
            "__wrapped__": function,
            "cache_clear": Native("cache_clear", clear, raw=True),
            "cache_info": Native("cache_info", lambda a, k: Opaque("cache_info"), raw=True),
        }
    )
    for name in ("__name__", "__qualname__", "__module__"):
        found = machine.lookup(function, name)
        if isinstance(found, str):
            native.d[name] = found
    return native


def _functools(standins: Standins, module: Module) -> None:
    machine = standins.machine

    def lru_cache(maxsize: Value = None, typed: Value = False) -> Value:
        if isinstance(maxsize, (Function, Native, Bound)):
            return cached(standins, maxsize)
        return standins.native("lru_cache", lambda function: cached(standins, function), raw=True)

    def partial(function: Value, *first: Value, **named: Value) -> Value:
        native = Native(
            f"partial({getattr(function, 'name', '')})",
            lambda args, kw: machine.call(function, [*first, *args], {**named, **kw}),
            raw=True,
        )
        native.d.update({"func": function, "args": first, "keywords": named})
        return native

    def wraps(wrapped: Value, *rest: Value, **kw: Value) -> Value:
        def apply(function: Value) -> Value:
            holder = getattr(function, "d", None)
            if holder is not None:
                holder.update(
                    {k: v for k, v in getattr(wrapped, "d", {}).items() if isinstance(k, str)}
                )
                holder["__wrapped__"] = wrapped
                for name in ("__name__", "__qualname__", "__module__", "__doc__"):
                    found = machine.lookup(wrapped, name)
                    if found is not MISSING:
                        holder[name] = found
            return function

        return standins.native("wraps", apply, raw=True)

    def reduce(function: Value, items: Value, *start: Value) -> Value:
        listed = [*start, *machine.iterate(items)]
        result = listed[0]
        for item in listed[1:]:
            result = machine.call(function, [result, item], {})
        return result

    standins.define(
        module,
        raw=True,
        lru_cache=lru_cache,
        cache=lambda function: cached(standins, function),
        partial=partial,
        partialmethod=partial,
        wraps=wraps,
        reduce=reduce,
        update_wrapper=lambda wrapper, wrapped, *rest, **kw: machine.call(
            wraps(wrapped), [wrapper], {}
        ),
        cached_property=lambda function: Property(function, cached=True),
        total_ordering=lambda cls: cls,
        singledispatch=lambda function: function,
        cmp_to_key=lambda function: Opaque("cmp_to_key"),
    )


class Manager:
    """A context manager made from a generator function."""

    def __init__(self, generator: Any) -> None:
        self.generator = generator


def _contextlib(standins: Standins, module: Module) -> None:
    machine = standins.machine

    def contextmanager(function: Value) -> Value:
        def run(args: list[Value], kwargs: dict[str, Value]) -> Value:
            return Manager(machine.call(function, args, kwargs))

        native = Native(getattr(function, "name", "contextmanager"), run, raw=True, method=True)
        native.d["__wrapped__"] = function
        return native

    def suppress(*kinds: Value) -> Value:
        return Suppress(kinds)

    standins.define(
        module,
        raw=True,
        contextmanager=contextmanager,
        asynccontextmanager=lambda function: function,
        suppress=suppress,
        nullcontext=lambda value=None: Fixed(value),
        redirect_stdout=lambda target: Fixed(None),
        redirect_stderr=lambda target: Fixed(None),
        closing=Fixed,
        ExitStack=lambda: Fixed(Opaque("ExitStack")),
    )
    module.ns["AbstractContextManager"] = Class(
        "AbstractContextManager", (machine.object_class,), {}
    )
    module.ns["ContextDecorator"] = Class("ContextDecorator", (machine.object_class,), {})


class Suppress:
    """`contextlib.suppress`."""

    def __init__(self, kinds: tuple[Value, ...]) -> None:
        self.kinds = kinds


class Fixed:
    """A context manager that gives a value and does nothing."""

    def __init__(self, value: Value = None) -> None:
        self.value = value


class Managers:
    """Entering and leaving `with` blocks; mixed into the machine."""

    def enter(self, manager: Value) -> Value:
        """`__enter__`."""
        machine: Any = self
        if isinstance(manager, Manager):
            return next(manager.generator, None)
        if isinstance(manager, Suppress):
            machine.handlers += 1
            return None
        if isinstance(manager, Fixed):
            return manager.value
        if isinstance(manager, (Opaque, Unknown)):
            return Unknown(f"with {manager.name}", "outside the tree")
        hook = machine.class_hook(manager, "__enter__")
        if hook is not MISSING:
            return machine.call(machine.bind(hook, manager, manager.cls), [], {})
        method = machine.lookup(manager, "__enter__")
        if method is not MISSING:
            return machine.call(method, [], {})
        return manager

    def exit(self, manager: Value, raised: Raised | None) -> bool:
        """`__exit__`; True where the exception is swallowed."""
        machine: Any = self
        if isinstance(manager, Suppress):
            machine.handlers -= 1
            return raised is not None and machine.catches(manager.kinds, raised.value)
        if isinstance(manager, Manager):
            return self._finish(manager, raised)
        hook = machine.class_hook(manager, "__exit__")
        if hook is not MISSING:
            value = None if raised is None else raised.value
            kind = None if value is None else value.cls
            answer = machine.call(machine.bind(hook, manager, manager.cls), [kind, value, None], {})
            return raised is not None and machine.truth(answer)
        return False

    def _finish(self, manager: Manager, raised: Raised | None) -> bool:
        if raised is None:
            next(manager.generator, None)
            return False
        try:
            manager.generator.throw(raised)
        except StopIteration:
            return True
        return False


def _simple(standins: Standins, module: Module) -> None:
    machine = standins.machine
    root = machine.object_class
    identity = standins.native("identity", lambda item: item, raw=True)
    match module.name:
        case "abc":
            meta = Class("ABCMeta", (machine.types[type],), {}, "abc")
            module.ns.update({"ABC": Class("ABC", (root,), {}, "abc"), "ABCMeta": meta})
            standins.define(
                module,
                raw=True,
                abstractmethod=lambda item: item,
                abstractproperty=Property,
                abstractclassmethod=ClassMethod,
                abstractstaticmethod=StaticMethod,
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
    module.ns["SimpleNamespace"] = namespace
    module.ns["UnionType"] = Class("UnionType", (machine.object_class,), {}, "types")
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


def _inspect(standins: Standins, module: Module) -> None:
    machine = standins.machine

    def signature(function: Value, **kw: Value) -> Value:
        code = _code_of(function)
        if code is None:
            return Unknown("signature", "of something outside the tree")
        names = [*code.positional, *code.kwonly]
        if isinstance(function, Bound):
            names = names[1:]
        if code.vararg:
            names.append(code.vararg)
        if code.kwarg:
            names.append(code.kwarg)
        cls = Class("Signature", (machine.object_class,), {}, "inspect")
        item = Instance(cls)
        item.d["parameters"] = {name: _parameter(machine, function, name) for name in names}
        return item

    standins.define(
        module,
        raw=True,
        isclass=lambda value: isinstance(value, Class),
        isfunction=lambda value: isinstance(value, Function),
        ismethod=lambda value: isinstance(value, Bound),
        iscoroutinefunction=lambda value: bool(getattr(_code_of(value), "is_async", False)),
        ismodule=lambda value: isinstance(value, Module),
        signature=signature,
        getmro=lambda cls: cls.mro,
        isabstract=lambda value: False,
        currentframe=lambda: Opaque("frame"),
        getmodule=lambda value: Opaque("module"),
        getmembers=lambda target, test=None: _members(machine, target, test),
    )
    module.ns["Parameter"] = Opaque("inspect.Parameter")
    module.ns["_empty"] = Opaque("inspect._empty")


def _parameter(machine: Any, function: Value, name: str) -> Instance:
    item = Instance(Class("Parameter", (machine.object_class,), {}, "inspect"))
    item.d.update({"name": name, "default": Opaque("inspect._empty"), "kind": Opaque("kind")})
    inner = function.function if isinstance(function, Bound) else function
    code = inner.code
    first = len(code.positional) - len(inner.defaults)
    if name in code.positional and code.positional.index(name) >= first:
        item.d["default"] = inner.defaults[code.positional.index(name) - first]
    elif name in inner.kwdefaults:
        item.d["default"] = inner.kwdefaults[name]
    return item


def _code_of(function: Value) -> Any:
    while isinstance(function, (Bound, StaticMethod, ClassMethod)):
        function = function.function
    if isinstance(function, Class):
        function = function.find("__init__")
    if isinstance(function, Native) and "__wrapped__" in function.d:
        return _code_of(function.d["__wrapped__"])
    return function.code if isinstance(function, Function) else None


def _members(machine: Any, target: Value, test: Value) -> list[Value]:
    ns = target.ns if isinstance(target, (Module, Class)) else {}
    pairs = sorted((name, machine.lookup(target, name)) for name in ns if isinstance(name, str))
    if test is None:
        return [tuple(pair) for pair in pairs]
    return [tuple(pair) for pair in pairs if machine.truth(machine.call(test, [pair[1]], {}))]


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
    "functools": _functools,
    "contextlib": _contextlib,
    "types": _types,
    "inspect": _inspect,
    "logging": _logging,
    **dict.fromkeys(("abc", "copy", "warnings", "__future__", "weakref"), _simple),
}


def freeze_key(value: Value) -> Any:
    """A key for caches that live outside the interpreter."""
    return freeze(value)
