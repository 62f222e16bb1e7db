"""Environment variables: declarations, deprecations and what they are replaced by."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from sgl_audit.extract.literals import called_name, is_literal, json_value, keyword, text_of
from sgl_audit.extract.machine.values import UNKNOWN, Entry
from sgl_audit.model.source import Place
from sgl_audit.syntax.hits import LineHits
from sgl_audit.syntax.parse import ParsedFile

_FLAG = re.compile(r"--[a-z][a-z0-9-]+")
_DEPRECATED = re.compile(b"[Dd]eprecat[a-z_]*(?:env|Env)")
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b")


@dataclass(frozen=True, slots=True)
class RawVariable:
    """One declaration or deprecation of a variable in one file."""

    name: str
    place: Place
    default: str | None = None
    known: bool = False
    value: Entry = field(default_factory=lambda: Entry(UNKNOWN))
    deprecated: bool = False
    replacement: str | None = None
    note: str | None = None


def declarations(parsed: ParsedFile) -> list[RawVariable]:
    """The variables that one file declares as fields of a class, in source order."""
    found: list[RawVariable] = []
    for node in parsed.tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        for item in node.body:
            match item:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                    if name.isupper() and called_name(call).startswith("Env"):
                        found.append(_declared(parsed, item, name, call))
    return found


def _declared(parsed: ParsedFile, node: ast.stmt, name: str, call: ast.Call) -> RawVariable:
    default = call.args[0] if call.args else keyword(call, "default")
    known = default is not None and is_literal(default)
    value = json_value(default) if known and default is not None else UNKNOWN
    return RawVariable(
        name,
        parsed.place(node),
        None if default is None else ast.unparse(default),
        known,
        Entry(value, frozenset({"environment"})),
        note=text_of(keyword(call, "deprecated_name")),
    )


def deprecations(parsed: ParsedFile) -> list[RawVariable]:
    """The variables that one file declares deprecated, with what to use instead."""
    if b"eprecat" not in parsed.data:
        return []
    hits = LineHits(parsed, _DEPRECATED)
    found: list[RawVariable] = []
    for node in _walk(parsed.tree, hits):
        match node:
            case ast.Call() if "deprecat" in called_name(node).lower():
                variable = _from_call(parsed, node)
            case ast.Dict(keys=keys, values=values):
                found += _from_table(parsed, keys, values)
                continue
            case _:
                continue
        if variable is not None:
            found.append(variable)
    return found


def _walk(tree: ast.Module, hits: LineHits) -> Iterator[ast.AST]:
    for statement in tree.body:
        if hits.within(statement):
            yield from ast.walk(statement)


def _from_call(parsed: ParsedFile, call: ast.Call) -> RawVariable | None:
    texts = [text for item in call.args if (text := text_of(item))]
    names = [text for text in texts if _VARIABLE.fullmatch(text)]
    if not names:
        return None
    old, new = _old_and_new(parsed, called_name(call), names)
    rest = " ".join(text for text in texts if text not in names)
    flag = _FLAG.search(rest)
    return RawVariable(
        old,
        parsed.place(call),
        deprecated=True,
        replacement=new or (flag.group() if flag else None),
        note=rest or None,
    )


def _old_and_new(parsed: ParsedFile, function: str, names: list[str]) -> tuple[str, str | None]:
    """Which of two names the function calls old, by its parameters; else the first."""
    if len(names) == 1:
        return names[0], None
    for node in parsed.tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            parameters = [item.arg for item in node.args.args]
            if len(parameters) > 1 and "old" in parameters[1]:
                return names[1], names[0]
    return names[0], names[1]


def _from_table(
    parsed: ParsedFile, keys: list[ast.expr | None], values: list[ast.expr]
) -> list[RawVariable]:
    found: list[RawVariable] = []
    for key, value in zip(keys, values, strict=True):
        name = text_of(key)
        if name is None or not isinstance(value, ast.Call):
            continue
        if not _VARIABLE.fullmatch(name) or "deprecat" not in called_name(value).lower():
            continue
        text = " ".join(
            inner.value
            for inner in ast.walk(value)
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str)
        )
        target = _FLAG.search(text) or _VARIABLE.search(text)
        place = parsed.place(key) if key is not None else Place(parsed.path, 1)
        replacement = target.group() if target else None
        found.append(
            RawVariable(name, place, deprecated=True, replacement=replacement, note=text or None)
        )
    return found
