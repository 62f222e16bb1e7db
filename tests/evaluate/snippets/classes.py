"""Classes: attributes, inheritance, super, properties, special methods."""

import functools
from abc import ABC, abstractmethod


def attempt(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error).__name__, str(error)


def case_attributes():
    class A:
        shared = []
        n = 1

        def __init__(self):
            self.own = 2

    a, b = A(), A()
    a.shared.append(1)
    a.n += 5
    A.late = "late"
    return a.n, b.n, A.n, b.shared, b.late, vars(a), a.__dict__, hasattr(a, "x"), getattr(a, "x", 0)


def case_missing_attribute():
    class A:
        pass

    return (
        attempt(lambda: A().x),
        attempt(lambda: A.x),
        attempt(lambda: (1).x),
        attempt(lambda: "s".x),
        attempt(lambda: None.x),
        attempt(lambda: [].x),
        attempt(lambda: {}.x),
        attempt(lambda: case_attributes.x),
        attempt(lambda: A().f()),
    )


def case_del_attribute():
    class A:
        n = 1

    a = A()
    a.n = 2
    del a.n
    first = a.n
    return (
        first,
        attempt(lambda: delattr(a, "n")),
        attempt(lambda: delattr(A, "zz")),
        delattr(A, "n"),
    )


def case_isinstance():
    class A: ...

    class B(A): ...

    b = B()
    return (
        isinstance(b, A),
        isinstance(b, (int, B)),
        isinstance(A(), B),
        issubclass(B, A),
        issubclass(B, object),
        issubclass(bool, int),
        isinstance(True, int),
        isinstance(1, bool),
        isinstance(1, (str, int | None)),
        isinstance(None, int | None),
        isinstance(None, type(None)),
        isinstance(A, type),
        type(b) is B,
        type(b).__name__,
        type(1) is int,
        type("") == str,
        b.__class__.__name__,
        isinstance([], list),
        attempt(lambda: isinstance(1, 1)),
        attempt(lambda: issubclass(1, int)),
    )


def case_mro():
    class A:
        def who(self):
            return "A"

    class B(A):
        def who(self):
            return "B" + super().who()

    class C(A):
        def who(self):
            return "C" + super().who()

    class D(B, C):
        def who(self):
            return "D" + super().who()

    return D().who(), [c.__name__ for c in D.__mro__], [c.__name__ for c in D.__bases__]


def case_mro_conflict():
    class A: ...

    class B(A): ...

    def make():
        class C(A, B): ...

    return attempt(make)[0]


def case_super_forms():
    class A:
        def __init__(self, x, *rest, **named):
            self.got = x, rest, named

        def f(self, n):
            return n + 1

        @classmethod
        def make(cls, n):
            return cls.__name__, n

        @staticmethod
        def s(n):
            return n * 2

        @property
        def p(self):
            return "A.p"

        value = "A.value"

    class B(A):
        def __init__(self, x):
            super().__init__(x, 1, k=2)

        def f(self, n):
            return super().f(n) + super(B, self).f(n) + A.f(self, n)

        @classmethod
        def make(cls, n):
            return "B", super().make(n)

        @staticmethod
        def s(n):
            return super(B, B).s(n) + 1

        @property
        def p(self):
            return "B." + super().p

        @property
        def v(self):
            return super().value

        def listed(self):
            f = super().f
            return [f(i) for i in range(2)]

        def missing(self):
            return super().nothing

    b = B(7)
    return b.got, b.f(1), B.make(3), b.s(4), b.p, b.v, b.listed(), attempt(b.missing)


def case_super_in_comprehension_and_lambda():
    class A:
        def f(self):
            return 1

    class B(A):
        def f(self):
            up = super()
            return (lambda: up.f())() + sum(up.f() for _ in range(2))

        def g(self):
            return (lambda: __class__.__name__)()

    return B().f(), B().g()


def case_class_cell():
    class A:
        def name(self):
            return __class__.__name__

    class B(A):
        pass

    return B().name()


def case_multiple_inheritance_cooperation():
    log = []

    class Root:
        def __init__(self, **kwargs):
            log.append(("Root", kwargs))

    class Left(Root):
        def __init__(self, left=0, **kwargs):
            log.append(("Left", left))
            super().__init__(**kwargs)

    class Right(Root):
        def __init__(self, right=0, **kwargs):
            log.append(("Right", right))
            super().__init__(**kwargs)

    class Both(Left, Right):
        pass

    Both(right=1, left=2, other=3)
    return log


def case_properties():
    class A:
        def __init__(self):
            self._x = 1
            self.log = []

        @property
        def x(self):
            """Doc of x."""
            return self._x

        @x.setter
        def x(self, value):
            self.log.append(value)
            self._x = value

        @x.deleter
        def x(self):
            self._x = None

        @property
        def fixed(self):
            return 5

        def _get(self):
            return "old style"

        old = property(_get)

    a = A()
    a.x = 2
    a.x += 10
    got = a.x
    del a.x
    return (
        got,
        a.x,
        a.log,
        a.fixed,
        attempt(lambda: setattr(a, "fixed", 1)),
        attempt(lambda: delattr(a, "fixed")),
        a.old,
        isinstance(A.x, property),
        A.x.fget(a),
        A.x.__doc__,
    )


def case_property_in_subclass():
    class A:
        @property
        def x(self):
            return 1

        @x.setter
        def x(self, value):
            self.stored = value

    class B(A):
        @property
        def x(self):
            return 2

    class C(A):
        @A.x.getter
        def x(self):
            return 3

    b, c = B(), C()
    c.x = "kept"
    return b.x, attempt(lambda: setattr(b, "x", 1)), c.x, c.stored


def case_property_raising_attribute_error():
    class A:
        @property
        def x(self):
            return self.nothing

        def __getattr__(self, name):
            return "fallback " + name

    class B:
        @property
        def x(self):
            return self.nothing

    return A().x, hasattr(B(), "x"), getattr(B(), "x", "default"), attempt(lambda: B().x)


def case_cached_property():
    calls = []

    class A:
        @functools.cached_property
        def x(self):
            calls.append("run")
            return len(calls)

    a = A()
    first = a.x, a.x
    a.x = 10
    second = a.x
    del a.x
    return first, second, a.x, calls, "x" in vars(a)


def case_descriptors():
    log = []

    class Field:
        def __init__(self, default):
            self.default = default

        def __set_name__(self, owner, name):
            log.append(("set_name", owner.__name__, name))
            self.name = name

        def __get__(self, obj, owner=None):
            if obj is None:
                return self
            return vars(obj).get("_" + self.name, self.default)

        def __set__(self, obj, value):
            vars(obj)["_" + self.name] = value * 2

    class Computed:
        def __get__(self, obj, owner):
            return ("computed", obj is None, owner.__name__)

    class A:
        x = Field(1)
        y = Field(2)
        z = Computed()

    a = A()
    before = a.x
    a.x = 5
    a.z = "shadow"
    return before, a.x, a.y, A.x.name, A.z, a.z, log, sorted(vars(a))


def case_descriptor_delete():
    class D:
        def __get__(self, obj, owner):
            return obj.__dict__.get("v", "none")

        def __set__(self, obj, value):
            obj.__dict__["v"] = value

        def __delete__(self, obj):
            obj.__dict__.pop("v", None)

    class A:
        d = D()

    a = A()
    a.d = 1
    one = a.d
    del a.d
    return one, a.d


def case_getattr_hooks():
    class View:
        def __init__(self, data):
            object.__setattr__(self, "_data", data)

        def __getattr__(self, name):
            try:
                return self._data[name]
            except KeyError:
                raise AttributeError(f"no {name}") from None

        def __setattr__(self, name, value):
            self._data[name] = ("set", value)

        def __delattr__(self, name):
            del self._data[name]

    v = View({"a": 1})
    v.b = 2
    got = v.a, v.b, hasattr(v, "c"), getattr(v, "c", None), attempt(lambda: v.c)
    del v.a
    return got, v._data


def case_getattribute():
    class A:
        def __init__(self):
            self.x = 1

        def __getattribute__(self, name):
            if name == "x":
                return "intercepted"
            if name == "gone":
                raise AttributeError(name)
            return super().__getattribute__(name)

        def __getattr__(self, name):
            return "fallback " + name

        def method(self):
            return self.x, vars(self)["x"]

    a = A()
    return a.x, a.method(), a.gone, a.other


def case_setattr_through_super():
    class A:
        def __setattr__(self, name, value):
            if name.startswith("_"):
                raise AttributeError("private")
            super().__setattr__(name, value + 1)

    a = A()
    a.n = 1
    setattr(a, "m", 5)
    return a.n, a.m, attempt(lambda: setattr(a, "_x", 1))


def case_new():
    class Single:
        instance = None

        def __new__(cls, *args):
            if cls.instance is None:
                cls.instance = super().__new__(cls)
                cls.instance.count = 0
            return cls.instance

        def __init__(self, *args):
            self.count += len(args)

    class Other:
        def __new__(cls):
            return "not an instance"

        def __init__(self):
            raise RuntimeError

    a = Single(1)
    b = Single(1, 2)
    return a is b, a.count, Other()


def case_init_subclass_and_class_getitem():
    class A:
        made = []

        def __init_subclass__(cls, /, kind="none", **kwargs):
            super().__init_subclass__(**kwargs)
            A.made.append((cls.__name__, kind))
            cls.kind = kind

        def __class_getitem__(cls, item):
            return cls.__name__, item

    class B(A, kind="b"): ...

    class C(B): ...

    def bad():
        class D(A, unknown=1): ...

    return A.made, B.kind, C.kind, A[int] == ("A", int), B["x"], attempt(bad)[0]


def case_metaclass():
    class Meta(type):
        def __new__(mcls, name, bases, ns, **kwargs):
            ns["added"] = kwargs.get("extra", 0)
            return super().__new__(mcls, name, bases, ns)

        def __init__(cls, name, bases, ns, **kwargs):
            super().__init__(name, bases, ns)
            cls.seen = sorted(k for k in ns if not k.startswith("__"))

        def __call__(cls, *args):
            made = super().__call__(*args)
            made.tag = "called"
            return made

        def __getattr__(cls, name):
            if name.startswith("auto_"):
                return name[5:]
            raise AttributeError(name)

        def __iter__(cls):
            return iter(["i", cls.__name__])

        def __len__(cls):
            return 42

        def __getitem__(cls, key):
            return "item", key

        def __contains__(cls, item):
            return item == "in"

        @property
        def prop(cls):
            return cls.__name__ + "!"

        def method(cls):
            return cls.__name__

    class A(metaclass=Meta, extra=7):
        x = 1

        def __init__(self, n):
            self.n = n

    class B(A): ...

    return (
        A.added,
        A.seen,
        A(3).tag,
        A(3).n,
        A.auto_x,
        attempt(lambda: A.other),
        list(A),
        len(B),
        B["k"],
        "in" in A,
        A.prop,
        B.method(),
        type(B) is Meta,
        isinstance(B, Meta),
        B.added,
    )


def case_instancecheck():
    class Meta(type):
        def __instancecheck__(cls, item):
            return item == "yes"

        def __subclasscheck__(cls, other):
            return other is int

    class A(metaclass=Meta): ...

    return isinstance("yes", A), isinstance("no", A), issubclass(int, A), issubclass(str, A)


def case_type_call():
    A = type("A", (), {"x": 1, "f": lambda self: self.x})
    B = type("B", (A,), dict(x=2))
    return A().f(), B().f(), B.__name__, issubclass(B, A)


def case_abstract():
    class A(ABC):
        @abstractmethod
        def f(self): ...

        @property
        @abstractmethod
        def p(self): ...

        def g(self):
            return "g"

    class B(A):
        def f(self):
            return 1

        @property
        def p(self):
            return 2

    class C(A):
        def f(self):
            return 1

    return attempt(A), B().f(), B().p, B().g(), attempt(C), isinstance(B(), A)


def case_special_methods():
    class V:
        def __init__(self, n):
            self.n = n

        def __add__(self, o):
            return V(self.n + (o.n if isinstance(o, V) else o))

        def __radd__(self, o):
            return V(o + self.n)

        def __sub__(self, o):
            return NotImplemented

        def __mul__(self, o):
            return V(self.n * o)

        def __neg__(self):
            return V(-self.n)

        def __abs__(self):
            return abs(self.n)

        def __eq__(self, o):
            return isinstance(o, V) and o.n == self.n

        def __lt__(self, o):
            return self.n < o.n

        def __hash__(self):
            return hash(self.n)

        def __bool__(self):
            return self.n != 0

        def __int__(self):
            return self.n

        def __float__(self):
            return float(self.n)

        def __index__(self):
            return self.n

        def __str__(self):
            return f"V{self.n}"

        def __repr__(self):
            return f"V({self.n})"

        def __format__(self, spec):
            return f"<{spec}:{self.n}>"

        def __iadd__(self, o):
            self.n += o
            return self

    a, b = V(1), V(2)
    c = V(5)
    c += 2
    return (
        (a + b).n,
        (a + 3).n,
        (3 + a).n,
        sum([a, b]).n,
        (a * 3).n,
        attempt(lambda: a - b),
        (-a).n,
        abs(V(-3)),
        a == V(1),
        a != V(1),
        a != b,
        a < b,
        a > b,
        {a: 1}[V(1)],
        a in [V(1)],
        len({V(1), V(1), b}),
        bool(V(0)),
        not a,
        "t" if a else "f",
        int(b),
        float(b),
        [10, 20, 30][a],
        str(a),
        repr([a, b]),
        f"{a} {a!r} {a:x}",
        c.n,
        max([a, b]).n,
        sorted([b, a])[0].n,
        hex(V(255)),
        range(V(3)) == range(3),
    )


def case_container_methods():
    class Box:
        def __init__(self):
            self.d = {}
            self.log = []

        def __getitem__(self, k):
            self.log.append(("get", k))
            return self.d[k]

        def __setitem__(self, k, v):
            self.d[k] = v

        def __delitem__(self, k):
            del self.d[k]

        def __contains__(self, k):
            return k in self.d

        def __len__(self):
            return len(self.d)

        def __iter__(self):
            return iter(self.d)

        def keys(self):
            return self.d.keys()

    b = Box()
    empty = bool(b)
    b["x"] = 1
    b["x"] += 4
    b["y"] = 2
    del b["y"]
    return (
        empty,
        b["x"],
        "x" in b,
        "z" in b,
        len(b),
        list(b),
        {**b},
        dict(b),
        attempt(lambda: b["q"]),
        b.log[:3],
        [*b],
        bool(b),
    )


def case_iteration_protocols():
    class Countdown:
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            return self

        def __next__(self):
            if self.n == 0:
                raise StopIteration
            self.n -= 1
            return self.n

    class Old:
        def __getitem__(self, i):
            if i > 2:
                raise IndexError
            return i * 10

    class Gen:
        def __iter__(self):
            yield 1
            yield 2

    it = iter(Countdown(2))
    return (
        list(Countdown(3)),
        [*Old()],
        sum(Gen()),
        20 in Old(),
        2 in Gen(),
        next(it),
        next(it),
        next(it, "end"),
        attempt(next, it)[0],
        tuple(zip(Gen(), Countdown(9), strict=False)),
        attempt(lambda: list(object())),
    )


def case_truth_of_instances():
    class Never:
        def __bool__(self):
            raise RuntimeError("do not ask")

    class Sized:
        def __len__(self):
            return 0

    class Plain: ...

    return (
        attempt(lambda: bool(Never())),
        bool(Sized()),
        bool(Plain()),
        attempt(lambda: not Never()),
    )


def case_default_repr_and_equality():
    class A: ...

    a, b = A(), A()
    return (
        a == a,
        a == b,
        a != b,
        a in [a],
        a in [b],
        len({a, b}),
        "A object at 0x" in repr(a),
        [a] == [a],
    )


def case_eq_without_hash():
    class A:
        def __eq__(self, other):
            return True

    return A() == 1, A() != 1, attempt(lambda: hash(A())), attempt(lambda: {A()})


def case_slots():
    class A:
        __slots__ = ("x", "y")

        def __init__(self):
            self.x = 1

    a = A()
    a.y = 2
    return a.x, a.y, attempt(lambda: setattr(a, "z", 1))


def case_extra_constructor_arguments():
    class A: ...

    class B:
        def __init__(self): ...

    return attempt(A, 1), attempt(B, 1), attempt(lambda: object(1))


def case_builtin_subclasses():
    class Names(list):
        def first(self):
            return self[0]

        def append(self, item):
            super().append(item.upper())

    class Table(dict):
        def __missing__(self, key):
            return key * 2

        def __getattr__(self, name):
            try:
                return self[name]
            except KeyError as error:
                raise AttributeError(name) from error

        __setattr__ = dict.__setitem__

    class Text(str):
        def shout(self):
            return self.upper() + "!"

    class Number(int):
        def twice(self):
            return Number(self * 2)

    class Pair(tuple):
        def __new__(cls, a, b):
            return super().__new__(cls, (a, b))

    class Unique(set):
        pass

    class Real(float):
        pass

    n = Names(["a"])
    n.append("b")
    t = Table(a=1)
    t.b = 2
    return (
        n.first(),
        list(n),
        len(n),
        n == ["a", "B"],
        isinstance(n, list),
        t["a"],
        t["zz"],
        t.a,
        t.b,
        sorted(t),
        t.get("nope"),
        Text("hi").shout(),
        Text("hi") == "hi",
        Text("a") + "b",
        type(Text("a") + "b") is str,
        Number(4).twice() + 1,
        Number(3) == 3,
        isinstance(Number(3), int),
        list(Pair(1, 2)),
        Pair(1, 2) == (1, 2),
        sorted(Unique([3, 3, 1])),
        Real(1.5) + 1,
        {Text("k"): 1}["k"],
        bool(Names()),
        bool(Number(0)),
        json_like(t),
    )


def json_like(d):
    return {k: v for k, v in d.items()}


def case_dict_subclass_init():
    class Config(dict):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.extra = "attr"

        def update_all(self, **kw):
            self.update(kw)
            return self

    c = Config({"a": 1}, b=2)
    return (
        dict(c),
        c.extra,
        dict(c.update_all(z=1)),
        c | {"q": 1} == {"a": 1, "b": 2, "z": 1, "q": 1},
    )


def case_class_attributes_of_types():
    class A:
        """The doc."""

        x: int = 1

    return (
        A.__name__,
        A.__doc__,
        A.__module__.split(".")[0],
        A.__qualname__,
        sorted(A.__annotations__),
        "x" in A.__dict__,
        A.__base__ is object,
        int.__name__,
        type(A).__name__,
        str.lower("AB"),
        list(map(str.upper, "ab")),
        dict.fromkeys("ab", 1),
        list.__len__([1]),
    )


def case_subclasses():
    class A: ...

    class B(A): ...

    class C(A): ...

    return [c.__name__ for c in A.__subclasses__()]


def case_class_in_loop():
    made = []
    for n in range(3):

        class A:
            value = n

            def get(self):
                return self.value, n

        made.append(A)
    return [c.value for c in made], [c().get() for c in made]


def case_static_class_nested_access():
    class A:
        class Inner:
            x = 1

            @staticmethod
            def f():
                return A.Inner.x

        y = Inner.x + 1

        @classmethod
        def build(cls, **kw):
            self = cls()
            for k, v in kw.items():
                setattr(self, k, v)
            return self

    class B(A): ...

    return A.Inner.f(), A.y, vars(B.build(p=1)), type(B.build()).__name__


def case_instance_dict_writes():
    class A:
        def __init__(self, **kw):
            self.__dict__.update(kw)

    a = A(x=1)
    a.__dict__["y"] = 2
    vars(a)["z"] = 3
    return a.x, a.y, a.z, list(a.__dict__.items())


def case_operators_reflected_for_subclass():
    class A:
        def __add__(self, o):
            return "A.add"

    class B(A):
        def __radd__(self, o):
            return "B.radd"

    class C:
        def __eq__(self, o):
            return NotImplemented

        def __lt__(self, o):
            return NotImplemented

        def __gt__(self, o):
            return "gt"

    return A() + B(), C() == 1, C() < C(), attempt(lambda: A() + A()), attempt(lambda: A() - 1)


def case_call_on_instance_attribute():
    class A:
        pass

    a = A()
    a.__len__ = lambda: 3
    a.f = lambda: "f"
    return a.f(), attempt(len, a)
