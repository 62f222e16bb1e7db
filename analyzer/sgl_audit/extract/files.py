"""The per-file pass: bytes and the index in, facts of that file out."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from sgl_audit.extract.choices import (
    RawChange,
    RawExtension,
    RawList,
    change_of,
    extensions,
    raw_lists,
    with_notes,
)
from sgl_audit.extract.context import FileContext, make_readers
from sgl_audit.extract.decisions import decisions_at
from sgl_audit.extract.enums import enums_of
from sgl_audit.extract.environment import RawVariable, declarations, deprecations
from sgl_audit.extract.gates import (
    GateSite,
    GateValues,
    capability_names,
    defined_gates,
    inline_gates,
)
from sgl_audit.extract.guards import guard_of
from sgl_audit.extract.index import Index
from sgl_audit.extract.machine.outside import Machine
from sgl_audit.extract.machine.scopes import module_scope, release
from sgl_audit.extract.options import RawOptions, options_of
from sgl_audit.extract.reads import ConditionalName, VariableRead, conditional_names, variable_reads
from sgl_audit.extract.rejections import rejections_at
from sgl_audit.extract.scan import tests_in
from sgl_audit.extract.walker import Visit, visits
from sgl_audit.model.facts import BackendEnum, Decision, Rejection
from sgl_audit.model.source import Diagnostic, Place
from sgl_audit.syntax.hits import LineHits
from sgl_audit.syntax.parse import ParsedFile, parse_file
from sgl_audit.syntax.prefilter import ENVIRONMENT, literal_pattern


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What one file says, before lists are spliced and options merged over files."""

    path: str
    lists: tuple[RawList, ...] = ()
    changes: tuple[RawChange, ...] = ()
    extensions: tuple[RawExtension, ...] = ()
    exports: tuple[str, ...] = ()
    enums: tuple[BackendEnum, ...] = ()
    options: RawOptions = field(default_factory=RawOptions)
    variables: tuple[RawVariable, ...] = ()
    variable_reads: tuple[VariableRead, ...] = ()
    gates: tuple[GateSite, ...] = ()
    decisions: tuple[Decision, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    names: tuple[ConditionalName, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def read_file(
    path: str,
    data: bytes,
    index: Index,
    machines: tuple[Machine, ...],
    gate_values: GateValues | None = None,
) -> FileFacts:
    """The facts of one file; what cannot be read becomes a diagnostic."""
    parsed = parse_file(path, data)
    if isinstance(parsed, Diagnostic):
        return FileFacts(path, diagnostics=(parsed,))
    reading = _Pass(parsed, index, machines, gate_values)
    try:
        return reading.facts()
    except RecursionError:
        reason = Diagnostic("nested too deeply to be read", Place(path, 1))
        return FileFacts(path, diagnostics=(reason,))
    finally:
        release(reading.context.scope)


class _Pass:
    """One walk over one file, collecting as it goes."""

    def __init__(
        self,
        parsed: ParsedFile,
        index: Index,
        machines: tuple[Machine, ...],
        gate_values: GateValues | None,
    ) -> None:
        self.parsed = parsed
        scope = module_scope(parsed.path, parsed.tree)
        hits = LineHits(parsed, index.machine_names)
        readers = make_readers(machines, index, scope, hits)
        self.context = FileContext(parsed, scope, index, readers, hits)
        self.gates = defined_gates(self.context, gate_values)
        self.decisions: list[Decision] = []
        self.rejections: list[Rejection] = []
        self.changes: list[RawChange] = []
        self.reads: list[VariableRead] = []
        self._hits = LineHits(parsed, index.acting)
        local = capability_names(self.context)
        self._local = LineHits(parsed, literal_pattern(local)) if local else None
        self._environment = ENVIRONMENT.search(parsed.data) is not None

    def facts(self) -> FileFacts:
        """Everything the file says."""
        parsed, context = self.parsed, self.context
        for visit in visits(context.scope, parsed.tree, self._wanted):
            self._visit(visit)
        return FileFacts(
            parsed.path,
            tuple(with_notes(parsed, raw_lists(parsed, context.index.choice_lists))),
            tuple(self.changes),
            tuple(extensions(parsed)),
            tuple(sorted(context.index.choice_lists & context.scope.names.keys())),
            tuple(enums_of(parsed)),
            options_of(parsed),
            (*declarations(parsed), *deprecations(parsed)),
            tuple(self.reads),
            tuple(self.gates),
            tuple(self.decisions),
            tuple(self.rejections),
            tuple(conditional_names(context)),
        )

    def _wanted(self, node: ast.stmt) -> bool:
        return self._hits.within(node) or bool(self._local and self._local.within(node))

    def _visit(self, visit: Visit) -> None:
        context, scope = self.context, visit.function.scope
        self.decisions += decisions_at(context, visit)
        self.rejections += rejections_at(context, visit)
        self.gates += inline_gates(context, tests_in(visit.node), scope, visit.function.name)
        if self._environment:
            self.reads += variable_reads(context, visit)
        if scope.is_module:
            guard = guard_of(context, visit.conditions, scope)
            change = change_of(self.parsed, visit.node, guard)
            if change is not None:
                self.changes.append(change)
