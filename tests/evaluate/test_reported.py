"""What a server gives out of its arguments otherwise than it holds them."""

from __future__ import annotations

import shutil
from pathlib import Path

from sgl_audit import api
from sgl_audit.cli.probing.predicting import as_prediction
from sgl_audit.model.resolution import Launch

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
DUMP = """
    def resolved_dict(self):
        shown = {"page_size": what_nobody_knows()}
        other = "local"
        shown["attention_backend"] = "reported for " + self.kv_cache_dtype
        shown["moe_runner_backend"] = other
        shown["kv_cache_dtype"] = self.kv_cache_dtype
        return shown
"""


def test_a_value_with_a_line_of_its_own_in_the_dump(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(FIXTURES / "dataclass_2026", tree)
    (path,) = tree.rglob("server_args.py")
    text = path.read_text("utf-8")
    start = text.index("\n", text.index("class ServerArgs")) + 1
    path.write_text(text[:start] + DUMP + text[start:], "utf-8")
    model = ("--model-path", str(FIXTURES / "models" / "dense_bf16"))
    found = api.resolve(api.open_source(str(tree), offline=True), Launch("a", "sm120", model))
    held = {value.name: value.value for value in found.options}
    # One line needs what was worked out before it, one says the same; neither is listed.
    assert [(value.name, value.value) for value in found.reported] == [
        ("attention_backend", f"reported for {held['kv_cache_dtype']}")
    ]
    predicted = {value.name: value.value for value in as_prediction(found).values}
    assert predicted["attention_backend"] == found.reported[0].value
    assert held["attention_backend"] != found.reported[0].value
