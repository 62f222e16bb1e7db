"""Imports within a tree give what CPython gives."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from sgl_audit.evaluate.values import Raised

from .trees import plain, session_for

FOLDER = Path(__file__).parent / "snippets" / "trees"
TREES = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())


def files_of(name: str) -> dict[str, str]:
    """The files of one tree."""
    root = FOLDER / name
    return {p.relative_to(root).as_posix(): p.read_text() for p in sorted(root.rglob("*.py"))}


def real(files: dict[str, str], folder: Path) -> Any:
    """`pkg.m.out` under CPython."""
    for path, text in {"pkg/__init__.py": "", **files}.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    kept = {name: mod for name, mod in sys.modules.items() if name.split(".")[0] == "pkg"}
    for name in kept:
        del sys.modules[name]
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        return importlib.import_module("pkg.m").out
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.split(".")[0] == "pkg"]:
            del sys.modules[name]
        sys.modules.update(kept)


@pytest.mark.parametrize("name", TREES)
def test_imports_as_in_cpython(name: str, tmp_path: Path) -> None:
    session = session_for(files_of(name))
    module = session.imports.load("pkg.m")
    assert session.imports.gaps == []
    assert plain(session.machine.getattr(module, "out")) == plain(real(files_of(name), tmp_path))


def test_a_statement_that_fails_leaves_its_names_unknown_and_the_rest_runs() -> None:
    session = session_for(
        {
            "pkg/m.py": "kept = 1\nlost = undefined_name\nkept_too = 2\n"
            "again = 1\nif kept:\n    again = lost.x + 1\n    1 / 0\nagain_after = again\n"
            "class Bad(undefined_base):\n    pass\ndef fine():\n    return kept\n"
        }
    )
    module = session.imports.load("pkg.m")
    lines = [gap.line for gap in session.imports.gaps]
    assert lines == [2, 5, 9]
    values = {name: plain(module.ns[name])[0] for name in ("kept", "lost", "kept_too", "Bad")}
    assert values == {"kept": "int", "lost": "unknown", "kept_too": "int", "Bad": "unknown"}
    assert session.machine.call(module.ns["fine"], [], {}) == 1


def test_a_file_that_cannot_be_parsed_is_an_import_error_with_a_diagnostic() -> None:
    session = session_for(
        {
            "pkg/m.py": "try:\n    import pkg.bad\nexcept SyntaxError:\n    out = 1\n",
            "pkg/bad.py": "x =",
        }
    )
    module = session.imports.load("pkg.m")
    assert module.ns["out"] == 1
    (diagnostic,) = session.program.diagnostics
    assert diagnostic.place is not None
    assert diagnostic.place.file == "pkg/bad.py"


def test_a_module_that_raises_can_be_tried_again() -> None:
    session = session_for({"pkg/m.py": "x = 1\n", "pkg/bad.py": "raise ImportError('not here')\n"})
    for _ in range(2):
        with pytest.raises(Raised) as stop:
            session.imports.load("pkg.bad")
        assert stop.value.value.cls.name == "ImportError"


def test_modules_that_load_late_see_the_environment_of_the_start() -> None:
    session = session_for(
        {
            "pkg/m.py": "import os\ndef run():\n    os.environ['PKG_V'] = 'late'\n"
            "    from pkg.late import seen\n    return seen, os.environ['PKG_V']\n",
            "pkg/late.py": "import os\nseen = os.environ.get('PKG_V')\n",
        },
        environment={"PKG_V": "start"},
    )
    with session.launch() as machine:
        assert machine.call(session.get("pkg.m", "run"), [], {}) == ("start", "late")
