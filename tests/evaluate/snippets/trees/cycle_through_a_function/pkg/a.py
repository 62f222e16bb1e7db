def first():
    from pkg.b import second
    return second()
def third():
    return 3
