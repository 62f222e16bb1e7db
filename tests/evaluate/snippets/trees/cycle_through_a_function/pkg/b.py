from pkg.a import third
def second():
    return third()
