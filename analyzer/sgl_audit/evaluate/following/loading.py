"""Modules that Python would have loaded by the time a model is built.

The interpreter puts imports off until a name is used; the registries that layers look things up in
are filled by modules of which no name is ever used.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from sgl_audit.evaluate.imports import Imports
from sgl_audit.evaluate.late_trial import Trial
from sgl_audit.evaluate.values import Raised, Undecidable

PACKAGE = "srt.layers."
# How many modules there were when none was left to load; a launch takes back what it loaded.
_DONE: WeakKeyDictionary[Imports, int] = WeakKeyDictionary()


def load_due(trial: Trial) -> None:
    """Load the modules of layers that loaded modules import at their top level."""
    imports = trial.machine.imports
    prefix = f"{trial.entry.root}.{PACKAGE}"
    if _DONE.get(imports) == len(imports.modules):
        return
    refused: set[str] = set()
    queue = [module for module in imports.modules.values() if module.state == "loaded"]
    seen = {module.name for module in queue}
    while queue:
        module = queue.pop()
        if module.file is None:
            continue
        for name in sorted(imports.program.top_level_imports(module.name, module.file)):
            if name in refused or name in seen or not name.startswith(prefix):
                continue
            seen.add(name)
            try:
                queue.append(imports.load(name))
            except (Raised, Undecidable):
                refused.add(name)
    _DONE[imports] = len(imports.modules)
