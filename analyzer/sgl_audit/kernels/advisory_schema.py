"""The form of one advisory file. A wrong file is one sentence, never half read."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from datetime import date

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from sgl_audit.errors import UsageError
from sgl_audit.model.capability import BY_NAME
from sgl_audit.model.kernels import Advisory, AdvisoryValue, Certainty

_TEXTS = ("id", "title", "library", "effect", "certainty")
_OPTIONAL_TEXTS = ("versions", "sglang", "note")
_KEYS = (*_TEXTS, *_OPTIONAL_TEXTS, "date", "sources", "values", "capabilities")
_VALUE_KEYS = ("option", "value", "stage", "when")
_OUTCOMES = ("works", "fails", "wrong", "slow")
_STAGES = ("prefill", "decode")
_ID = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*")

Table = Mapping[str, object]


def parse_advisory(table: Table, stem: str, origin: str) -> Advisory:
    """Build an advisory from the parsed TOML of a file named `stem`.toml.

    Raises:
        UsageError: anything is missing, misspelt or of the wrong kind; the message says what to
            do and is meant to follow the file name.
    """
    _known_keys(table, _KEYS, "the file")
    texts = {key: _text(table, key) for key in _TEXTS}
    more = {key: _text(table, key, "") for key in _OPTIONAL_TEXTS}
    _check_id(texts["id"], stem)
    for key in ("versions", "sglang"):
        _check_specifier(more[key], key)
    lists = _capabilities(table.get("capabilities"))
    return Advisory(
        id=texts["id"],
        title=texts["title"],
        library=canonicalize_name(texts["library"]),
        versions=more["versions"],
        values=_values(table.get("values", [])),
        effect=texts["effect"],
        sources=_strings(table.get("sources"), "sources"),
        certainty=Certainty(_one_of(texts["certainty"], tuple(Certainty), "certainty")),
        date=_date(table.get("date")),
        works=lists["works"],
        fails=lists["fails"],
        wrong=lists["wrong"],
        slow=lists["slow"],
        sglang=more["sglang"],
        note=more["note"],
        origin=origin,
    )


def _known_keys(table: Table, known: Iterable[str], where: str) -> None:
    for key in table:
        if key not in known:
            hint = _near(key, known)
            raise UsageError(f"{where} has the unknown key {key!r}{hint}")


def _near(word: str, known: Iterable[str]) -> str:
    names = [str(name) for name in known]
    near = difflib.get_close_matches(word, names, 1)
    return f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(names)}"


def _text(table: Table, key: str, default: str | None = None) -> str:
    value = table.get(key, default)
    if value is None:
        raise UsageError(f"{key!r} is missing; add it")
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise UsageError(f"{key!r} must be a text, not {value!r}")
    return value.strip()


def _strings(value: object, key: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise UsageError(f"{key!r} must be a list with at least one text")
    if not all(isinstance(item, str) and item.strip() for item in value):
        raise UsageError(f"{key!r} must hold texts only")
    return tuple(value)


def _one_of(value: str, known: Iterable[str], key: str) -> str:
    if value not in known:
        raise UsageError(f"{key!r} is {value!r}{_near(value, known)}")
    return value


def _check_id(text: str, stem: str) -> None:
    if not _ID.fullmatch(text):
        raise UsageError(f"'id' {text!r} must be lower-case words joined by hyphens")
    if text != stem:
        raise UsageError(f"'id' is {text!r} but the file is {stem}.toml; make them equal")


def _check_specifier(text: str, key: str) -> None:
    try:
        SpecifierSet(text)
    except InvalidSpecifier as error:
        raise UsageError(
            f"{key!r} {text!r} is no version range; write one as '>=0.6,<0.7'"
        ) from error


def _date(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()[:10]
    try:
        return date.fromisoformat(value if isinstance(value, str) else "").isoformat()
    except ValueError as error:
        raise UsageError("'date' must be a day such as 2026-11-29") from error


def _capabilities(value: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict) or not value:
        raise UsageError("the table [capabilities] with works, fails, wrong or slow is missing")
    _known_keys(value, _OUTCOMES, "[capabilities]")
    lists = {key: _strings(value[key], key) if key in value else () for key in _OUTCOMES}
    for key, names in lists.items():
        for name in names:
            if name not in BY_NAME:
                raise UsageError(f"{key!r} names {name!r}, no capability{_near(name, BY_NAME)}")
    for first, second in (("works", "fails"), ("works", "wrong"), ("fails", "wrong")):
        both = set(lists[first]) & set(lists[second])
        if both:
            raise UsageError(f"{min(both)} is under both {first!r} and {second!r}; keep one")
    return lists


def _values(value: object) -> tuple[AdvisoryValue, ...]:
    if not isinstance(value, list):
        raise UsageError("'values' must be tables: write [[values]]")
    return tuple(item for entry in value for item in _value(entry))


def _value(entry: object) -> Iterable[AdvisoryValue]:
    if not isinstance(entry, dict):
        raise UsageError("'values' must be tables: write [[values]]")
    _known_keys(entry, _VALUE_KEYS, "[[values]]")
    option = _text(entry, "option")
    stage = _one_of(_text(entry, "stage"), _STAGES, "stage") if "stage" in entry else None
    given = entry.get("value")
    for item in given if isinstance(given, list) and given else [given]:
        if not isinstance(item, str | bool) or item == "":
            raise UsageError(
                f"[[values]] of {option!r} needs a 'value': a text, true, false or a list"
            )
        text = item if isinstance(item, str) else str(item).lower()
        yield AdvisoryValue(option, text, stage, _when(entry.get("when", {})))


def _when(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise UsageError("'when' must be a table such as { quantization = [\"NVFP4\"] }")
    conditions = tuple(
        (str(name), _strings(texts, f"when.{name}")) for name, texts in value.items()
    )
    for name, texts in conditions:
        for text in texts:
            if text[0] in "<>=!~":
                _check_specifier(text, f"when.{name}")
    return conditions
