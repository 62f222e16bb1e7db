"""In place of SGLang's compiled kernels, of which no CPU build is published.

Anything can be imported from it and from any module below it; nothing of it computes. No operator
is registered with torch, so the server takes its own paths in plain torch.
"""

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec

ROOT = __name__


class Absent(type):
    """The class of what was not built: it has every attribute, and fails when it is called."""

    def __getattr__(cls, name):
        return absent(cls.__name__)(name)

    def __call__(cls, *words, **options):
        raise NotImplementedError(f"{cls.__name__}: there are no kernels on this machine")


def absent(where):
    """A module's `__getattr__`: a new such class for any name."""

    def attribute(name):
        if name[:2] == "__":
            raise AttributeError(f"{where} has no {name}")
        return Absent(f"{where}.{name}", (), {})

    return attribute


class Below(MetaPathFinder, Loader):
    """Finds every module below the package."""

    def find_spec(self, name, path, target=None):
        inside = name.startswith(ROOT + ".")
        return ModuleSpec(name, self, is_package=True) if inside else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.__getattr__ = absent(module.__name__)


__getattr__ = absent(ROOT)
sys.meta_path.append(Below())
