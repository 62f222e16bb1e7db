"""The same tree gives the same order whatever the hash seed is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).resolve().parents[2] / "analyzer" / "sgl_audit" / "demo"


def test_choices_of_a_set_have_one_order(tmp_path: Path) -> None:
    code = (
        "from sgl_audit import api\n"
        f"facts = api.facts(api.open_source({str(DEMO)!r}))\n"
        "print([option.choices for option in facts.options if option.name == 'sampling_backend'])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed, "SGL_AUDIT_CACHE_DIR": str(tmp_path / seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "4", "5")
    }
    assert outputs == {"[('flashinfer', 'pytorch')]\n"}
