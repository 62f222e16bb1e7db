import importlib, pkgutil
import pkg.many as many
found = {}
for info in pkgutil.iter_modules(many.__path__, many.__name__ + '.'):
    found[info.name] = (info.ispkg, importlib.import_module(info.name).v)
for _, name, ispkg in pkgutil.iter_modules(many.__path__):
    found[name] = ispkg
out = dict(sorted(found.items()))
