"""Server options: where each is declared, its flags, its help and the list of its choices."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sgl_audit.extract.literals import called_name, is_literal, json_value, keyword, text_of
from sgl_audit.model.facts import Flag, JsonValue, Scalar
from sgl_audit.model.source import Place
from sgl_audit.syntax.parse import ParsedFile
from sgl_audit.syntax.text import one_line

_MARKERS = frozenset({"A", "Annotated"})
# At the start of a sentence: "Deprecated.", "[Deprecated] Use ...", "Note: deprecated".
_DEPRECATED = re.compile(r"(?:^|[.;]\s+)\W*(?:note\b)?\W*deprecated\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RawOption:
    """One declaration of an option: a field, an argument of the parser, or both in one."""

    name: str
    place: Place
    is_field: bool
    flags: tuple[Flag, ...] = ()
    type: str | None = None
    default: JsonValue = None
    default_known: bool = False
    choices: tuple[Scalar, ...] | None = None
    choice_list: str | None = None
    help: str | None = None
    deprecated: bool = False


@dataclass(frozen=True, slots=True)
class RawOptions:
    """The options one file declares, and the classes that hold them."""

    options: tuple[RawOption, ...] = ()
    classes: tuple[str, ...] = ()
    main: bool = field(default=False)


def options_of(parsed: ParsedFile) -> RawOptions:
    """The option declarations of one file."""
    options: list[RawOption] = []
    classes: list[str] = []
    main = False
    for node in parsed.tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        holder = node.name.endswith("ServerArgs")
        annotated = sum(_is_annotated(item) for item in node.body)
        if not holder and not annotated:
            continue
        classes.append(node.name)
        main = main or holder
        options += _fields(parsed, node, holder)
        if holder:
            options += _arguments(parsed, node)
    if not classes:
        options += _parser_functions(parsed)
    return RawOptions(tuple(options), tuple(classes), main)


def _is_annotated(node: ast.stmt) -> bool:
    match node:
        case ast.AnnAssign(annotation=ast.Subscript(value=marker, slice=ast.Tuple(elts=elements))):
            named = isinstance(marker, ast.Name) and marker.id in _MARKERS
            return named and any(_metadata(item) for item in elements[1:])
    return False


def _metadata(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return called_name(node).endswith("Arg")
    return text_of(node) is not None


def _fields(parsed: ParsedFile, node: ast.ClassDef, holder: bool) -> Iterator[RawOption]:
    for item in node.body:
        match item:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                if _is_annotated(item) and isinstance(annotation, ast.Subscript):
                    yield _annotated_field(parsed, item, name, annotation, value)
                elif "ClassVar" not in ast.unparse(annotation):
                    yield _plain_field(parsed, item, name, annotation, value)


def _plain_field(
    parsed: ParsedFile, node: ast.AnnAssign, name: str, annotation: ast.expr, value: ast.expr | None
) -> RawOption:
    known = value is not None and is_literal(value)
    return RawOption(
        name,
        parsed.place(node),
        True,
        type=one_line(parsed, annotation),
        default=json_value(value) if known and value is not None else None,
        default_known=known,
    )


def _annotated_field(
    parsed: ParsedFile,
    node: ast.AnnAssign,
    name: str,
    annotation: ast.Subscript,
    value: ast.expr | None,
) -> RawOption:
    base = _plain_field(parsed, node, name, annotation, value)
    elements = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else []
    meta = next((item for item in elements[1:] if _metadata(item)), None)
    call = meta if isinstance(meta, ast.Call) else ast.Call(ast.Name("Arg"), [], [])
    text = text_of(keyword(call, "help")) or (call.args and text_of(call.args[0])) or text_of(meta)
    choices = _choices(keyword(call, "choices"))
    listed = _literal_choices(elements[0]) if elements else None
    flags = _declared_flags(call, name, base.place)
    return RawOption(
        name,
        base.place,
        True,
        flags,
        one_line(parsed, elements[0]) if elements else base.type,
        base.default,
        base.default_known,
        choices[0] if choices[0] is not None else listed,
        choices[1],
        text or None,
        _deprecated(text or "", keyword(call, "action"), [flag.name for flag in flags]),
    )


def _declared_flags(call: ast.Call, name: str, place: Place) -> tuple[Flag, ...]:
    match keyword(call, "no_cli"):
        case ast.Constant(value=True):
            return ()
    spelled = text_of(keyword(call, "cli_name")) or "--" + name.replace("_", "-")
    aliases = keyword(call, "aliases")
    more = [text_of(item) for item in aliases.elts] if isinstance(aliases, ast.List) else []
    names = [item for item in (spelled, *more) if item]
    return tuple(Flag(item, place) for item in (*names, *_negated(names, keyword(call, "action"))))


def _negated(names: list[str], action: ast.expr | None) -> list[str]:
    """The `--no-x` spellings that argparse adds for its optional booleans."""
    if action is None or not ast.unparse(action).endswith("BooleanOptionalAction"):
        return []
    return ["--no-" + name[2:] for name in names if name.startswith("--")]


def _choices(node: ast.expr | None) -> tuple[tuple[Scalar, ...] | None, str | None]:
    if node is None:
        return None, None
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return None, name
        case ast.Call(args=[ast.Name(id=name)]) | ast.BinOp(left=ast.Name(id=name)):
            return None, name
    value = json_value(node) if is_literal(node) else None
    if isinstance(value, list):
        return tuple(item for item in value if not isinstance(item, (list, dict))), None
    return None, None


def _literal_choices(node: ast.expr) -> tuple[Scalar, ...] | None:
    for inner in ast.walk(node):
        match inner:
            case ast.Subscript(value=ast.Name(id="Literal"), slice=options):
                return _choices(options if isinstance(options, ast.Tuple) else None)[0]
    return None


def _deprecated(text: str, action: ast.expr | None, flags: Sequence[str] = ()) -> bool:
    """Whether an option calls itself deprecated; what it replaces may be deprecated too."""
    if action is not None and "deprecated" in ast.unparse(action).lower():
        return True
    own = "|".join(["this(?: [a-z]+)?", *map(re.escape, flags)])
    return bool(
        _DEPRECATED.search(text)
        or re.search(rf"(?:{own})['`\"]? (?:is|are) (?:now )?deprecated", text)
    )


def _arguments(parsed: ParsedFile, node: ast.AST) -> Iterator[RawOption]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and called_name(inner) == "add_argument":
            option = _argument(parsed, inner)
            if option is not None:
                yield option


def _parser_functions(parsed: ParsedFile) -> Iterator[RawOption]:
    # Some layouts keep the parser calls apart from the class that holds the fields.
    for node in parsed.tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("add_cli_args"):
            yield from _arguments(parsed, node)


def _argument(parsed: ParsedFile, call: ast.Call) -> RawOption | None:
    names = [text for item in call.args if (text := text_of(item)) and text.startswith("-")]
    if not names:
        return None
    long = next((item for item in names if item.startswith("--")), names[0])
    dest = text_of(keyword(call, "dest")) or long.lstrip("-").replace("-", "_")
    text = text_of(keyword(call, "help"))
    choices = _choices(keyword(call, "choices"))
    deprecated = _deprecated(text or "", keyword(call, "action"), names)
    return RawOption(
        dest,
        parsed.place(call),
        False,
        tuple(
            Flag(item, parsed.place(call), deprecated)
            for item in (*names, *_negated(names, keyword(call, "action")))
        ),
        choices=choices[0],
        choice_list=choices[1],
        help=text,
        deprecated=deprecated,
    )
