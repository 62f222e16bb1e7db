"""Where reports are to go, and in which form: refused before the work is done."""

from __future__ import annotations

from pathlib import Path

import pytest

from sgl_audit.cli.output import Target, targets
from sgl_audit.errors import UsageError

FORMS = ("terminal", "json", "html")


def test_a_suffix_that_names_no_form_is_not_taken_for_text(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.pdf names no form of report"):
        targets(None, [str(tmp_path / "x.pdf")], FORMS)
    named = str(tmp_path / "x.pdf")
    assert targets("json", [named], FORMS) == (Target("json", named),)
    plain = str(tmp_path / "report")
    assert targets(None, [plain], FORMS) == (Target("terminal", plain),)


def test_no_report_is_written_twice(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="-o - would be written twice"):
        targets(None, ["-", "-"], FORMS)
    (tmp_path / "link.json").symlink_to(tmp_path / "a.json")
    for other in ("./a.json", "link.json"):
        with pytest.raises(UsageError, match="would be written twice"):
            targets(None, [f"{tmp_path}/a.json", f"{tmp_path}/{other}"], FORMS)


@pytest.mark.parametrize(
    ("path", "said"),
    [("", "it is empty"), ("none/x.json", "does not exist"), (".", "is a folder")],
)
def test_what_cannot_take_a_report(path: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said):
        targets(None, [f"{tmp_path}/{path}" if path else ""], FORMS)
