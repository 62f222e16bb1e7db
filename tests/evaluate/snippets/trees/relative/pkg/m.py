from . import a
from .sub import b as bee
from .sub.c import value
from .sub.c import value as v2
out = {'a': a.x, 'b': bee.y, 'c': value, 'v': v2}
