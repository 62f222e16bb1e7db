import pkg.box
from pkg.box import item
from pkg.box import other
out = item, type(other).__name__, other.v
