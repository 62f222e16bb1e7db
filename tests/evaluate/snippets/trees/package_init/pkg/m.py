import pkg
from pkg.sub import mod
out = pkg.order, mod.seen
