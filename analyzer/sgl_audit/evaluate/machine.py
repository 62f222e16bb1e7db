"""The interpreter: calls, errors, budgets, and what ties values, imports and stand-ins together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.branching import Branching
from sgl_audit.evaluate.calling import bind_arguments
from sgl_audit.evaluate.classes import make_class, new_instance
from sgl_audit.evaluate.journal import Journal, Overlay
from sgl_audit.evaluate.objects import Objects
from sgl_audit.evaluate.scopes import GLOBALS, PARENT
from sgl_audit.evaluate.standins.builtin_types import fill_os_error
from sgl_audit.evaluate.standins.contexts import Managers
from sgl_audit.evaluate.statements import Split
from sgl_audit.evaluate.text import Text
from sgl_audit.evaluate.values import (
    MISSING,
    Bound,
    BudgetReachedError,
    Cases,
    Class,
    ClassMethod,
    Function,
    Instance,
    Lazy,
    Module,
    Namespace,
    Native,
    Opaque,
    Property,
    Raised,
    StaticMethod,
    Super,
    Undecidable,
    Unknown,
    Value,
    freeze,
    is_instance,
    set_hook_caller,
    short,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.imports import Imports

# Calls and rounds of loops; a launch of today's release takes 55,000.
STEP_BUDGET = 4_000_000
DEPTH_BUDGET = 400
# Methods that change nothing, whatever object they are called on.
READING = frozenset(
    "get items keys values copy startswith endswith lower upper strip lstrip rstrip split rsplit "
    "replace join format index count find rfind isdigit is_file exists to_dict to_diff_dict "
    "get_text_config total_memory issubset issuperset union intersection difference".split()
)
# What a watcher of a function gives when the function is to run as usual.
NOT_HANDLED = object()
# Under this name an opaque value keeps the function of the tree that it was made from.
WRAPPED = "<wrapped>"
FILLED_LATER = (dict, list, set)


class Machine(Objects, Branching, Text, Managers):
    """Interprets functions of one tree for one capability.

    Attributes:
        imports: modules of the tree and stand-ins outside it.
        handlers: how many interpreted `try` statements that swallow are active.
        handling: exceptions being handled, innermost last.
        world: facts about the machine and environment that stand-ins answer from.
        overrides: (module, function) -> stand-in used instead of an interpreted function.
    """

    imports: Imports

    def __init__(self) -> None:
        self.journal = Journal()
        self.touch = self.journal.touch
        self.handlers = 0
        self.handling: list[Raised] = []
        self.steps = 0
        self.depth = 0
        self.step_budget = STEP_BUDGET
        self.builtins: Namespace = {}
        self.object_class: Class = Class.__new__(Class)
        self.types: dict[type, Class] = {}
        self.exceptions: dict[str, Class] = {}
        self.tracer: Any = None
        self.follower: Any = None
        self.unknown_state = Overlay()
        self.misses: list[tuple[Value, Namespace, Any]] = []
        self.external: dict[str, int] = {}
        super().__init__()
        set_hook_caller(self.call)

    def error(self, kind: str, *args: Value, place: tuple[str, int] | None = None) -> Raised:
        """An exception of the analysed program, ready to be raised."""
        return Raised(self.exception(kind, *args), place)

    def exception(self, kind: str, *args: Value) -> Instance:
        """An instance of a built-in exception class."""
        cls = self.exceptions.get(kind) or self.exceptions["Exception"]
        item = Instance(cls)
        item.d["args"] = tuple(args)
        if self.exceptions["OSError"] in cls.mro:
            fill_os_error([item, *args], {})
        elif self.exceptions["ImportError"] in cls.mro:
            item.d.update({"name": None, "path": None, "msg": args[0] if args else None})
        return item

    def convert(self, error: BaseException) -> Raised:
        """A Python exception met by a stand-in, as an exception of the analysed program."""
        for cls in type(error).__mro__:
            if cls.__name__ in self.exceptions:
                return self.error(cls.__name__, *error.args)
        return self.error("Exception", str(error))

    def raising(self, item: Value, place: tuple[str, int] | None) -> Raised:
        """What `raise item` raises."""
        if isinstance(item, Class):
            item = self.call(item, [], {})
        if isinstance(item, Instance):
            return Raised(item, place)
        if isinstance(item, Unknown):
            raise Undecidable(f"raises {item.name}: {item.reason}", place)
        if not isinstance(item, Opaque):
            text = "exceptions must derive from BaseException"
            return self.error("TypeError", text, place=place)
        raised = self.error("Exception", short(item), place=place)
        raised.value.d["external"] = short(item)
        return raised

    def catches(self, kind: Value, item: Instance) -> bool:
        """Whether `except kind` catches the exception."""
        if isinstance(kind, tuple):
            return any(self.catches(part, item) for part in kind)
        if isinstance(kind, Class):
            return kind in item.cls.mro
        if isinstance(kind, Opaque):
            return False
        raise Undecidable(f"except {short(kind)}")

    def descend(self) -> None:
        """One more call is running."""
        if self.depth >= DEPTH_BUDGET:
            raise BudgetReachedError("depth budget reached")
        self.depth += 1

    def ascend(self) -> None:
        """A call has ended or a generator rests."""
        self.depth -= 1

    def step(self) -> None:
        """Count one loop round or call."""
        self.steps += 1
        if self.steps > self.step_budget:
            raise BudgetReachedError("step budget reached")

    def global_missing(self, ns: Namespace, name: str) -> Value:
        """A global name that the module does not bind: built-in, or an error."""
        value = self.builtins.get(name, MISSING)
        if value is not MISSING:
            return value
        if name == "__builtins__":
            return self.imports.load("builtins")
        hook = ns.get("__unbound__")
        if hook is not None and name in hook:
            return hook[name]
        raise self.error("NameError", f"name {name!r} is not defined")

    def force(self, holder: Namespace, name: str, value: Lazy) -> Value:
        """Load a lazily imported name and bind it for good."""
        loaded = self.imports.resolve_lazy(value)
        self.touch(holder)
        holder[name] = loaded
        return loaded

    def note_globals(self, ns: Namespace) -> Namespace:
        """The module namespace itself, as `globals()` gives it."""
        self.touch(ns)
        return ns

    def call(
        self, function: Value, args: list[Value] | tuple[Value, ...], kwargs: dict[str, Value]
    ) -> Value:
        """Call any value.

        Raises:
            Raised: the program's own exception.
            Undecidable: what happens cannot be told.
        """
        kind = function.__class__
        if kind is Function:
            return self.call_function(function, args, kwargs)
        if kind is Bound:
            return self.call(function.function, [function.self, *args], kwargs)
        if kind is Native:
            return self.call_native(function, args, kwargs)
        if kind is Class:
            return self.instantiate(function, args, kwargs)
        if kind is Cases:
            return self.fork_case(function, lambda item: self.call(item, args, kwargs))
        if kind is Unknown or isinstance(function, Unknown):
            return self.call_unknown(function, args, kwargs)
        if kind is Opaque:
            return self.call_opaque(function, args, kwargs)
        if kind is StaticMethod or kind is ClassMethod:
            return self.call(function.function, args, kwargs)
        if is_instance(function):
            hook = function.cls.find("__call__")
            if hook is not MISSING:
                return self.call(self.bind(hook, function, function.cls), args, kwargs)
        host = self.host_call(function, args, kwargs)
        if host is not MISSING:
            return host
        raise self.error("TypeError", f"{self.type_name(function)!r} object is not callable")

    def call_unknown(
        self, function: Unknown, args: Iterable[Value], kwargs: dict[str, Value]
    ) -> Value:
        """Calling something unknown gives something unknown, the same for the same arguments."""
        if self.follower is not None:
            self.follower.outside(function, args, kwargs)
        text = ", ".join(short(arg) for arg in args)
        key = (
            "call",
            function.key,
            *(freeze(arg) for arg in args),
            *((name, freeze(value)) for name, value in kwargs.items()),
        )
        return Unknown(f"{function.name}({text})", function.reason, key, function.kind)

    def call_opaque(
        self, function: Opaque, args: Iterable[Value], kwargs: dict[str, Value]
    ) -> Value:
        """Calling something outside the tree that no stand-in describes."""
        if self.follower is not None:
            done = self.follower.outside(function, args, kwargs)
            if done is not NOT_HANDLED:
                return done
        self.external[function.name] = self.external.get(function.name, 0) + 1
        key = ("call", function.name, *(freeze(arg) for arg in args))
        return Unknown(f"{function.name}(...)", "outside the tree", key, "external")

    def call_native(
        self, function: Native, args: Iterable[Value], kwargs: dict[str, Value]
    ) -> Value:
        """Call a stand-in; unknown arguments make the result unknown unless it takes them."""
        listed = args if args.__class__ is list else list(args)
        if not function.raw:
            for arg in listed:
                if arg.__class__ is Cases:
                    return self.fork_argument(function, listed, kwargs, arg)
                if isinstance(arg, Unknown):
                    return self.call_unknown(
                        Unknown(function.name, arg.reason, ("native", function.name), arg.kind),
                        listed,
                        kwargs,
                    )
            for arg in kwargs.values():
                if isinstance(arg, Unknown):
                    return Unknown(
                        function.name, arg.reason, ("native", function.name, arg.key), arg.kind
                    )
        try:
            return function.run(listed, kwargs)
        except (Raised, Undecidable):
            raise
        except RecursionError:
            raise BudgetReachedError("depth budget reached") from None
        except Exception as error:
            raise self.convert(error) from None

    def call_function(
        self, function: Function, args: list[Value] | tuple[Value, ...], kwargs: dict[str, Value]
    ) -> Value:
        """Run an interpreted function."""
        code = function.code
        if code.watch is not None:
            done = code.watch(function, args, kwargs)
            if done is not NOT_HANDLED:
                return done
        if self.follower is not None:
            return self.follower.run(function, args, kwargs)
        frame: dict[str, Value] = {GLOBALS: function.globals, PARENT: function.env}
        if code.simple and not kwargs and len(args) == len(code.positional):
            frame.update(zip(code.positional, args, strict=True))
        else:
            bind_arguments(self, function, frame, args, kwargs)
        if code.is_async:
            return Unknown(f"{code.name}()", "coroutines are not evaluated")
        if self.depth >= DEPTH_BUDGET:
            raise BudgetReachedError("depth budget reached")
        self.steps += 1
        if self.steps > self.step_budget:
            raise BudgetReachedError("step budget reached")
        self.depth += 1
        try:
            signal = code.body(frame)
        except RecursionError:
            raise BudgetReachedError("depth budget reached") from None
        finally:
            self.depth -= 1
        if signal is None:
            return None
        return self.join_returns(signal) if signal.__class__ is Split else signal.value

    def call_method(
        self, owner: Value, name: str, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        """`owner.name(*args)` without building the bound method where that can be avoided."""
        if owner.__class__ is Instance:
            cls = owner.cls
            hit = cls.cache.get(name, MISSING)
            if hit.__class__ is Function and name not in owner.d and cls.finals:
                return self.call_function(hit, [owner, *args], kwargs)
        else:
            table = self.methods.get(owner.__class__)
            if table is not None and (method := table.get(name)) is not None:
                return method(self, owner, args, kwargs)
            if isinstance(owner, Unknown) and not isinstance(owner, Cases) and name not in READING:
                function = self.getattr(owner, name)
                self.disturb(owner)
                return self.call(function, args, kwargs)
        return self.call(self.getattr(owner, name), args, kwargs)

    def call_super(self, after: Class, owner: Value, name: str, args: list[Value]) -> Value:
        """`super().name(*args)` in a method of class `after`."""
        if owner.__class__ is not Instance:
            return self.call(self.getattr(Super(after, owner), name), args, {})
        cls = owner.cls
        key: Any = (after, name)
        hit = cls.cache.get(key, cls)
        if hit is cls:
            later = cls.mro[cls.mro.index(after) + 1 :] if after in cls.mro else ()
            hit = next((parent.ns[name] for parent in later if name in parent.ns), MISSING)
            cls.cache[key] = hit
        if hit.__class__ is Function:
            return self.call_function(hit, [owner, *args], {})
        if hit is MISSING and name == "__getattribute__" and len(args) == 1:
            value = self.plain_attribute(owner, args[0], False)
            if value is MISSING:
                raise self.attribute_error(owner, args[0])
            return value
        return self.call(self.getattr(Super(after, owner), name), args, {})

    def instantiate(
        self, cls: Class, args: list[Value] | tuple[Value, ...], kwargs: dict[str, Value]
    ) -> Value:
        """Call a class."""
        if len(args) == 3 and self.types[type] in cls.mro and cls is not self.types[type]:
            name, bases, ns = args
            return make_class(self, name, tuple(bases), dict(ns), {**kwargs, "metaclass": cls})
        if cls.meta is not None:
            hook = cls.meta.find("__call__")
            if isinstance(hook, Function):
                return self.call_function(hook, [cls, *args], kwargs)
        return self.create(cls, args, kwargs)

    def create(
        self, cls: Class, args: list[Value] | tuple[Value, ...], kwargs: dict[str, Value]
    ) -> Value:
        """`type.__call__`: make the instance and initialise it."""
        maker = cls.cache.get("<new>", MISSING)
        if maker is MISSING:
            maker = self._maker_of(cls)
            cls.cache["<new>"] = maker
        init = cls.find("__init__")
        if maker is None:
            if cls.opaque_base is not None and init is MISSING:
                return self.opaque_instance(cls, args, kwargs)
            item = new_instance(cls)
            self.journal.fresh(item.d)
        elif (
            isinstance(maker, Native) and isinstance(init, Function) and cls.layout in FILLED_LATER
        ):
            item = new_instance(cls)
        else:
            item = self.call(maker, [cls, *args], kwargs)
            if not is_instance(item) or cls not in item.cls.mro:
                return item
            if isinstance(maker, Native) and (
                maker.d.get("done") or not (maker.d or isinstance(init, Function))
            ):
                return item
        if init is MISSING:
            if (args or kwargs) and self.takes_no_arguments(cls):
                raise self.error("TypeError", f"{cls.name}() takes no arguments")
            return item
        self.call(self.bind(init, item, cls), args, kwargs)
        return item

    def _maker_of(self, cls: Class) -> Value:
        missing = cls.data.get("abstract_names")
        if missing and cls.opaque_base is None:
            return Native(cls.name, lambda args, kwargs: self.refuse_abstract(cls), raw=True)
        for owner in cls.mro:
            if "new" in owner.data:
                return owner.data["new"]
            hook = owner.ns.get("__new__")
            if hook is not None:
                return hook.function if isinstance(hook, StaticMethod) else hook
        return None

    def refuse_abstract(self, cls: Class) -> Value:
        """The error for an instance of a class whose abstract methods are not all defined."""
        names = cls.data["abstract_names"]
        plural = "s" if len(names) > 1 else ""
        listed = ", ".join(names)
        text = f"Can't instantiate abstract class {cls.name} with abstract method{plural} {listed}"
        raise self.error("TypeError", text)

    def takes_no_arguments(self, cls: Class) -> bool:
        """Whether extra arguments are an error for a class without initialiser."""
        return cls.opaque_base is None and cls.layout is None

    def opaque_instance(self, cls: Class, args: Iterable[Value], kwargs: dict[str, Value]) -> Value:
        """An instance of a tree class whose initialiser lies outside the tree."""
        item = Instance(cls)
        item.d["args"] = tuple(args)
        return item

    def decorate(self, decorator: Value, value: Value) -> Value:
        """Apply a decorator. What an undescribed outside decorator returns is unknown."""
        if isinstance(decorator, (Opaque, Unknown)):
            name = decorator.name
            if self.imports.is_transparent(name):
                return value
            if isinstance(value, Class):
                return value
            made = Opaque(f"{short(value)} decorated by {name}")
            made.d[WRAPPED] = value
            return made
        made = self.call(decorator, [value], {})
        if made.__class__ is Opaque and isinstance(value, Function):
            # An operator under the name that the function was registered with.
            made.d[WRAPPED] = value
        return made

    def iterate(self, value: Value) -> Iterator[Value]:
        """Iterate as Python does.

        Raises:
            Undecidable: the value is unknown.
        """
        kind = value.__class__
        if kind in (list, tuple, range, str, bytes):
            return iter(value)
        if kind is dict:
            return self.iterate_dict(value)
        if kind is set or kind is frozenset:
            return self.iterate_set(value)
        if isinstance(value, Unknown):
            raise Undecidable(f"iteration over {value.name}: {value.reason}")
        return self.iterate_object(value)

    def truth(self, value: Value) -> bool:
        """The truth of a value where it must be known.

        Raises:
            Undecidable: it is not.
        """
        truth = self.truth_value(value)
        if truth is True or truth is False:
            return truth
        raise Undecidable(f"{truth.name}: {truth.reason}")

    def truth_value(self, value: Value) -> Any:
        """True, False, or the unknown that decides."""
        kind = value.__class__
        if kind is bool:
            return value
        if value is None:
            return False
        if kind in (str, int, list, dict, tuple, set, float, frozenset, bytes):
            return bool(value)
        if isinstance(value, Unknown):
            return self.known_truth(value)
        if kind is Instance or is_instance(value):
            return self.instance_truth(value)
        if kind in (Class, Function, Module, Opaque, Native, Bound, Super, Property):
            return True
        return bool(value)

    def instance_truth(self, value: Value) -> Any:
        """`bool(instance)` by its own rules."""
        hook = value.cls.find("__bool__")
        if hook is not MISSING:
            return self.truth_value(self.call(self.bind(hook, value, value.cls), [], {}))
        hook = value.cls.find("__len__")
        if hook is not MISSING and value.cls.layout is None:
            return self.call(self.bind(hook, value, value.cls), [], {}) != 0
        return True if value.__class__ is Instance else bool(value)
