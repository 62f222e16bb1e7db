from .impl import Thing
from .tools import helper
__all__ = ['Thing', 'helper']
