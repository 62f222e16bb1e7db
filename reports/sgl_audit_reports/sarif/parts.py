"""The small objects that SARIF logs are made of."""

from __future__ import annotations

import re
from urllib.parse import quote

from sgl_audit.model.report import Excerpt
from sgl_audit.model.source import Place
from sgl_audit_reports.common.messages import path_of
from sgl_audit_reports.common.text import visible, visible_lines
from sgl_audit_reports.json.encode import JsonObject

# Every path is relative to it, so that a log says nothing of the machine it was made on.
BASE = "SRCROOT"
_LINK = re.compile(r"\[(?=[^\[\]]*\]\()")


def message(*lines: str) -> JsonObject:
    """A message. Braces and links of foreign text are made plain, as SARIF asks."""
    return {"text": "\n".join(_plain(visible(line)) for line in lines if line)}


def _plain(text: str) -> str:
    doubled = text.replace("{", "{{").replace("}", "}}")
    return _LINK.sub(r"\\[", doubled)


def location(place: Place, base: str, text: str = "", excerpt: Excerpt | None = None) -> JsonObject:
    """A place with what is said of it and the source around it."""
    physical: JsonObject = {
        "artifactLocation": {"uri": uri(path_of(place, base)), "uriBaseId": BASE},
        "region": {"startLine": max(place.line, 1), "startColumn": max(place.column, 0) + 1},
    }
    if excerpt is not None and excerpt.lines and excerpt.first > 0:
        physical["contextRegion"] = {
            "startLine": excerpt.first,
            "endLine": excerpt.first + len(excerpt.lines) - 1,
            "snippet": {"text": "\n".join(visible_lines("\n".join(excerpt.lines)))},
        }
    found: JsonObject = {"physicalLocation": physical}
    if text:
        found["message"] = message(text)
    return found


def uri(path: str) -> str:
    """A relative path as a URI reference; a colon in its first part would name a scheme."""
    quoted = quote(path.encode("utf-8", "surrogatepass"), safe="/")
    return quoted.lstrip("/") or "."
