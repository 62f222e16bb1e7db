"""The baseline: findings that were there when a team began to look, by fingerprint."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sgl_audit.errors import UsageError
from sgl_audit.launch.text import decode, read_bounded, shown_path
from sgl_audit.model.report import Finding

FORMAT = 1
_LIMIT = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Entry:
    """One known finding; it is known on these capabilities alone."""

    fingerprint: str
    capabilities: frozenset[str]


def read_baseline(path: Path) -> tuple[Entry, ...]:
    """The entries of a baseline file.

    Raises:
        UsageError: it is missing or is no baseline.
    """
    if not path.exists():
        raise UsageError(
            f"the baseline {shown_path(path)} is not there; write it with --write-baseline "
            f"{shown_path(path)}."
        )
    text = decode(read_bounded(path, _LIMIT, "the baseline"), shown_path(path))
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _no_baseline(path, f"it is no JSON: {error}") from None
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise _no_baseline(path, f"its format is not {FORMAT}")
    rows = value.get("findings")
    if not isinstance(rows, list):
        raise _no_baseline(path, "it has no list of findings")
    return tuple(_entry(path, row) for row in rows)


def _entry(path: Path, row: Any) -> Entry:
    fingerprint = row.get("fingerprint") if isinstance(row, dict) else None
    names = row.get("capabilities") if isinstance(row, dict) else None
    listed = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not isinstance(fingerprint, str) or not listed:
        raise _no_baseline(path, "an entry lacks its fingerprint or its capabilities")
    return Entry(fingerprint, frozenset(names or ()))


def _no_baseline(path: Path, why: str) -> UsageError:
    return UsageError(f"{shown_path(path)} is no baseline of sgl-audit ({why}); write it anew.")


def baseline_text(findings: Iterable[Finding], tool_version: str) -> str:
    """The file that makes these findings known. What people read in it is not compared."""
    rows = [
        {
            "fingerprint": item.fingerprint,
            "capabilities": list(item.capabilities),
            "rule": item.rule,
            "severity": item.severity.value,
            "file": item.place.file,
            "option": item.option,
            "value": item.value,
            "title": item.title,
        }
        for item in findings
    ]
    rows.sort(key=lambda row: json.dumps(row, sort_keys=True))
    whole = {"format": FORMAT, "tool": f"sgl-audit {tool_version}", "findings": rows}
    return json.dumps(whole, indent=1, ensure_ascii=True) + "\n"
