#!/usr/bin/env python3
"""Write the pages of docs/rules/ from the rules themselves; with --check only compare them."""

from __future__ import annotations

import sys
from pathlib import Path

from sgl_audit.rules import all_rules
from sgl_audit_reports.markdown.rules import rule_page, rules_index

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "rules"


def pages() -> dict[str, str]:
    """File name -> text of every page."""
    docs = all_rules()
    return {"index.md": rules_index(docs)} | {f"{doc.id}.md": rule_page(doc) for doc in docs}


def differing(wanted: dict[str, str]) -> list[str]:
    """Pages that are missing, out of date, or of no rule."""
    there = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.md")}
    names = wanted.keys() | there.keys()
    return sorted(name for name in names if wanted.get(name) != there.get(name))


def main(arguments: list[str]) -> int:
    """Write, or compare."""
    wanted = pages()
    changed = differing(wanted)
    if "--check" in arguments:
        for name in changed:
            print(f"docs/rules/{name} is not what the rules say; run scripts/rule_pages.py")
        return 1 if changed else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in changed:
        if name in wanted:
            (FOLDER / name).write_text(wanted[name], "utf-8")
        else:
            (FOLDER / name).unlink()
        print(f"docs/rules/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
