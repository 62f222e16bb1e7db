import importlib
mod = importlib.import_module('pkg.a')
rel = importlib.import_module('.a', package='pkg')
def missing():
    try:
        importlib.import_module('pkg.zzz')
    except ImportError as error:
        return str(error)
from importlib.util import find_spec
out = mod.x, rel is mod, missing(), find_spec('pkg.a') is not None, find_spec('pkg.zzz')
