def f():
    pass
class C:
    class D:
        pass
