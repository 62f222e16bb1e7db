"""Calls, arguments, decorators and what goes wrong in them."""

import functools
import inspect


def attempt(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error).__name__, str(error)


def plain(a, b, c=3):
    return a, b, c


def everything(a, /, b, *rest, c, d=4, **named):
    return a, b, rest, c, d, named


def case_positional_and_keyword():
    return plain(1, 2), plain(1, b=2), plain(c=1, b=2, a=3), plain(*[1, 2], **{"c": 9})


def case_everything():
    return (
        everything(1, 2, c=3),
        everything(1, b=2, c=3),
        everything(1, 2, 3, 4, c=5, d=6, e=7),
        everything(1, 2, c=3, a=9),
    )


def case_several_stars():
    return (
        everything(*[1], *(2, 3), 4, c=5, **{"x": 1}, **{"y": 2}),
        plain(*"ab", *[]),
        plain(1, *[2], c=5),
    )


def case_missing_arguments():
    def none(): ...
    def three(a, b, c): ...
    def keyword(*, x, y): ...
    def one_keyword(*, x): ...

    return (
        attempt(plain),
        attempt(plain, 1),
        attempt(three),
        attempt(three, 1),
        attempt(keyword),
        attempt(one_keyword),
        attempt(none, 1),
    )


def case_too_many_arguments():
    def none(): ...
    def one(a): ...
    def default(a, b=1): ...
    def keyword(a, *, k=1): ...

    return (
        attempt(none, 1),
        attempt(one, 1, 2),
        attempt(default, 1, 2, 3),
        attempt(keyword, 1, 2),
        attempt(plain, 1, 2, 3, 4),
    )


def case_unexpected_keyword():
    return attempt(plain, 1, 2, z=1), attempt(everything, a=1, b=2, c=3)


def case_multiple_values():
    return attempt(plain, 1, 2, a=3), attempt(lambda: plain(1, 2, **{"b": 3}))


def case_method_arguments():
    class A:
        def f(self, a):
            return a

        @classmethod
        def g(cls, a):
            return a

        @staticmethod
        def h(a):
            return a

    return (
        attempt(A().f),
        attempt(A().f, 1, 2),
        attempt(A.f, 1),
        attempt(A.g),
        attempt(A().h),
        A.f(None, 3),
        A().g(4),
        A.h(5),
    )


def case_not_callable():
    return (
        attempt(lambda: 1()),
        attempt(lambda: "a"()),
        attempt(lambda: None()),
        attempt(lambda: [1]()),
        attempt(lambda: object()()),
    )


def case_spread_errors():
    return attempt(lambda: plain(*1))[0], attempt(lambda: plain(**{"a": 1, "b": 2}))


def case_decorator_order():
    log = []

    def note(name):
        log.append("make " + name)

        def apply(function):
            log.append("apply " + name)

            def run(*args):
                log.append("run " + name)
                return function(*args) + name

            return run

        return apply

    @note("a")
    @note("b")
    def f(x):
        return x

    return f("-"), log


def case_class_decorator():
    def register(cls):
        cls.tag = cls.__name__.lower()
        return cls

    def swap(cls):
        return "swapped"

    @register
    class Thing:
        pass

    @swap
    class Gone:
        pass

    return Thing.tag, Thing().tag, Gone


def case_decorator_class():
    class Count:
        def __init__(self, function):
            self.function = function
            self.calls = 0
            functools.update_wrapper(self, function)

        def __call__(self, *args):
            self.calls += 1
            return self.function(*args)

    @Count
    def f(x):
        """Doc."""
        return x * 2

    f(1)
    return f(4), f.calls, f.__name__


def case_wraps():
    def deco(function):
        @functools.wraps(function)
        def inner(*args, **kwargs):
            return ["wrapped", function(*args, **kwargs)]

        return inner

    @deco
    def f(a, b=1):
        """Doc."""
        return a + b

    f.mark = 1
    return f(1), f(1, b=5), f.__name__, f.__doc__, f.__wrapped__(3), f.mark


def case_lru_cache():
    calls = []

    @functools.lru_cache(maxsize=None)
    def f(a, b=1):
        calls.append((a, b))
        return a + b

    @functools.lru_cache
    def g(x):
        calls.append(x)
        return x

    @functools.cache
    def h():
        calls.append("h")
        return 1

    f(1)
    f(1)
    f(1, b=1)
    f(1, 1)
    g("x")
    g("x")
    h()
    h()
    before = list(calls)
    f.cache_clear()
    f(1)
    return before, calls, f.__name__, f.__wrapped__(2)


def case_lru_cache_distinguishes_by_equality():
    calls = []

    @functools.lru_cache
    def f(x):
        calls.append(x)
        return type(x).__name__

    return f(1), f(1.0), f(True), attempt(f, [1]), calls


def case_lru_cache_on_method():
    calls = []

    class A:
        @functools.lru_cache(maxsize=8)  # noqa: B019
        def f(self, x):
            calls.append(x)
            return x

        @staticmethod
        @functools.lru_cache
        def g(x):
            calls.append(x)
            return -x

    a, b = A(), A()
    return a.f(1), a.f(1), b.f(1), A.g(2), a.g(2), calls


def case_partial():
    p = functools.partial(plain, 1, c=9)
    q = functools.partial(p, 2)
    return (
        p(2),
        q(),
        q(c=0),
        p.func(1, 2),
        p.args,
        p.keywords,
        functools.lru_cache(functools.partial(plain, 5))(6),
    )


def case_reduce():
    return (
        functools.reduce(lambda a, b: a * b, [1, 2, 3, 4]),
        functools.reduce(lambda a, b: a + b, [], 7),
        attempt(lambda: functools.reduce(lambda a, b: a, [])),
    )


def case_evaluation_order():
    log = []

    def n(x):
        log.append(x)
        return x

    def f(*args, **kwargs):
        return args, kwargs

    got = f(n(1), *[n(2)], n(3), k=n(4), **{"z": n(5)})
    n(6) < n(7) < n(5) < n(8)
    [n(9), *[n(10)]][n(0)]
    {n("k"): n("v")}
    return got, log


def case_callable_objects():
    class A:
        def __call__(self, x, *, y=1):
            return x + y

    a = A()
    return a(1), a(1, y=5), callable(a), callable(A), callable(len), callable(1), attempt(a)


def case_bound_methods_are_values():
    class A:
        def __init__(self, n):
            self.n = n

        def add(self, x):
            return self.n + x

    f = A(10).add
    g = A.add
    h = [].append
    return f(1), g(A(2), 3), [*map(A(1).add, [1, 2])], h(1), f.__self__.n, f.__name__, f == f


def case_getattr_of_bound():
    class A:
        def f(self):
            return 1

        f.mark = "yes"

    return A().f.mark, A.f.mark, attempt(lambda: A().f.other)


def case_keyword_only_defaults():
    def f(*, a=1, b):
        return a, b

    return f(b=2), f(b=1, a=0), attempt(f, 1, b=2)


def case_mutating_kwargs():
    def f(**kwargs):
        kwargs["added"] = 1
        return kwargs

    d = {"a": 1}
    return f(**d), d


def case_method_call_on_class_attribute_function():
    class A:
        key = len
        own = lambda self: 5  # noqa: E731

    a = A()
    a.free = lambda: "free"
    return a.key([1, 2]), a.own(), a.free()


def case_singledispatch():
    @functools.singledispatch
    def f(x):
        return "any"

    @f.register(int)
    def _(x):
        return "int"

    return f("a"), f(3)


def case_total_ordering():
    @functools.total_ordering
    class A:
        def __init__(self, n):
            self.n = n

        def __eq__(self, other):
            return self.n == other.n

        def __lt__(self, other):
            return self.n < other.n

    return A(1) <= A(1), A(2) > A(1), A(1) >= A(2), sorted([A(2), A(1)])[0].n


def case_cmp_to_key():
    return sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a))


def case_inspect():
    def f(a, /, b: int, c=3, *rest, d, e=5, **named) -> str:
        """Doc."""

    class A:
        """A doc.

        More.
        """

        def __init__(self, x, y=2): ...

        def m(self, z): ...

        @classmethod
        def k(cls, q): ...

        @staticmethod
        def s(w): ...

    @functools.wraps(f)
    def wrapped(*args, **kwargs): ...

    @functools.lru_cache
    def cached(n=1): ...

    def generator():
        yield 1

    p = inspect.signature(f).parameters
    P = inspect.Parameter
    return (
        list(p),
        [int(x.kind) for x in p.values()],
        [x.default for x in p.values() if x.default is not P.empty],
        p["b"].annotation is int,
        p["a"].annotation is P.empty,
        p["a"].default is inspect._empty,
        p["rest"].kind == P.VAR_POSITIONAL,
        any(x.kind is P.VAR_KEYWORD for x in p.values()),
        p["d"].kind in (P.KEYWORD_ONLY,),
        inspect.signature(f).return_annotation is str,
        list(inspect.signature(A).parameters),
        list(inspect.signature(A(1).m).parameters),
        list(inspect.signature(A.m).parameters),
        list(inspect.signature(A.k).parameters),
        list(inspect.signature(A.s).parameters),
        list(inspect.signature(wrapped).parameters),
        list(inspect.signature(cached).parameters),
        list(inspect.signature(lambda u, v=1: u).parameters),
        inspect.isclass(A),
        inspect.isclass(A(1)),
        inspect.isfunction(f),
        inspect.ismethod(A(1).m),
        inspect.ismethod(f),
        inspect.isgeneratorfunction(generator),
        inspect.isgeneratorfunction(f),
        inspect.iscoroutinefunction(f),
        inspect.getdoc(A),
        inspect.getdoc(f),
        [n for n, _ in inspect.getmembers(A, inspect.isfunction)],
        [c.__name__ for c in inspect.getmro(A)],
        inspect.ismodule(inspect),
        "x" in inspect.signature(A).parameters,
    )
