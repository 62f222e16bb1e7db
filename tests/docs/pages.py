"""The pages of the documentation, and the scripts that write parts of them."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
_FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def name_of(page: Path) -> str:
    """How tests call a page."""
    return str(page.relative_to(ROOT))


def script(name: str) -> ModuleType:
    """A script of `scripts/` as a module."""
    found = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    # Dataclasses look their module up by name.
    sys.modules[name] = module
    found.loader.exec_module(module)
    return module


def without_code(text: str) -> str:
    """The text without fenced blocks and code spans."""
    return re.sub(r"`[^`\n]*`", "", _FENCE.sub("", text))


def block_after(page: Path, marker: str) -> str:
    """The fenced block below a comment."""
    text = page.read_text("utf-8")
    found = re.search(rf"<!-- {marker} -->\n+```\w+\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert found is not None, marker
    return found[1]
