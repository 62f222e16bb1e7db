import pkg.lazy as lazy
from pkg.lazy import made
def bad():
    try:
        return lazy.nope
    except AttributeError as error:
        return str(error)
out = lazy.real, lazy.made, made, bad(), getattr(lazy, 'nope', 0), hasattr(lazy, 'made')
