"""The condition under which a function of the argument resolution runs at all."""

from __future__ import annotations

import ast

from sgl_audit.audit.calls import MODULE, CallMap, Defined, Mention, Test
from sgl_audit.model.facts import Decision, Facts, Rejection
from sgl_audit.model.guard import (
    ALWAYS,
    NEVER,
    Atom,
    AtomKind,
    Guard,
    all_of,
    any_of,
    atoms,
    negate,
)

Key = tuple[str, str]
# Where the arguments of a launch begin to be resolved; nothing in the tree need call these.
ENTRIES = frozenset({"__post_init__", "resolve_once", "check_server_args"})
_DEPTH = 12
# Callers above this make a condition nobody reads; the function then counts as unknown.
_CALLERS = 12


class Contexts:
    """Conditions of functions, worked out on demand."""

    def __init__(self, calls: CallMap, facts: Facts) -> None:
        self.calls = calls
        self.defined = {(item.file, item.name): item for item in calls.functions}
        self.by_name: dict[str, list[Key]] = {}
        for key in self.defined:
            self.by_name.setdefault(_bare(key[1]), []).append(key)
        self.known: dict[Key, Guard] = {}
        self.symbols = Symbols(facts)

    def guard(self, file: str, function: str) -> Guard:
        """The condition under which a function runs; an opaque one where it is not known."""
        return self._guard((file, function), (), _DEPTH)

    def _guard(self, key: Key, path: tuple[Key, ...], depth: int) -> Guard:
        if key in self.known:
            return self.known[key]
        if key in path or depth == 0:
            return NEVER
        found = self._find(key, path, depth)
        if not path or key not in path:
            self.known[key] = found
        return found

    def _find(self, key: Key, path: tuple[Key, ...], depth: int) -> Guard:
        if key[1] == MODULE or _bare(key[1]) in ENTRIES:
            return ALWAYS
        item = self.defined.get(key)
        registered = registration(item) if item is not None else None
        if registered is not None:
            return registered
        mentions = self._mentions(key)
        if not mentions or len(mentions) > _CALLERS:
            return Atom(AtomKind.OPAQUE, f"{key[1]} is called")
        found = any_of(*(self._through(mention, (*path, key), depth - 1) for mention in mentions))
        # Nothing but itself calls it here: whoever does stands in a file that was not read.
        return Atom(AtomKind.OPAQUE, f"{key[1]} is called") if found == NEVER else found

    def _mentions(self, key: Key) -> list[Mention]:
        name = _bare(key[1])
        found = self.calls.mentions.get(name, [])
        return [item for item in found if (item.file, item.function) != key]

    def _through(self, mention: Mention, path: tuple[Key, ...], depth: int) -> Guard:
        caller = (mention.file, mention.function)
        entry = _bare(mention.function) in ENTRIES or self._runs_always(caller, path, depth)
        if caller not in self.defined and mention.function != MODULE:
            outer: Guard = self._table(mention, path, depth)
        else:
            outer = self._guard(caller, path, depth)
        # A launch that leaves the resolution early is none that the audit speaks of.
        kept = [test for test in mention.tests if not (entry and test.leaving)]
        return all_of(outer, *(self.symbols.guard(test, mention.file) for test in kept))

    def _runs_always(self, key: Key, path: tuple[Key, ...], depth: int) -> bool:
        return key in self.defined and self._guard(key, path, depth) == ALWAYS

    def _table(self, mention: Mention, path: tuple[Key, ...], depth: int) -> Guard:
        """A function held in a table runs where the table is read."""
        readers = [
            item
            for item in self.calls.mentions.get(mention.function, [])
            if item.function != mention.function
        ]
        if not readers or len(readers) > _CALLERS:
            return Atom(AtomKind.OPAQUE, f"{mention.function} is used")
        return any_of(*(self._through(item, path, depth - 1) for item in readers))


def _bare(name: str) -> str:
    return name.rpartition(".")[2]


def registration(item: Defined) -> Guard | None:
    """The condition that a decorator with arguments states: `@register_for("LlamaForCausalLM")`."""
    parts: list[Guard] = []
    for decorator in item.decorators:
        match decorator:
            case ast.Call(func=ast.Name(id=name), args=[_, *_] as args) if "regist" in name:
                found = [
                    inner.value
                    for argument in args
                    for inner in ast.walk(argument)
                    if isinstance(inner, ast.Constant) and isinstance(inner.value, str)
                ]
                asked = found or [ast.unparse(argument) for argument in args]
                parts.append(Atom(AtomKind.MODEL, f"architecture is {' or '.join(asked)}"))
    return any_of(*parts) if parts else None


class Symbols:
    """Tests of callers as guards, in the words that extraction found for the same tests."""

    def __init__(self, facts: Facts) -> None:
        self.by_text: dict[str, Atom | None] = {}
        items: tuple[Decision | Rejection, ...] = (*facts.decisions, *facts.rejections)
        for item in items:
            for atom in atoms(item.guard):
                known = self.by_text.setdefault(atom.text, atom)
                if known is not None and known.capabilities != atom.capabilities:
                    self.by_text[atom.text] = None
        self.gates: dict[str, frozenset[str] | None] = {}
        for gate in (*facts.gates, *facts.platform):
            self.gates.setdefault(gate.name, gate.capabilities)
        self.options = {option.name for option in facts.options}

    def guard(self, test: Test, file: str) -> Guard:
        """One test of a caller."""
        found = self._convert(test.node)
        return found if test.holds else negate(found)

    def _convert(self, node: ast.expr) -> Guard:
        match node:
            case ast.BoolOp(op=ast.And(), values=values):
                return all_of(*(self._convert(value) for value in values))
            case ast.BoolOp(values=values):
                return any_of(*(self._convert(value) for value in values))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return negate(self._convert(operand))
            case ast.Compare(left=left, ops=[ast.NotEq()], comparators=[right]):
                return negate(self._convert(ast.Compare(left, [ast.Eq()], [right])))
            case ast.Compare(left=left, ops=[ast.NotIn()], comparators=[right]):
                return negate(self._convert(ast.Compare(left, [ast.In()], [right])))
            case ast.Compare(left=left, ops=[ast.IsNot()], comparators=[right]):
                return negate(self._convert(ast.Compare(left, [ast.Is()], [right])))
        return self._atom(node)

    def _atom(self, node: ast.expr) -> Atom:
        text = ast.unparse(node)
        known = self.by_text.get(text)
        if known is None and '"' not in text:
            # The tree writes its strings in double quotes.
            text = text.replace("'", '"')
            known = self.by_text.get(text)
        if known is not None:
            return known
        name = _gate_name(node)
        if name in self.gates:
            return Atom(AtomKind.GATE, text, self.gates[name])
        options = sorted(
            {
                inner.attr
                for inner in ast.walk(node)
                if isinstance(inner, ast.Attribute) and inner.attr in self.options
            }
        )
        kind = AtomKind.OPTION if options else AtomKind.OPAQUE
        return Atom(kind, text, None, tuple(options))


def _gate_name(node: ast.expr) -> str:
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[]):
            return name
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""
