"""Draw README's picture: the first screen of an audit, as an SVG.

python benchmarks/first_screen.py sglang==0.5.9 docs/first-screen.svg
"""

from __future__ import annotations

import io
import sys

from rich.console import Console

from sgl_audit import audit, open_libraries, open_source
from sgl_audit_reports.terminal import render_audit


def main(spec: str, target: str, capability: str = "sm120") -> None:
    """Audit a source for one capability and save what the terminal would show."""
    tree = open_source(spec)
    libraries, _ = open_libraries(tree)
    console = Console(
        record=True,
        width=92,
        file=io.StringIO(),
        markup=False,
        highlight=False,
        color_system="truecolor",
        force_terminal=True,
    )
    render_audit(audit(tree, capabilities=(capability,), libraries=libraries), console)
    console.save_svg(target, title=f"sgl-audit --arch {capability} {spec}")


if __name__ == "__main__":
    main(*sys.argv[1:])
