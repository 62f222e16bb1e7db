"""The class of a model without importing every model of the tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

from sgl_audit.errors import SourceError
from sgl_audit.evaluate.late_trial import Trial
from sgl_audit.evaluate.machine import NOT_HANDLED
from sgl_audit.evaluate.program import Program
from sgl_audit.evaluate.values import (
    Class,
    Function,
    Raised,
    Undecidable,
    Value,
)

MODELS = "srt.models"
LOOK_UP = "get_model_architecture"
CLASS_LINE = re.compile(rb"^class (\w+)\b", re.MULTILINE)
_CATALOGUES: WeakKeyDictionary[Program, dict[str, str]] = WeakKeyDictionary()


def catalogue(program: Program) -> dict[str, str]:
    """Class name -> module, for every class that a model file of the tree defines."""
    found = _CATALOGUES.get(program)
    if found is None:
        found = {}
        package = f"{program.root}.{MODELS}"
        for name, is_package in program.submodules(package):
            path = program.file_of(f"{package}.{name}")
            if path is None or is_package:
                continue
            try:
                data = program.read(path)
            except (KeyError, SourceError):
                continue
            for match in CLASS_LINE.finditer(data):
                found.setdefault(match.group(1).decode(), f"{package}.{name}")
        _CATALOGUES[program] = found
    return found


def model_class(trial: Trial, names: Value) -> tuple[Value, str]:
    """The class of the first architecture that the tree has, and its name.

    A class that cannot be loaded becomes an empty one: it then declares no fused modules.
    """
    machine = trial.machine
    listed = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    known = catalogue(machine.imports.program)
    for name in listed:
        if name not in known:
            continue
        try:
            cls = machine.module_attribute(machine.imports.load(known[name]), name)
        except (Raised, Undecidable):
            break
        if isinstance(cls, Class):
            return cls, name
    name = listed[0] if listed else "Model"
    return Class(name, (machine.object_class,), {"packed_modules_mapping": {}}, MODELS), name


@contextmanager
def known_architecture(trial: Trial, owner: Value, model_config: Value) -> Iterator[None]:
    """Let the tree's own look-up of the model class answer from the catalogue.

    Args:
        owner: the module that calls it.
    """
    machine = trial.machine
    function = machine.module_attribute(owner, LOOK_UP)
    if not isinstance(function, Function):
        yield
        return

    def give(called: Function, args: list[Value], kwargs: dict[str, Value]) -> Value:
        asked = args[0] if args else kwargs.get("model_config")
        if asked is not model_config:
            return NOT_HANDLED
        config = machine.getattr(model_config, "hf_config")
        return model_class(trial, machine.getattr(config, "architectures"))

    before = function.code.watch
    function.code.watch = give
    try:
        yield
    finally:
        function.code.watch = before
