"""The batch form: one launch a line, as JSON.

Source of the form: `sgl-audit resolve --batch` in the README of the shared oracle: id, arch, argv,
assume; env and model_config are optional.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from sgl_audit.errors import UsageError
from sgl_audit.launch.assume import check_assumption
from sgl_audit.launch.plain import pairs_of, texts_of
from sgl_audit.launch.text import decode, read_bounded, shown, shown_path
from sgl_audit.model.capability import parse_capability
from sgl_audit.model.resolution import Launch

_LIMIT = 256 * 2**20
_KEYS = frozenset({"id", "arch", "argv", "assume", "env", "model_config"})
_LIKE_A_KEY = 0.75
_REQUIRED = ("id", "arch", "argv")


def read_batch(path: Path) -> Iterator[Launch]:
    """The launches of a batch file, in order; blank lines are passed over and ids may repeat.

    Raises:
        UsageError: the file cannot be read, or a line is no launch; the sentence names the line.
    """
    text = decode(read_bounded(path, _LIMIT, "batch file"), shown_path(path))
    if not text.strip():
        raise UsageError(f"{shown_path(path)} holds no launch; write one JSON object a line.")
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield _launch(line, f"{shown_path(path)}, line {number}")


def _launch(line: str, where: str) -> Launch:
    row = _row(line, where)
    identifier = row["id"]
    if not isinstance(identifier, str):
        raise UsageError(f"{where}: id is {shown(identifier)}, not a text; put it in quotes.")
    if not isinstance(row["arch"], str):
        raise UsageError(f"{where}: arch is {shown(row['arch'])}, not a text such as sm120.")
    try:
        capability, card = parse_capability(row["arch"])
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None
    model = row.get("model_config")
    if model is not None and not isinstance(model, str):
        raise UsageError(f"{where}: model_config is {shown(model)}, not the text of a path.")
    return Launch(
        id=identifier,
        capability=capability.name,
        argv=tuple(texts_of(row["argv"], f"{where}: argv")),
        environment=_mapping(row.get("env"), f"{where}: env"),
        assume=_assumptions(row.get("assume"), where),
        card=card,
        model_config=model,
    )


def _row(line: str, where: str) -> dict[str, object]:
    try:
        row = json.loads(line, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise UsageError(
            f"{where} is no JSON ({shown(error.msg)} at column {error.colno}); write one object "
            f"a line."
        ) from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where} is no JSON ({shown(error)}); write one object a line.") from None
    if not isinstance(row, dict):
        raise UsageError(
            f"{where} is {shown(json.dumps(row), 40)}, not a JSON object; write one a line."
        )
    for key in row:
        if key not in _KEYS:
            known = ", ".join(sorted(_KEYS))
            near = difflib.get_close_matches(key, _KEYS, 1, _LIKE_A_KEY)
            hint = f"did you mean {near[0]}?" if near else f"known are {known}."
            raise UsageError(f"{where} has the unknown key {shown(key)}; {hint}")
    missing = [key for key in _REQUIRED if key not in row]
    if missing:
        raise UsageError(f"{where} lacks {' and '.join(missing)}; add it.")
    return row


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no value of a launch")


def _mapping(value: object, where: str) -> tuple[tuple[str, str], ...]:
    if value is not None and not isinstance(value, dict):
        raise UsageError(f"{where} is {shown(value, 40)}, not an object; write NAME: VALUE pairs.")
    return pairs_of(value, where)


def _assumptions(value: object, where: str) -> tuple[tuple[str, str], ...]:
    here = f"{where}: assume"
    pairs = _mapping(value, here)
    return tuple((name, check_assumption(name, text, here)) for name, text in pairs)
