registry = {}
def register(name):
    def apply(f):
        registry[name] = f
        return f
    return apply
from . import one, two
