try:
    from pkg.missing import x
except ImportError:
    x = 'none'
try:
    from pkg.a import gone
except ImportError as error:
    gone = type(error).__name__
try:
    import no_such_module_abc
    has = True
except ModuleNotFoundError:
    has = False
try:
    from pkg.broken import y
except ImportError:
    y = 'broken'
out = x, gone, has, y
