"""One interpretation of a tree on one machine: modules loaded once, launches undone after each."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sgl_audit.evaluate.imports import Imports
from sgl_audit.evaluate.machine import Machine
from sgl_audit.evaluate.program import Program
from sgl_audit.evaluate.standins import Standins, files
from sgl_audit.evaluate.standins.builtin_types import make_exceptions, make_types
from sgl_audit.evaluate.standins.functions import make_builtins
from sgl_audit.evaluate.standins.methods import method_tables
from sgl_audit.evaluate.standins.object_methods import object_methods
from sgl_audit.evaluate.standins.torch_module import NoContextAdapter, _NoContext
from sgl_audit.evaluate.unknowns import PINNED
from sgl_audit.evaluate.values import Value
from sgl_audit.evaluate.world import World

RECURSION_LIMIT = 20_000


class Session:
    """A machine with the modules of one tree for one capability.

    Attributes:
        machine: the interpreter; sessions over the same program share it, one at a time.
    """

    def __init__(self, program: Program, world: World, machine: Machine | None = None) -> None:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), RECURSION_LIMIT))
        self.program = program
        self.world = world
        self.machine = machine or Machine()
        self._boot()

    def _boot(self) -> None:
        machine = self.machine
        machine.types = make_types(machine)
        machine.exceptions = make_exceptions(machine)
        machine.methods = method_tables()
        machine.object_methods = object_methods(machine)
        standins = Standins(machine, self.world)
        machine.imports = Imports(machine, self.program, standins)
        machine.builtins = make_builtins(machine)
        hosts = machine.imports.hosts
        hosts.register(files.Handle, files.HandleAdapter())
        hosts.register(_NoContext, NoContextAdapter())
        machine.known = {}
        machine.refusals = []

    @property
    def imports(self) -> Imports:
        """Modules of this session."""
        return self.machine.imports

    def get(self, module: str, name: str) -> Value:
        """A name of a module of the tree, loaded."""
        return self.machine.getattr(self.imports.load(module), name)

    @contextmanager
    def launch(self) -> Iterator[Machine]:
        """Everything written inside is undone at the end."""
        machine = self.machine
        PINNED.clear()
        machine.journal.open()
        machine.steps = 0
        machine.branches = 0
        machine.depth = 0
        machine.handlers = 0
        machine.handling.clear()
        machine.known = {}
        machine.questions = {}
        machine.refusals = []
        machine.misses.clear()
        try:
            yield machine
        finally:
            machine.journal.undo()
            machine.known = {}
