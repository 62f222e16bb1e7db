import pkg.sub.x as x, pkg.sub as sub, os
out = __name__, __package__, x.__name__, sub.__name__, os.__name__, x.__package__, x.f.__module__, x.C.__qualname__, __name__ == '__main__'
