x = 1
_y = 2
def fn():
    return x
