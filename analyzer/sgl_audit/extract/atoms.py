"""One test of the source as one atom of a guard."""

from __future__ import annotations

import ast

from sgl_audit.extract.context import FileContext
from sgl_audit.extract.machine.scopes import Scope
from sgl_audit.extract.subjects import is_arguments, option_of
from sgl_audit.model.guard import Atom, AtomKind
from sgl_audit.syntax.text import one_line

# Words that only appear where source asks about the checkpoint.
_MODEL_WORDS = frozenset(
    [
        "hf_config",
        "hf_text_config",
        "model_config",
        "model_arch",
        "architectures",
        "text_config",
        "quant_config",
        "quantization_config",
        "quant_method",
        "config",
        "model_type",
        "weight_quant",
        "input_quant",
        "layer",
        "is_mxfp4_quant_format",
        "is_generation",
        "use_mla",
        "use_mla_backend",
        "attention_arch",
        "head_dim",
        "num_experts",
        "draft_model_config",
        "is_hybrid",
        "hf_quant_config",
        "quant_algo",
        "quant_format",
        "is_multimodal",
    ]
)
_VERSION_WORDS = ("version", "torch_release", "check_pkg")
_ENVIRONMENT_CALLS = frozenset({"getenv", "get_bool_env_var", "get_int_env_var", "environ"})


def atom_of(context: FileContext, node: ast.expr, scope: Scope) -> Atom:
    """The atom of a test that is neither `and`, `or` nor `not`."""
    text = one_line(context.parsed, node)
    words = identifiers(node)
    reading = context.reading(node, scope)
    options = options_read(context, node, scope)
    if context.tests_machine(node, scope):
        exact = "capability" in reading.flags
        if not exact and "version" in reading.flags:
            return Atom(AtomKind.VERSION, text, None, options)
        names = reading.names(context.capabilities)
        kind = AtomKind.GATE if exact or names is None else AtomKind.PLATFORM
        return Atom(kind, text, names, options)
    if options or reads_backend(context, node):
        return Atom(AtomKind.OPTION, text, None, options)
    if reading.flags & {"environment"} or _reads_environment(context, words):
        return Atom(AtomKind.ENVIRONMENT, text)
    if "version" in reading.flags or any(word in text for word in _VERSION_WORDS):
        return Atom(AtomKind.VERSION, text)
    if words & _MODEL_WORDS or any(word.startswith("is_deepseek") for word in words):
        return Atom(AtomKind.MODEL, text)
    return Atom(AtomKind.OPAQUE, text)


def identifiers(node: ast.AST) -> set[str]:
    """Every name and attribute name in an expression."""
    found: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            found.add(inner.id)
        elif isinstance(inner, ast.Attribute):
            found.add(inner.attr)
    return found


def options_read(context: FileContext, node: ast.AST, scope: Scope) -> tuple[str, ...]:
    """The options an expression reads, sorted."""
    found: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, (ast.Attribute, ast.Name, ast.Call)):
            name = option_of(context, inner, scope)
            if name is None and isinstance(inner, ast.Attribute):
                owner_is = is_arguments(context, inner.value, scope)
                name = inner.attr if owner_is and inner.attr in context.index.options else None
            if name is not None:
                found.add(name)
    return tuple(sorted(found))


def reads_backend(context: FileContext, node: ast.AST) -> bool:
    """Whether an expression asks a backend enum: a predicate or a member of it."""
    for inner in ast.walk(node):
        match inner:
            case ast.Call(func=ast.Attribute(attr=name)) if name in context.index.predicates:
                return True
            case ast.Attribute(value=ast.Name(id=name)) if name in context.index.backend_enums:
                return True
    return False


def _reads_environment(context: FileContext, words: set[str]) -> bool:
    return bool(words & _ENVIRONMENT_CALLS or words & context.index.machines.variables.keys())
