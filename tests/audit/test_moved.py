"""A finding keeps its name when lines move: what baselines and alerts rest on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sgl_audit import api
from sgl_audit.model.report import Audit
from sgl_audit.rules import all_rules
from sgl_audit_reports.sarif import audit_to_sarif

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
LINES = 50


def audited(folder: Path) -> Audit:
    """The audit of a tree for two capabilities."""
    return api.audit(api.open_source(str(folder)), capabilities=("sm90", "sm120"))


def names(audit: Audit) -> list[dict[str, str]]:
    """What SARIF calls each finding."""
    log = json.loads(audit_to_sarif(audit, all_rules()))
    return sorted(
        (item["partialFingerprints"] for item in log["runs"][0]["results"]),
        key=lambda item: item["primaryLocationLineHash"],
    )


@pytest.mark.parametrize("layout", ["flat_2025", "dataclass_2026", "arg_groups_2026"])
def test_a_tree_moved_by_fifty_lines_keeps_its_fingerprints(layout: str, tmp_path: Path) -> None:
    moved = tmp_path / layout
    shutil.copytree(FIXTURES / layout, moved)
    for path in moved.rglob("*.py"):
        path.write_bytes(b"# moved\n" * LINES + path.read_bytes())
    before, after = audited(FIXTURES / layout), audited(moved)
    assert before.findings
    assert names(after) == names(before)
    hashes = {item["primaryLocationLineHash"] for item in names(before)}
    assert len(hashes) == len(before.findings)
    assert sorted(item.place.line - LINES for item in after.findings) == sorted(
        item.place.line for item in before.findings
    )
