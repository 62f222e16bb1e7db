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


def keeps_its_fingerprints(before: Audit, folder: Path) -> None:
    """Every file of the folder gets lines on top; findings move with them and keep their names."""
    for path in folder.rglob("*.py"):
        path.write_bytes(b"# moved\n" * LINES + path.read_bytes())
    after = audited(folder)
    assert before.findings
    assert names(after) == names(before)
    hashes = {item["primaryLocationLineHash"] for item in names(before)}
    assert len(hashes) == len(before.findings)
    assert sorted(item.place.line - LINES for item in after.findings) == sorted(
        item.place.line for item in before.findings
    )


@pytest.mark.parametrize("layout", ["flat_2025", "dataclass_2026", "arg_groups_2026"])
def test_a_tree_moved_by_fifty_lines_keeps_its_fingerprints(layout: str, tmp_path: Path) -> None:
    moved = tmp_path / layout
    shutil.copytree(FIXTURES / layout, moved)
    keeps_its_fingerprints(audited(FIXTURES / layout), moved)


@pytest.mark.real
def test_a_release_moved_by_fifty_lines_keeps_its_fingerprints(
    real_cache: Path, tmp_path: Path
) -> None:
    tree = api.open_source("sglang==0.5.9", cache_dir=real_cache)
    for file in tree.files():
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(tree.read(file))
    keeps_its_fingerprints(audited(tmp_path), tmp_path)
