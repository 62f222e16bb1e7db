from . import register
@register('one')
def f():
    pass
