"""`argparse`: the standard parser, fed with the program's own actions and converters.

Assumes: this Python's argparse parses as the server's. Messages go nowhere; an exit becomes an
exception of the program.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.standins import records
from sgl_audit.evaluate.values import (
    MISSING,
    Bound,
    Class,
    Function,
    Instance,
    Module,
    Native,
    Raised,
    Unknown,
    Value,
    is_instance,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine
    from sgl_audit.evaluate.standins import Standins

ACTION_FIELDS = [
    "option_strings",
    "dest",
    "nargs",
    "const",
    "default",
    "type",
    "choices",
    "required",
    "help",
    "metavar",
]


class Exit(Exception):
    """The parser wants to leave."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class HostParser(argparse.ArgumentParser):
    """The standard parser without output or exits."""

    def error(self, message: str) -> Any:
        """A usage error."""
        raise Exit(2, message)

    def exit(self, status: int = 0, message: str | None = None) -> Any:
        """`--help` and `--version`."""
        raise Exit(status, message or "")

    def _print_message(self, message: str, file: Any = None) -> None:
        return

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            shown = ", ".join(repr(choice) for choice in sorted_choices(action.choices))
            raise argparse.ArgumentError(action, f"invalid choice: {value!r} (choose from {shown})")


def sorted_choices(choices: Any) -> list[Any]:
    """Choices in source order, sets sorted."""
    return sorted(choices, key=str) if isinstance(choices, (set, frozenset)) else list(choices)


class NamespaceView:
    """Lets the standard parser write into an interpreted namespace."""

    def __init__(self, machine: Machine, item: Instance) -> None:
        object.__setattr__(self, "_machine", machine)
        object.__setattr__(self, "_item", item)

    def __getattr__(self, name: str) -> Any:
        try:
            return self._item.d[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self._machine.touch(self._item.d)
        self._item.d[name] = value


# Name of each of argparse's own actions -> the one it derives from.
ACTION_KINDS = {
    "_StoreAction": "Action",
    "_StoreConstAction": "Action",
    "_StoreTrueAction": "_StoreConstAction",
    "_StoreFalseAction": "_StoreConstAction",
    "_AppendAction": "Action",
    "_AppendConstAction": "Action",
    "_ExtendAction": "_AppendAction",
    "_CountAction": "Action",
    "_HelpAction": "Action",
    "_VersionAction": "Action",
    "_SubParsersAction": "Action",
    "BooleanOptionalAction": "Action",
}


class ActionAdapter(argparse.Action):
    """Runs an interpreted action."""

    def __init__(self, machine: Machine, item: Value, parser: Any, **fields: Any) -> None:
        super().__init__(**fields)
        self.machine = machine
        self.item = item
        self.parser = parser

    def __call__(
        self, parser: Any, namespace: Any, values: Any, option_string: str | None = None
    ) -> None:
        hook = self.item.cls.find("__call__")
        self.machine.call(
            self.machine.bind(hook, self.item, self.item.cls),
            [self.parser, namespace._item, values, option_string],
            {},
        )


class ParserAdapter:
    """Methods of parsers and argument groups."""

    def __init__(self, standins: Standins, tools: Argparse) -> None:
        self.standins = standins
        self.tools = tools

    def attribute(self, machine: Machine, owner: Any, name: str) -> Value:
        """`parser.name`."""
        run = getattr(self, f"_do_{name}", None)
        if run is not None:
            return Native(name, lambda args, kwargs: run(owner, *args, **kwargs), raw=True)
        if name in ("prog", "description", "usage"):
            return getattr(owner, name)
        if name == "_actions":
            return [self._action_view(machine, action) for action in owner._actions]
        if name == "_option_string_actions":
            return {
                flag: self._action_view(machine, a)
                for flag, a in owner._option_string_actions.items()
            }
        return MISSING

    def _action_view(self, machine: Machine, action: Any) -> Value:
        if isinstance(action, ActionAdapter):
            return action.item
        # One and the same, however often the program reads the parser's list of actions.
        item = getattr(action, "_seen_as", None)
        if item is None:
            item = Instance(self.tools.kinds.get(type(action).__name__, self.tools.action))
            item.d.update({name: getattr(action, name, None) for name in ACTION_FIELDS})
            action._seen_as = item
        return item

    def _do_add_argument(self, owner: Any, *flags: Value, **options: Value) -> Value:
        machine = self.standins.machine
        action = options.get("action")
        fields = {name: self._plain(name, value) for name, value in options.items()}
        if isinstance(action, Class) and action is not self.tools.action:
            return self._add_interpreted(owner, action, flags, fields)
        if isinstance(action, Class):
            fields.pop("action")
        try:
            made = owner.add_argument(*flags, **fields)
        except (ValueError, TypeError, argparse.ArgumentError) as error:
            raise machine.convert(error) from None
        return self._action_view(machine, made)

    def _plain(self, name: str, value: Value) -> Any:
        if name == "type":
            return self.tools.converter(value)
        if name == "help" and isinstance(value, Unknown):
            return value.name
        if name == "help" and isinstance(value, str):
            return value.replace("%", "%%")
        if name == "choices" and isinstance(value, Class):
            return list(value.data.get("canonical", []))
        if name == "choices" and not isinstance(
            value, (list, tuple, set, frozenset, dict, range, type(None))
        ):
            return list(self.standins.machine.iterate(value))
        return value

    def _add_interpreted(
        self, owner: Any, cls: Class, flags: tuple[Value, ...], fields: dict[str, Any]
    ) -> Value:
        machine = self.standins.machine
        if cls.data.get("boolean_optional"):
            fields["action"] = argparse.BooleanOptionalAction
            return owner.add_argument(*flags, **fields)
        fields.pop("action")
        named = owner._get_optional_kwargs(
            *flags, **{k: v for k, v in fields.items() if k != "action"}
        )
        item = machine.call(cls, [], dict(named))
        kept = {name: item.d.get(name) for name in ACTION_FIELDS}
        kept["type"] = self.tools.converter(item.d.get("type"))
        parser = owner if isinstance(owner, HostParser) else getattr(owner, "_container", owner)
        made = ActionAdapter(machine, item, parser, **kept)
        owner._add_action(made)
        return item

    def _do_add_argument_group(self, owner: Any, *args: Value, **options: Value) -> Value:
        return owner.add_argument_group(
            *args, **{k: v for k, v in options.items() if isinstance(v, str)}
        )

    def _do_add_mutually_exclusive_group(self, owner: Any, **options: Value) -> Value:
        return owner.add_mutually_exclusive_group(**options)

    def _do_set_defaults(self, owner: Any, **values: Value) -> None:
        owner.set_defaults(**values)

    def _do_get_default(self, owner: Any, dest: str) -> Value:
        return owner.get_default(dest)

    def _do_error(self, owner: Any, message: Value) -> None:
        raise self._exit(Exit(2, message if isinstance(message, str) else "error"))

    def _do_exit(self, owner: Any, status: int = 0, message: str = "") -> None:
        raise self._exit(Exit(status, message))

    def _do_print_help(self, owner: Any, *rest: Value) -> None:
        return None

    def _do_format_help(self, owner: Any) -> str:
        return ""

    def _do_parse_args(self, owner: Any, args: Value = None, namespace: Value = None) -> Value:
        space, extra = self._parse(owner, args, namespace)
        if extra:
            raise self._exit(Exit(2, "unrecognized arguments: " + " ".join(extra)))
        return space

    def _do_parse_known_args(
        self, owner: Any, args: Value = None, namespace: Value = None
    ) -> Value:
        return self._parse(owner, args, namespace)

    def _exit(self, leave: Exit) -> Raised:
        error = self.standins.machine.error("SystemExit", leave.status)
        error.value.d["message"] = leave.message
        return error

    def _parse(
        self, owner: HostParser, args: Value, namespace: Value
    ) -> tuple[Instance, list[str]]:
        machine = self.standins.machine
        item = namespace if isinstance(namespace, Instance) else Instance(self.tools.namespace)
        words = list(args) if args is not None else list(self.standins.world.extra.get("argv", []))
        try:
            _, extra = owner.parse_known_args(words, NamespaceView(machine, item))
        except Exit as leave:
            raise self._exit(leave) from None
        except argparse.ArgumentError as error:
            raise machine.convert(error) from None
        return item, extra


class Argparse:
    """The module's classes."""

    def __init__(self, standins: Standins) -> None:
        machine = standins.machine
        self.standins = standins
        root = machine.object_class
        self.action = Class("Action", (root,), {}, "argparse")
        self.kinds: dict[str, Class] = {}
        for name, parent in ACTION_KINDS.items():
            base = self.kinds.get(parent, self.action)
            self.kinds[name] = Class(name, (base,), {}, "argparse")
        self.namespace = Class("Namespace", (root,), {}, "argparse")
        self.type_error = Class(
            "ArgumentTypeError", (machine.exceptions["Exception"],), {}, "argparse"
        )
        self.error = Class("ArgumentError", (machine.exceptions["Exception"],), {}, "argparse")
        machine.exceptions.setdefault("ArgumentError", self.error)
        machine.exceptions.setdefault("ArgumentTypeError", self.type_error)
        self.action.ns["__init__"] = Native(
            "Action.__init__", self._initialise, raw=True, method=True
        )
        self.namespace.ns["__init__"] = Native(
            "Namespace", lambda a, k: a[0].d.update(k), raw=True, method=True
        )
        records.fill_bag(machine, self.namespace, "Namespace")
        self.namespace.ns["__contains__"] = Native(
            "__contains__", lambda a, k: a[1] in a[0].d, raw=True, method=True
        )

    def _initialise(self, args: list[Value], kwargs: dict[str, Value]) -> None:
        item = args[0]
        values = dict(zip(ACTION_FIELDS, args[1:], strict=False)) | kwargs
        item.d.update({name: values.get(name) for name in ACTION_FIELDS})
        item.d["required"] = bool(values.get("required"))

    def converter(self, value: Value) -> Any:
        """A `type=` argument the standard parser can call."""
        machine = self.standins.machine
        if value is None:
            return None
        if isinstance(value, Class) and value.layout is not None and value.module == "builtins":
            return value.layout
        if isinstance(value, (Function, Native, Bound, Class)) or is_instance(value):

            def convert(text: str) -> Any:
                try:
                    return machine.call(value, [text], {})
                except Raised as raised:
                    names = {cls.name for cls in raised.value.cls.mro}
                    message = machine.as_text(raised.value)
                    shown = message.name if isinstance(message, Unknown) else str(message)
                    if "ArgumentTypeError" in names:
                        raise argparse.ArgumentTypeError(shown) from None
                    if "ValueError" in names or "TypeError" in names:
                        raise ValueError(shown) from None
                    raise

            convert.__name__ = getattr(value, "name", "value")
            return convert
        return value

    def parser(self, *args: Value, **options: Value) -> Value:
        """`ArgumentParser(...)`."""
        kept = {
            name: value
            for name, value in options.items()
            if name
            in (
                "prog",
                "usage",
                "description",
                "epilog",
                "add_help",
                "allow_abbrev",
                "prefix_chars",
                "fromfile_prefix_chars",
                "conflict_handler",
                "exit_on_error",
            )
        }
        kept.setdefault("prog", "sglang")
        return HostParser(**kept)


def _build(standins: Standins, module: Module) -> None:
    tools = Argparse(standins)
    machine = standins.machine
    adapter = ParserAdapter(standins, tools)
    machine.imports.hosts.register(HostParser, adapter)
    machine.imports.hosts.register(argparse._ArgumentGroup, adapter)
    standins.world.extra["argparse"] = tools
    parser = Class("ArgumentParser", (machine.object_class,), {}, "argparse")
    parser.data["new"] = Native("ArgumentParser", lambda a, k: tools.parser(*a[1:], **k), raw=True)
    parser.data["check"] = lambda value: isinstance(value, HostParser)
    boolean = tools.kinds["BooleanOptionalAction"]
    boolean.data["boolean_optional"] = True
    module.ns.update(
        {
            "ArgumentParser": parser,
            "Action": tools.action,
            "Namespace": tools.namespace,
            "ArgumentTypeError": tools.type_error,
            "ArgumentError": tools.error,
            "SUPPRESS": argparse.SUPPRESS,
            "REMAINDER": argparse.REMAINDER,
            "OPTIONAL": argparse.OPTIONAL,
            "BooleanOptionalAction": boolean,
        }
    )
    module.ns.update({name: kind for name, kind in tools.kinds.items() if name[0] == "_"})


BUILDERS: dict[str, Any] = {"argparse": _build}
