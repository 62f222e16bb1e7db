"""The palette: WCAG AA contrast, light and dark."""

from __future__ import annotations

import re

import pytest

from sgl_audit_reports.html.render import asset

STYLE = asset("style.css")
PAIRS = [
    *((text, ground) for text in ("text", "quiet", "accent")
      for ground in ("page", "surface", "sunken")),
    *((kind, f"{kind}-soft") for kind in ("error", "warning", "note", "ok", "unknown")),
    *((kind, "surface") for kind in ("error", "warning", "note", "ok", "unknown")),
    *((f"code-{kind}", ground) for kind in ("keyword", "string", "comment", "number", "name")
      for ground in ("sunken", "mark")),
    ("text", "mark"),
    ("quiet", "mark"),
]  # fmt: skip


def palettes() -> dict[str, dict[str, str]]:
    """The three blocks that define colours."""
    blocks = re.findall(r"(:root[^{]*)\{([^}]*--text[^}]*)\}", STYLE)
    return {name.strip(): dict(re.findall(r"--([\w-]+): (#\w{6})", body)) for name, body in blocks}


def luminance(color: str) -> float:
    """Relative luminance as WCAG defines it."""
    parts = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_both_ways_to_dark_are_the_same() -> None:
    light, by_system, by_button = palettes().values()
    assert by_system == by_button
    assert light.keys() == by_system.keys()


@pytest.mark.parametrize("text,ground", PAIRS)
def test_contrast(text: str, ground: str) -> None:
    for name, palette in palettes().items():
        ratio = contrast(palette[text], palette[ground])
        assert ratio >= 4.5, f"{name}: {text} on {ground} is {ratio:.2f}"
