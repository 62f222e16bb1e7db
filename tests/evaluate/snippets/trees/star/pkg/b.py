__all__ = ['shown', '_y']
shown = 1
hidden = 2
_y = 3
