from pkg.a import *
from .b import *
out = sorted(k for k in globals() if k in ('x', '_y', 'z', 'hidden', 'shown', 'fn', 'deep'))
out.append(fn())
