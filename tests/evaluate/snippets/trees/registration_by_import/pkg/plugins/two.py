from pkg.plugins import register
@register('two')
def f():
    pass
