"""Exact caches for parts of a launch that every launch repeats.

Each stores what a function of the program built once and gives a fresh copy of it. A cache is
used only where the run that filled it wrote to nothing that existed before.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.machine import NOT_HANDLED
from sgl_audit.evaluate.standins import copying
from sgl_audit.evaluate.standins.argparse_module import HostParser
from sgl_audit.evaluate.standins.records import RecordField
from sgl_audit.evaluate.trace import step_text
from sgl_audit.evaluate.values import (
    MISSING,
    Class,
    ClassMethod,
    Function,
    Instance,
    Module,
    Native,
    Opaque,
    Raised,
    StaticMethod,
    Undecidable,
    Unknown,
    Value,
)
from sgl_audit.model.resolution import Step

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine
    from sgl_audit.evaluate.session import Session

PARSER_STATE = (
    "_actions",
    "_option_string_actions",
    "_action_groups",
    "_mutually_exclusive_groups",
    "_defaults",
    "_has_negative_number_optionals",
    "_optionals",
    "_positionals",
)
# Only stand-in modules have this name: what they answer once they may remember.
OUTSIDE = "__spec__"
LOADERS = (
    ("transformers.models.auto.configuration_auto", "AutoConfig", "from_pretrained"),
    ("transformers.configuration_utils", "PretrainedConfig", "from_pretrained"),
    ("transformers.configuration_utils", "PreTrainedConfig", "from_pretrained"),
    ("transformers.configuration_utils", "PretrainedConfig", "get_config_dict"),
    ("transformers.configuration_utils", "PreTrainedConfig", "get_config_dict"),
)


def standing_containers(session: Session) -> set[int]:
    """Ids of the containers that modules hold: namespaces, registries, class attributes."""
    found: set[int] = {id(session.imports.modules)}
    for module in session.imports.modules.values():
        found.add(id(module.ns))
        for value in module.ns.values():
            if isinstance(value, (dict, list, set)):
                found.add(id(value))
            elif isinstance(value, Class):
                found.add(id(value.ns))
                found.update(id(v) for v in value.ns.values() if isinstance(v, (dict, list, set)))
            elif isinstance(value, Instance):
                found.add(id(value.d))
                found.update(id(v) for v in value.d.values() if isinstance(v, (dict, list, set)))
    return found


def remember_parser(session: Session, owner: Value, name: str = "add_cli_args") -> None:
    """Build the argument parser once and give its actions to every new parser."""
    function = unwrapped(owner.find(name)) if isinstance(owner, Class) else MISSING
    if not isinstance(function, Function):
        return
    machine = session.machine
    standing = standing_containers(session)
    built = HostParser(prog="sglang")
    machine.journal.open()
    try:
        machine.call(function, [built], {})
        layer = machine.journal.layers[-1]
        pure = not any(
            entry is not None and key in standing and not benign(entry)
            for key, entry in layer.items()
        )
    except BaseException:
        machine.journal.undo()
        return
    machine.journal.commit()
    session.world.extra["parser"] = built
    if not pure:
        return
    fresh = len(HostParser(prog="sglang")._actions)

    def give(called: Function, args: Any, kwargs: dict[str, Value]) -> Any:
        parser = args[0] if args else None
        if not isinstance(parser, HostParser) or kwargs or len(parser._actions) != fresh:
            return NOT_HANDLED
        copy_parser(built, parser)
        return None

    function.code.watch = give


def load_early(session: Session, name: str) -> bool:
    """Load for good a module that a launch loaded late, if that makes no difference.

    It makes none where a loaded module imports it at its top level (Python would have loaded it by
    now; only this interpreter puts imports off), or where its body changes nothing that existed.
    """
    machine = session.machine
    module = session.imports.modules.get(name)
    if module is not None and module.state == "loaded":
        return True
    due = name in due_modules(session)
    standing = set() if due else standing_containers(session)
    machine.journal.open()
    try:
        session.imports.load(name)
        layer = machine.journal.layers[-1]
        keep = due or not any(
            entry is not None and key in standing and not benign(entry)
            for key, entry in layer.items()
        )
    except (Raised, Undecidable):
        keep = False
    if keep:
        machine.journal.commit()
    else:
        machine.journal.undo()
    session.world.late_modules.clear()
    return keep


def due_modules(session: Session) -> set[str]:
    """Modules that a loaded module imports at its top level."""
    imports = session.imports
    found: set[str] = set()
    for module in list(imports.modules.values()):
        if module.file is not None and module.state == "loaded":
            found |= imports.program.top_level_imports(module.name, module.file)
    return found


def benign(entry: tuple[Any, Any]) -> bool:
    """Whether a write only bound names that were imported lazily, or added submodules."""
    from sgl_audit.evaluate.values import Lazy

    container, before = entry
    if not isinstance(container, dict):
        return False
    for key, value in container.items():
        old = before.get(key, MISSING)
        added = old is MISSING and (isinstance(value, Module) or OUTSIDE in container)
        if old is value or isinstance(old, Lazy) or added:
            continue
        return False
    return all(key in container for key in before)


def copy_parser(source: argparse.ArgumentParser, target: argparse.ArgumentParser) -> None:
    """Give a new parser the actions of another."""
    for name in PARSER_STATE:
        value = getattr(source, name)
        copied = value.copy() if isinstance(value, (list, dict)) else value
        setattr(target, name, copied)


def unwrapped(value: Value) -> Value:
    """The function inside a static or class method."""
    return value.function if isinstance(value, (StaticMethod, ClassMethod)) else value


def remember_loading(session: Session) -> None:
    """Load each model configuration once; every launch gets a deep copy."""
    for module_name, class_name, method in LOADERS:
        module = session.imports.modules.get(module_name)
        if module is None or module.state != "loaded":
            continue
        cls = module.ns.get(class_name)
        function = unwrapped(cls.find(method)) if isinstance(cls, Class) else MISSING
        if isinstance(function, Function) and function.code.watch is None:
            function.code.watch = _loader(session.machine, {}, method)


def _loader(machine: Machine, store: dict[Any, Value], method: str) -> Callable[..., Any]:
    busy = [False]

    def give(called: Function, args: Any, kwargs: dict[str, Value]) -> Any:
        if busy[0]:
            return NOT_HANDLED
        doubt = unknown_model(machine, args, method)
        if doubt is not None:
            return doubt
        key = call_key(machine, args, kwargs)
        if key is None:
            return NOT_HANDLED
        if key not in store:
            busy[0] = True
            try:
                loaded = machine.call_function(called, args, dict(kwargs))
                # The journal empties what a launch made; a copy is out of its reach.
                store[key] = copying.deep(machine, loaded)
            finally:
                busy[0] = False
        return copying.deep(machine, store[key])

    return give


def unknown_model(machine: Machine, args: Any, method: str) -> Value:
    """What loading gives for a model that is not at hand: an unknown configuration, or None."""
    path = next((arg for arg in args if isinstance(arg, str)), None)
    if path is None:
        return None
    doubt = machine.imports.standins.files.doubt(path, "configuration of")
    if doubt is None:
        return None
    return (doubt, {}) if method == "get_config_dict" else doubt


def call_key(machine: Machine, args: Any, kwargs: dict[str, Value]) -> Any:
    """A key for a call with constants only, or None.

    Classes stand for themselves; a path stands for what is in the file or folder it names.
    """
    content = machine.imports.standins.files.fingerprint
    parts: list[Any] = []
    for value in (*args, *kwargs.items()):
        items = value if isinstance(value, tuple) else (value,)
        for item in items:
            if isinstance(item, Unknown):
                return None
            if isinstance(item, (str, int, float, bool, type(None))):
                parts.append((type(item).__name__, item))
                if isinstance(item, str) and "/" in item:
                    parts.append(content(item))
            elif isinstance(item, Class):
                parts.append(id(item))
            elif isinstance(item, dict) and not item:
                parts.append("{}")
            else:
                return None
    return tuple(parts)


def keep_class_facts(session: Session) -> None:
    """Compute for good what cached functions say of classes, where they read nothing else.

    A result that depends on the class alone is the same in every launch.
    """
    machine = session.machine
    known: dict[int, bool] = {}
    for function, entries, key in list(machine.misses):
        if key in entries or not isinstance(function, Function) or not key:
            continue
        if not all(isinstance(part, Class) for part in key):
            continue
        if not self_contained(function, known):
            continue
        machine.journal.open()
        try:
            value = machine.call_function(function, list(key), {})
        except (Raised, Undecidable):
            machine.journal.undo()
            continue
        machine.journal.commit()
        entries[key] = value
    machine.misses.clear()


def self_contained(function: Function, known: dict[int, bool], depth: int = 0) -> bool:
    """Whether a function reads only its arguments, classes, functions and constants."""
    code = function.code
    if id(code) in known:
        return known[id(code)]
    known[id(code)] = True
    bound = set(code.positional) | set(code.kwonly)
    names = {
        node.id
        for node in ast.walk(code.node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    stored = {
        node.id
        for node in ast.walk(code.node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    answer = depth < 6 and all(
        _harmless(function.globals.get(name, MISSING), known, depth)
        for name in names - bound - stored
    )
    known[id(code)] = answer
    return answer


def _harmless(value: Value, known: dict[int, bool], depth: int) -> bool:
    if isinstance(value, Function):
        return self_contained(value, known, depth + 1)
    if isinstance(value, Module):
        return value.name in ("typing", "types", "dataclasses", "msgspec", "functools")
    if isinstance(value, Instance):
        # A bare object() marks "nothing given"; any other instance may hold state.
        return value.cls.name == "object" and not value.d
    return value is MISSING or isinstance(
        value, (Class, Native, Opaque, str, int, float, bool, tuple, frozenset, type(None))
    )


def flags_given(session: Session, argv: list[str]) -> dict[str, str]:
    """Field -> the flag as it was typed, with its value."""
    parser = session.world.extra.get("parser")
    known = parser._option_string_actions if isinstance(parser, HostParser) else {}
    given: dict[str, str] = {}
    for index, word in enumerate(argv):
        flag = word.partition("=")[0]
        action = known.get(flag)
        if action is None and flag.startswith("--"):
            near = [name for name in known if name.startswith(flag)]
            action = known[near[0]] if len(near) == 1 else None
        if action is not None:
            follows = argv[index + 1] if index + 1 < len(argv) else ""
            value = f" {follows}" if "=" not in word and not follows.startswith("--") else ""
            given[action.dest] = f"{word}{value}".strip()
    return given


def first_step(
    session: Session, field: RecordField, given: dict[str, str], initial: dict[str, Value]
) -> Step | None:
    """What a field starts with: the flag that was given, or the declared default."""
    machine = session.machine
    if field.name in given:
        return Step(given[field.name], None, "flag")
    start = initial.get(field.name, MISSING)
    if start is MISSING:
        return None
    same = field.default is not MISSING and machine.is_same(start, field.default) is True
    return Step(step_text(machine, start), None, "default" if same else "command line")
