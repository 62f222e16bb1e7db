"""Every function `case_*` below `snippets/` gives under the interpreter what CPython gives."""

from __future__ import annotations

import ast
import sys
import types
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sgl_audit.evaluate.session import Session
from sgl_audit.evaluate.values import Raised, Unknown

from .trees import plain, session_for

FOLDER = Path(__file__).parent / "snippets"
FILES = sorted(path for path in FOLDER.glob("*.py") if not path.name.startswith("_"))


def _cases() -> list[Any]:
    return [
        pytest.param(path.stem, node.name, id=f"{path.stem}-{node.name[5:]}")
        for path in FILES
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("case_")
    ]


@cache
def _session() -> Session:
    return session_for({f"pkg/{path.name}": path.read_text() for path in FILES})


@cache
def _real(name: str) -> dict[str, Any]:
    path = FOLDER / f"{name}.py"
    module = types.ModuleType(f"pkg.{name}")
    module.__file__ = f"pkg/{name}.py"
    sys.modules[module.__name__] = module
    exec(compile(path.read_text(), str(path), "exec", dont_inherit=True), module.__dict__)
    return module.__dict__


def _expected(name: str, case: str) -> Any:
    try:
        return plain(_real(name)[case]())
    except Exception as error:
        return ("raises", type(error).__name__, str(error))


def _interpreted(name: str, case: str) -> Any:
    session = _session()
    function = session.get(f"pkg.{name}", case)
    with session.launch() as machine:
        try:
            return plain(machine.call(function, [], {}))
        except Raised as raised:
            text = machine.as_text(raised.value)
            shown = text.name if isinstance(text, Unknown) else str(text)
            return ("raises", raised.value.cls.name, shown)


@pytest.mark.parametrize(("name", "case"), _cases())
def test_same_as_cpython(name: str, case: str) -> None:
    assert _interpreted(name, case) == _expected(name, case)


@pytest.mark.parametrize("name", [path.stem for path in FILES])
def test_every_module_statement_runs(name: str) -> None:
    session = _session()
    session.imports.load(f"pkg.{name}")
    assert [gap for gap in session.imports.gaps if gap.file == f"pkg/{name}.py"] == []
