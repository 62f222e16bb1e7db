"""Names, closures, class scopes and comprehensions."""

TOTAL = 10
NAMES = ["a", "b"]


def attempt(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error).__name__, str(error)


def case_closure_sees_later_writes():
    x = 1

    def read():
        return x

    first = read()
    x = 2
    return first, read()


def case_nonlocal_counter():
    def counter():
        n = 0

        def up(by=1):
            nonlocal n
            n += by
            return n

        return up

    one, other = counter(), counter()
    return one(), one(5), other(), one()


def case_nonlocal_through_two_levels():
    x = "outer"

    def middle():
        def inner():
            nonlocal x
            x = "inner"

        inner()

    middle()
    return x


def case_loop_closures_share():
    made = [lambda: i for i in range(3)]
    kept = [lambda i=i: i for i in range(3)]
    return [f() for f in made], [f() for f in kept]


def case_global_statement():
    global TOTAL, CREATED
    before = TOTAL
    TOTAL += 5
    CREATED = "yes"
    return before, TOTAL, CREATED


def case_global_inside_nested():
    def inner():
        global TOTAL
        TOTAL = 99

    inner()
    return TOTAL


def case_global_shadowed_by_outer_local():
    TOTAL = "local"

    def read_global():
        global TOTAL
        return TOTAL

    def read_local():
        return TOTAL

    return type(read_global()).__name__, read_local()


def case_class_scope_not_visible_to_methods():
    x = "function"

    class A:
        x = "class"
        y = x + "!"

        def read(self):
            return x

        z = [x for _ in range(1)]
        w = [a for a in x]

    return A.x, A.y, A().read(), A.z, A.w


def case_class_scope_reads_then_shadows():
    class A:
        TOTAL = TOTAL if isinstance(TOTAL, str) else "from globals"
        NAMES = NAMES + ["c"]

    return A.TOTAL, A.NAMES, NAMES


def case_nested_class_scopes():
    class Outer:
        value = 1

        class Inner:
            got = attempt(lambda: value)

        class Child(Inner):
            pass

        def make(self):
            class Local:
                owner = self

            return Local

    return Outer.Inner.got, Outer().make().owner.value


def case_class_body_statements():
    class A:
        items = []
        for i in range(3):
            items.append(i)
        if len(items) == 3:
            size = "three"
        else:
            size = "other"
        try:
            broken = 1 / 0
        except ZeroDivisionError:
            broken = None
        del i

    return A.items, A.size, A.broken, hasattr(A, "i")


def case_comprehension_scope():
    x = "kept"
    squares = [x * x for x in range(4)]
    pairs = {(x, y) for x in range(2) for y in range(x + 1)}
    table = {k: v for k, v in zip("ab", [1, 2], strict=True) if v}
    nested = [[y for y in range(x)] for x in range(3)]
    return x, squares, pairs, table, nested


def case_walrus():
    if (n := len("abc")) > 2:
        n += 1
    last = [y := i * 2 for i in range(3)]
    found = any((hit := x) > 1 for x in [0, 2, 5])
    while (n := n - 1) > 2:
        pass
    return n, last, y, found, hit


def case_walrus_in_nested_comprehension():
    out = [[(last := (i, j)) for j in range(2)] for i in range(2)]
    return out, last


def case_unbound_local():
    def read():
        print(missing)
        missing = 1

    def conditional(flag):
        if flag:
            value = 1
        return value

    return attempt(read), attempt(conditional, True), attempt(conditional, False)


def case_unbound_free():
    def outer():
        def inner():
            return later

        result = attempt(inner)
        later = 1
        return result, inner(), later

    return outer()


def case_name_error():
    return attempt(lambda: nowhere_defined)  # noqa: F821


def case_except_name_is_unbound_after():
    def run():
        try:
            raise ValueError("x")
        except ValueError as error:
            kept = str(error)
        try:
            error
        except NameError as problem:
            return kept, type(problem).__name__, str(problem)
        return "still bound"

    return run()


def case_del_name():
    def run():
        x = 1
        del x
        return x

    def twice():
        x = 1
        del x
        del x

    return attempt(run), attempt(twice)


def case_del_global():
    global DOOMED
    DOOMED = 1
    del DOOMED
    return attempt(lambda: DOOMED)


def case_locals_and_globals():
    x, y = 1, 2
    return sorted(locals()), "case_walrus" in globals(), globals()["__name__"]


def case_lambda_defaults_and_star():
    f = lambda a, b=2, *c, d=4, **e: (a, b, c, d, e)  # noqa: E731
    return f(1), f(1, 3, 5, 6, d=7, z=8)


def case_default_is_evaluated_once():
    def add(item, into=[]):  # noqa: B006
        into.append(item)
        return into

    add(1)
    return add(2), add(3, [])


def case_private_names_are_mangled():
    class A:
        __hidden = 1

        def __secret(self):
            return self.__hidden

        def open(self):
            self.__own = 5
            return self.__secret(), self.__own, sorted(vars(self))

    class _B(A):
        def peek(self):
            return attempt(lambda: self.__hidden)

    a = A()
    return a.open(), hasattr(a, "__hidden"), a._A__hidden, _B().peek()


def case_recursion():
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    def even(n):
        return True if n == 0 else odd(n - 1)

    def odd(n):
        return False if n == 0 else even(n - 1)

    return fib(12), even(10), odd(7)


def case_function_attributes():
    def f(a: int, b: str = "x", *, c=None) -> bool:
        """Doc of f."""

    f.extra = 1
    return (
        f.__name__,
        f.__qualname__,
        f.__doc__,
        f.extra,
        hasattr(f, "other"),
        f.__defaults__,
        f.__kwdefaults__,
        f.__module__,
        vars(f),
    )


def case_generator_scope():
    x = [1, 2]
    gen = (a + len(x) for a in x)
    x = []
    return list(gen)


def case_star_targets():
    a, *b, c = range(5)
    (d, (e, *f)), g = (1, (2, 3, 4)), 5
    [h, i] = "xy"
    *j, k = (1,)
    return a, b, c, d, e, f, g, h, i, j, k


def case_chained_assignment():
    a = b = c = []
    a.append(1)
    x = y, z = 1, 2
    d = {}
    d["k"] = e = d.get("k", 0) + 1
    return b, c, x, y, z, d, e


def case_assignment_order():
    log = []

    def note(x):
        log.append(x)
        return x

    d = {}
    d[note("key")] = note("value")
    note("l")
    d[note(1)], d[note(2)] = note(3), note(4)
    return log, d


def case_while_else_for_else():
    def search(items, wanted):
        for item in items:
            if item == wanted:
                found = True
                break
        else:
            found = False
        n = 0
        while n < 3:
            n += 1
            if n == wanted:
                break
            if n == 1:
                continue
        else:
            n = "ran out"
        return found, n

    return search([1, 2], 2), search([1], 7)


def case_loop_variable_survives():
    for i in range(3):  # noqa: B007
        pass
    for j in []:
        pass
    return i, attempt(lambda: j)


def case_modify_while_iterating():
    items = [1, 2, 3, 4]
    seen = []
    for item in items:
        seen.append(item)
        if item == 2:
            items.remove(2)

    def grow():
        d = {"a": 1}
        for k in d:
            d[k + "x"] = 1

    return seen, attempt(grow)


def case_local_annotations_are_not_run():
    x: undefined_name = 3  # noqa: F821
    y: int

    return x, attempt(lambda: y)


class Base:
    registry = {}

    def __init_subclass__(cls, tag=None, **kwargs):
        super().__init_subclass__(**kwargs)
        Base.registry[tag or cls.__name__] = cls.__name__


class First(Base, tag="first"):
    pass


class Second(First):
    pass


def case_module_level_registry():
    return Base.registry
