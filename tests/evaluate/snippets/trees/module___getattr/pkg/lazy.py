real = 1
def __getattr__(name):
    if name.startswith('made'):
        return 'made ' + name
    raise AttributeError(f'no {name} here')
