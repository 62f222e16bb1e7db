from ..a import x
from . import c
y = x + c.value
