import pkg
from . import value
pkg.order.append('mod')
seen = value
