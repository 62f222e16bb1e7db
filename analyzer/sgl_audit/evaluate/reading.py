"""Facts by evaluation: options from the tree's own parser, choice lists, enums and gates.

Each value is what the code gives when it runs, on the capability asked; nothing is guessed from
spelling. Places come from the syntactic side.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sgl_audit.evaluate.machine import Machine
from sgl_audit.evaluate.plain import NotPlainError, plain
from sgl_audit.evaluate.program import Program
from sgl_audit.evaluate.session import Session
from sgl_audit.evaluate.standins.argparse_module import (
    ActionAdapter,
    HostParser,
    sorted_choices,
)
from sgl_audit.evaluate.standins.records import RecordField
from sgl_audit.evaluate.values import (
    MISSING,
    Class,
    Function,
    Module,
    Native,
    Raised,
    Undecidable,
    Unknown,
    Value,
    is_instance,
)
from sgl_audit.evaluate.world import make_world
from sgl_audit.model.facts import JsonValue, Scalar
from sgl_audit.model.source import Place, SourceTree

REFERENCE = "sm90"
GATE_NAME = re.compile(r"^_?(is|has|cpu_has|xpu_has|supports?|use)_[a-z0-9_]+$")
CONSTANT = re.compile(r"^[A-Z][A-Z0-9_]+$")


@dataclass(frozen=True, slots=True)
class EvaluatedOption:
    """One server setting as the parser and the record class define it."""

    name: str
    flags: tuple[str, ...]
    default: JsonValue
    default_known: bool
    choices: tuple[Scalar, ...] | None
    type: str | None
    help: str | None
    deprecated: bool


class Reader:
    """Evaluates facts of one tree. Sessions are made per capability and share the parsed code."""

    def __init__(self, tree: SourceTree) -> None:
        self.tree = tree
        self.program = Program(tree)
        self.machine = Machine()
        self._session: tuple[str, Session] | None = None
        self.problems: list[str] = []

    def session(self, capability: str = REFERENCE) -> Session:
        """A session on one capability with the default assumptions."""
        if self._session is None or self._session[0] != capability:
            world = make_world(capability, self.tree.info.distribution)
            self._session = (capability, Session(self.program, world, self.machine))
        return self._session[1]

    def module(self, session: Session, name: str) -> Module | None:
        """A module of the tree, or None where it cannot be loaded."""
        try:
            return session.imports.load(name)
        except (Raised, Undecidable):
            return None

    def name_of_file(self, path: str) -> str:
        """The module name of a tree path."""
        from sgl_audit.evaluate.program import module_parts

        return ".".join(module_parts(path))

    def options(self) -> dict[str, EvaluatedOption]:
        """Every option by name: parser actions joined with the record's fields."""
        session = self.session()
        module = self.module(session, f"{self.program.root}.srt.server_args")
        owner = module and self._look(session, module, "ServerArgs")
        if not isinstance(owner, Class):
            return {}
        fields = {f.name: f for f in self._fields(owner)}
        actions = self._actions(session, owner)
        renamed = renamed_fields(owner)
        names = list(dict.fromkeys([*fields, *(action.dest for action in actions)]))
        return {
            name: self._option(name, fields.get(name), actions, renamed.get(name, ()))
            for name in names
        }

    def _look(self, session: Session, module: Module, name: str) -> Value:
        try:
            return session.machine.module_attribute(module, name)
        except (Raised, Undecidable):
            return MISSING

    def _fields(self, owner: Class) -> list[RecordField]:
        for parent in owner.mro:
            if "record" in parent.data:
                return list(parent.data["record"])
        return []

    def _actions(self, session: Session, owner: Class) -> list[argparse.Action]:
        parser = HostParser(prog="sglang")
        try:
            session.machine.call(session.machine.getattr(owner, "add_cli_args"), [parser], {})
        except Raised as raised:
            self.problems.append(
                f"the parser could not be built: {raised.value.cls.name} at {raised.place}"
            )
        except Undecidable as stop:
            self.problems.append(f"the parser could not be built: {stop.reason} at {stop.where}")
        return [action for action in parser._actions if action.dest != "help"]

    def _problem(self, reason: str, place: tuple[str, int] | None) -> None:
        where = f" at {place[0]}:{place[1]}" if place else ""
        self.problems.append(f"the argument parser could not be built: {reason}{where}")

    def _option(
        self,
        name: str,
        field: RecordField | None,
        actions: list[argparse.Action],
        destinations: tuple[str, ...] = (),
    ) -> EvaluatedOption:
        own = [action for action in actions if action.dest in (name, *destinations)]
        default, known = self._default(field, own)
        flags = tuple(dict.fromkeys(flag for action in own for flag in action.option_strings))
        limited = [action for action in own if action.choices is not None]
        limited.sort(key=speaks_for_another)
        # A set has another order in every run.
        listed = sorted_choices(limited[0].choices or ()) if limited else None
        choices = [scalar(item) for item in listed] if listed is not None else None
        kind = next((type_name(action.type) for action in own if action.type is not None), None)
        text = next((action.help for action in own if action.help), None)
        return EvaluatedOption(
            name,
            flags,
            default,
            known,
            tuple(choices) if choices is not None else None,
            kind,
            text.replace("%%", "%") if text else None,
            bool(own) and all(is_deprecated(action) for action in own),
        )

    def _default(
        self, field: RecordField | None, actions: list[argparse.Action]
    ) -> tuple[JsonValue, bool]:
        if field is not None:
            if field.default is MISSING:
                return None, False
            try:
                return plain(field.default), True
            except NotPlainError:
                return None, False
        for action in actions:
            try:
                return plain(action.default), True
            except NotPlainError:
                return None, False
        return None, False

    def choice_lists(
        self, modules: Iterable[str]
    ) -> dict[str, tuple[str, tuple[Scalar, ...], bool]]:
        """Name -> (module, values, ordered) of upper-case collections of text in these modules."""
        session = self.session()
        found: dict[str, tuple[str, tuple[Scalar, ...], bool]] = {}
        for name in modules:
            module = self.module(session, name)
            if module is None:
                continue
            for key in list(module.ns):
                if isinstance(key, str) and CONSTANT.match(key) and key not in found:
                    value = self._look(session, module, key)
                    values = text_values(value)
                    if values is not None:
                        found[key] = (name, values, isinstance(value, (list, tuple)))
        return found

    def enum_members(self, module_name: str, class_name: str) -> dict[str, JsonValue] | None:
        """Members of an enum by name, aliases left out; None where it cannot be evaluated."""
        session = self.session()
        module = self.module(session, module_name)
        cls = self._look(session, module, class_name) if module is not None else MISSING
        if not isinstance(cls, Class) or "canonical" not in cls.data:
            return None
        members: dict[str, JsonValue] = {}
        for member in cls.data["canonical"]:
            try:
                members[str(member.d["_name_"])] = plain(member.d["_value_"])
            except NotPlainError:
                return None
        return members

    def gate(self, path: str, name: str, capability: str) -> bool | None:
        """The value of a gate function without arguments, or of a module-level name."""
        session = self.session(capability)
        module = self.module(session, self.name_of_file(path))
        value = self._look(session, module, name) if module is not None else MISSING
        return self.truth_of(session, value)

    def truth_of(self, session: Session, value: Value) -> bool | None:
        """True or False of a value or of what a function without arguments gives."""
        if value is MISSING or isinstance(value, Unknown):
            return None
        if isinstance(value, (Function, Native)):
            with session.launch() as machine:
                try:
                    value = machine.call(value, [], {})
                except (Raised, Undecidable):
                    return None
            truth = session.machine.truth_value(value)
            return truth if isinstance(truth, bool) else None
        return value if isinstance(value, bool) else None

    def gate_names(self, path: str) -> list[str]:
        """Names in a file that look like gates: functions without arguments and their aliases."""
        session = self.session()
        module = self.module(session, self.name_of_file(path))
        if module is None:
            return []
        own = set(self.defined_names(path))
        return [
            name
            for name, value in module.ns.items()
            if isinstance(name, str)
            and name in own
            and GATE_NAME.match(name)
            and callable_plainly(value)
        ]

    def defined_names(self, path: str) -> set[str]:
        """Names that the top level of a file binds itself."""
        from sgl_audit.evaluate.scopes import Scope, bound_names

        tree = self.program.parse(path)
        body = [n for n in tree.body if not _is_import(n)] if tree is not None else []
        return bound_names(body, Scope("module", None, set(), ""))

    def place_of(self, module: str, name: str) -> Place:
        """Where the top level of a module binds a name, following imports inside the tree."""
        import ast

        path = self.program.file_of(module)
        for _ in range(8):
            tree = self.program.parse(path) if path is not None else None
            if path is None or tree is None:
                break
            node = next((n for n in tree.body if name in bound_by(n)), None)
            if node is None:
                return Place(path, 1)
            target = (
                self.program.file_of(node.module or "")
                if isinstance(node, ast.ImportFrom)
                else None
            )
            if target is None:
                return Place(path, node.lineno, node.col_offset)
            path = target
        return Place(path or module, 1)

    def platform(self, capability: str) -> dict[str, bool | None]:
        """Yes/no facts of the platform object, where the tree has one."""
        session = self.session(capability)
        module = self.module(session, f"{self.program.root}.srt.runtime_context")
        get = self._look(session, module, "get_platform") if module is not None else MISSING
        if not isinstance(get, Function):
            return {}
        try:
            owner = session.machine.call(get, [], {})
        except (Raised, Undecidable):
            return {}
        names = self._platform_names(session, module, owner)
        return {name: self._platform_value(session, owner, name) for name in names}

    def _platform_names(self, session: Session, module: Any, owner: Value) -> list[str]:
        """Keys of the string tables that the object's own `__getattr__` reads."""
        import ast

        hook = owner.cls.find("__getattr__") if is_instance(owner) else MISSING
        if not isinstance(hook, Function):
            return []
        names: list[str] = []
        for node in ast.walk(hook.code.node):
            if isinstance(node, ast.Name):
                table = self._look(session, module, node.id)
                if isinstance(table, dict):
                    names += [key for key in table if isinstance(key, str)]
        return list(dict.fromkeys(names))

    def _platform_value(self, session: Session, owner: Value, name: str) -> bool | None:
        with session.launch() as machine:
            try:
                value = machine.getattr(owner, name)
            except (Raised, Undecidable):
                return None
        return value if isinstance(value, bool) else None


def _is_import(node: Any) -> bool:
    import ast

    return isinstance(node, (ast.Import, ast.ImportFrom))


def renamed_fields(owner: Class) -> dict[str, tuple[str, ...]]:
    """Field -> parser destinations that `from_cli_args` stores under it (`args.a = args.b`)."""
    import ast

    method = owner.find("from_cli_args")
    function = getattr(method, "function", method)
    found: dict[str, tuple[str, ...]] = {}
    if isinstance(function, Function):
        for node in ast.walk(function.code.node):
            match node:
                case ast.Assign(
                    targets=[ast.Attribute(attr=field)], value=ast.Attribute(attr=dest)
                ):
                    found[field] = (*found.get(field, ()), dest)
    return found


def bound_by(node: Any) -> set[str]:
    """Names that one top-level statement binds."""
    from sgl_audit.evaluate.scopes import Scope, bound_names

    return bound_names([node], Scope("module", None, set(), ""))


def callable_plainly(value: Value) -> bool:
    """Whether a value can be called without arguments."""
    if isinstance(value, Function):
        code = value.code
        required = len(code.positional) - len(value.defaults)
        return required <= 0 and all(name in value.kwdefaults for name in code.kwonly)
    if isinstance(value, Native):
        inner = value.d.get("__wrapped__", MISSING)
        if inner is not MISSING:
            return callable_plainly(inner)
        return "func" in value.d
    return False


def speaks_for_another(action: argparse.Action) -> bool:
    """Whether an action of the tree only warns or stores under another name."""
    return isinstance(action, ActionAdapter) and "deprecated" in action.item.cls.name.lower()


def is_deprecated(action: argparse.Action) -> bool:
    """Whether an action only speaks for another flag or warns."""
    return speaks_for_another(action) or bool(
        action.help and action.help.lower().startswith(("[deprecated", "deprecated"))
    )


def scalar(value: Any) -> Scalar:
    """A choice as a scalar."""
    try:
        item = plain(value)
    except NotPlainError as reason:
        return str(reason)
    return item if isinstance(item, (str, int, float, bool, type(None))) else str(item)


def type_name(value: Any) -> str:
    """The name of a converter."""
    return str(getattr(value, "__name__", value))


def text_values(value: Value) -> tuple[Scalar, ...] | None:
    """The values of a non-empty collection of text (None may stand among them), else None."""
    if isinstance(value, Unknown) or not isinstance(value, (list, tuple, set, frozenset)):
        return None
    items = list(value) if isinstance(value, (list, tuple)) else sorted(value, key=str)
    if not items or not any(isinstance(item, str) for item in items):
        return None
    if not all(isinstance(item, (str, type(None))) for item in items):
        return None
    return tuple(str(item) if isinstance(item, str) else None for item in items)
