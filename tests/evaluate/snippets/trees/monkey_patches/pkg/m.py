from pkg import a
import pkg.a
a.value = 2
from pkg.a import value
import builtins
builtins.pkg_extra = 7
a.extra = lambda: pkg_extra
setattr(a, 'dyn', 3)
out = value, a.read(), a.extra(), pkg.a.dyn, 'dyn' in vars(a)
del builtins.pkg_extra
