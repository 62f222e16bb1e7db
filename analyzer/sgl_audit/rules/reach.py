"""How far from an untouched launch a place is: by default, for some models, or by a flag only."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable
from enum import IntEnum

from sgl_audit.model.facts import JsonValue
from sgl_audit.model.guard import Atom, AtomKind, atoms
from sgl_audit.rules.atoms import parsed, question_of, vocabulary
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.options import options_by_name
from sgl_audit.rules.ways import Literal

# Options that a launch takes from the checkpoint where no flag is given.
FROM_MODEL = frozenset({"quantization", "model_path", "dtype", "hf_chat_template_name"})
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b")
_MODEL_TEXT = re.compile(
    "config|model|arch|hf_|quant|mla|head|expert|layer|fp4|fp8|int4|int8|hybrid"
)
# The sizes of what is computed on come out either way in any run.
_DATA = re.compile(r"\.shape\b|\.numel\(|\.size\(|\bnum_tokens\b|\bm == 0")
_AVAILABLE = re.compile(r"is_\w+_available|has_\w+|import of ")
_Compare = Callable[[float, float], bool]
_ORDER: dict[type[ast.cmpop], _Compare] = {
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
}


class Reach(IntEnum):
    """What it takes to get there, the least first."""

    DEFAULT = 0
    MODEL = 1
    OPEN = 2
    FLAG = 3


def reach_of(context: RuleContext, literals: Iterable[Literal]) -> Reach:
    """What it takes for all of the tests to come out as they must."""
    found = Reach.DEFAULT
    for atom, wanted in literals:
        found = max(found, reach_of_one(context, atom, wanted))
    return found


def reach_of_one(context: RuleContext, atom: Atom, wanted: bool) -> Reach:
    """What it takes for one test to come out as it must."""
    known = context.once(_known)
    key = (atom.text, atom.kind, atom.options, wanted)
    if key not in known:
        known[key] = _of_one(context, atom, wanted)
    return known[key]


def _known(context: RuleContext) -> dict[tuple[str, AtomKind, tuple[str, ...], bool], Reach]:
    return {}


def _of_one(context: RuleContext, atom: Atom, wanted: bool) -> Reach:
    if _AVAILABLE.match(atom.text):
        missing = atom.text.startswith("import of")
        return Reach.DEFAULT if wanted is not missing else Reach.FLAG
    if atom.kind is AtomKind.ENVIRONMENT:
        holds = _variable_holds(context, atom)
        if holds is None:
            return Reach.OPEN
        return Reach.DEFAULT if holds is wanted else Reach.FLAG
    if _DATA.search(atom.text):
        return Reach.DEFAULT
    if atom.kind is AtomKind.MODEL:
        return Reach.MODEL
    if atom.kind is AtomKind.OPTION:
        return _of_option(context, atom, wanted)
    if atom.kind is AtomKind.VERSION:
        return Reach.OPEN
    plain = "(" not in atom.text.replace("()", "")
    return Reach.MODEL if plain and _MODEL_TEXT.search(atom.text) else Reach.OPEN


def _of_option(context: RuleContext, atom: Atom, wanted: bool) -> Reach:
    options = [options_by_name(context).get(name) for name in atom.options]
    if not options or len(options) > 1 or options[0] is None:
        return Reach.OPEN
    option = options[0]
    if option.name in FROM_MODEL:
        return Reach.MODEL
    if not option.default_known:
        return Reach.OPEN
    holds = _holds_by_default(context, atom, option.default)
    if holds is None:
        return Reach.OPEN
    if holds is wanted:
        return Reach.DEFAULT
    return Reach.OPEN if _comes_to(context, atom, wanted) else Reach.FLAG


def _comes_to(context: RuleContext, atom: Atom, wanted: bool) -> bool:
    """Whether the tree itself gives the option a value for which the test comes out as wanted."""
    question = question_of(atom, vocabulary(context))
    if question is None:
        return False
    inside = question.inside is wanted
    return any(
        (value in question.values) is inside
        for value in context.once(_automatic_values).get(question.subject, ())
    )


def _automatic_values(context: RuleContext) -> dict[str, set[str]]:
    """The values that options come to from their defaults, by what decisions say of themselves."""
    options = options_by_name(context)
    found: dict[str, set[str]] = {}
    for decision in context.facts.decisions:
        option = options.get(decision.option)
        if option is None or not option.choices or not isinstance(decision.literal, str):
            continue
        own = [atom for atom in atoms(decision.guard) if atom.options == (option.name,)]
        asked = [question_of(atom, vocabulary(context)) for atom in own]
        if all(item is None or option.default in item.values for item in asked):
            found.setdefault(option.name, set()).add(decision.literal)
    return found


def _holds_by_default(context: RuleContext, atom: Atom, default: JsonValue) -> bool | None:
    if isinstance(default, (list, dict)):
        return None
    question = question_of(atom, vocabulary(context))
    if question is not None:
        return (default in question.values) is question.inside
    match parsed(atom.text):
        case ast.Compare(ops=[op], comparators=[ast.Constant(value=int() | float() as limit)]):
            compare = _ORDER.get(type(op))
            if compare is not None and isinstance(default, (int, float)):
                return bool(compare(default, limit))
    return None


def _variable_holds(context: RuleContext, atom: Atom) -> bool | None:
    """Whether a test of a variable holds with nothing set; None where it names none itself."""
    name = _VARIABLE.search(atom.text)
    if name is None or "==" in atom.text:
        return None
    default = context.once(_variables).get(name.group())
    return (default or "").strip("'\"").lower() not in ("", "0", "false", "none")


def _variables(context: RuleContext) -> dict[str, str | None]:
    return {variable.name: variable.default for variable in context.facts.environment}
