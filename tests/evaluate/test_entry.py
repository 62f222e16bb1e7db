"""Which statements of a start function are run for its initialisers."""

from __future__ import annotations

import ast

from sgl_audit.evaluate.entry import needed_statements

START = """
config = self.hf_config
if hasattr(self.hf_config, "text_config"):
    config = self.hf_config.text_config
elif hasattr(self, "other"):
    config = self.other
unrelated = compute()
names = ("a", "b")
if any(hasattr(config, name) for name in names):
    initialize_moe_config()
log(unrelated)
initialize_fp4_gemm_config()
"""


def test_what_a_condition_reads_is_kept_also_where_a_branch_sets_it() -> None:
    kept = needed_statements(
        ast.parse(START).body, {"initialize_moe_config", "initialize_fp4_gemm_config"}
    )
    texts = [ast.unparse(node).splitlines()[0] for node in kept]
    assert texts == [
        "config = self.hf_config",
        "if hasattr(self.hf_config, 'text_config'):",
        "names = ('a', 'b')",
        "if any((hasattr(config, name) for name in names)):",
        "initialize_fp4_gemm_config()",
    ]
