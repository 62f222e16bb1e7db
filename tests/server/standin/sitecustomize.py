"""Lets torchvision's CUDA build, the only one that is published, be imported beside a CPU torch.

One module of it adds fake kernels to operators that its compiled part would have registered, and
fails where that part cannot be loaded. An empty module takes its place.
"""

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec


class WithoutFakes(MetaPathFinder, Loader):
    """Knows that one module."""

    def find_spec(self, name, path, target=None):
        return ModuleSpec(name, self) if name == "torchvision._meta_registrations" else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, WithoutFakes())
