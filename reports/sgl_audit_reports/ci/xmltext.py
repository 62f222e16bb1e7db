"""Text that XML 1.0 can carry."""

from __future__ import annotations

import re

from sgl_audit_reports.common.text import visible

# Not characters to XML, yet neither controls nor surrogates.
_NO_CHARACTERS = re.compile("[\ufffe\uffff]")


def xml_text(text: str) -> str:
    """One line; what XML cannot carry is spelled out."""
    return _NO_CHARACTERS.sub(lambda found: f"\\u{ord(found.group()):04x}", visible(text))
