"""Dataclasses, named tuples of `typing`, and enums."""

import dataclasses
import enum
from dataclasses import InitVar, asdict, astuple, dataclass, field, fields, is_dataclass, replace
from enum import Enum, Flag, IntEnum, IntFlag, StrEnum, auto, unique
from typing import Any, ClassVar, NamedTuple, Optional


def attempt(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error).__name__, str(error)


@dataclass
class Plain:
    a: int
    b: str = "x"
    c: list = field(default_factory=list)
    d: Optional[int] = None


@dataclass
class Child(Plain):
    e: int = 5
    b: str = "child"


def case_dataclass_basics():
    p = Plain(1)
    q = Plain(1, "x", [], None)
    p.c.append(1)
    return (
        p.a, p.b, p.c, q.c, p == q, Plain(1) == q, Plain(2) != q, repr(p), Plain(1, c=[2]).c, p.d,
        attempt(Plain), attempt(Plain, 1, z=2), attempt(Plain, 1, 2, 3, 4, 5), attempt(Plain, 1, a=2),
        [f.name for f in fields(Plain)], [f.name for f in fields(p)], is_dataclass(Plain), is_dataclass(p),
        is_dataclass(int), asdict(p), astuple(p), Plain(1) == 1, vars(q), Plain.b, hasattr(Plain, "a"),
        hasattr(Plain, "c"), attempt(lambda: hash(p)),
    )


def case_dataclass_inheritance():
    c = Child(1)
    return (
        repr(c), c.b, c.e, [f.name for f in fields(Child)], isinstance(c, Plain), c == Plain(1, "child"),
        asdict(Child(1, e=2)), Child(1, "b", [], None, 9).e, replace(c, a=7).a, replace(c).c is c.c,
    )


def case_dataclass_frozen():
    @dataclass(frozen=True)
    class F:
        x: int
        y: tuple = ()

        def __post_init__(self):
            object.__setattr__(self, "z", self.x * 2)

    f = F(1)
    return (
        f.z, hash(f) == hash(F(1)), {f: 1}[F(1)], attempt(lambda: setattr(f, "x", 2)), f == F(1), len({F(1), F(1), F(2)}),
        attempt(lambda: delattr(f, "x")), replace(f, x=5).z,
    )


def case_dataclass_options():
    @dataclass(order=True)
    class O:
        a: int
        b: int = 0

    @dataclass(eq=False)
    class E:
        a: int

    @dataclass(repr=False)
    class R:
        a: int

        def __repr__(self):
            return "own"

    @dataclass(init=False)
    class I:
        a: int = 3

        def __init__(self):
            self.b = 1

    @dataclass(unsafe_hash=True)
    class H:
        a: int

    @dataclass(slots=True)
    class S:
        a: int
        b: list = field(default_factory=list)

    @dataclass(kw_only=True)
    class K:
        a: int
        b: int = 2

    @dataclass
    class M:
        a: int
        _: dataclasses.KW_ONLY
        b: int = 1
        c: int

    return (
        O(1) < O(2), O(1, 5) > O(1, 2), sorted([O(2), O(1)])[0].a, E(1) == E(1), repr(R(1)), I().a, I().b,
        hash(H(1)) == hash(H(1)), attempt(lambda: setattr(S(1), "z", 1)), S(1).b, K(a=1).b, attempt(K, 1),
        M(1, c=3).c, attempt(M, 1, 2, 3), attempt(lambda: O(1) < 1), max(O(1), O(3)).a,
    )


def case_dataclass_fields():
    @dataclass
    class A:
        a: int = field(default=1, metadata={"help": "text"})
        hidden: int = field(default=2, repr=False)
        ignored: int = field(default=3, compare=False)
        derived: int = field(init=False, default=4)
        made: dict = field(init=False, default_factory=dict)
        count: ClassVar[int] = 10
        other: "ClassVar[str]" = "cv"

    one, two = A(), A(ignored=9, hidden=7)
    by_name = {f.name: f for f in fields(A)}
    return (
        repr(one), one == A(ignored=5), one == two, A.count, A.other, sorted(by_name), by_name["a"].default,
        dict(by_name["a"].metadata), by_name["a"].metadata.get("help"), by_name["derived"].init,
        by_name["made"].default_factory is dict, by_name["a"].default_factory is dataclasses.MISSING,
        by_name["made"].default is dataclasses.MISSING, attempt(A, derived=1), one.made, by_name["a"].type in (int, "int"),
        by_name["hidden"].repr, by_name["ignored"].compare,
    )


def case_dataclass_post_init():
    log = []

    @dataclass
    class A:
        a: int
        scale: InitVar[int] = 2
        total: int = field(init=False)

        def __post_init__(self, scale):
            self.total = self.a * scale
            log.append(scale)

    @dataclass
    class B:
        x: int

        def __post_init__(self):
            if self.x < 0:
                raise ValueError(f"negative {self.x}")

    @dataclass
    class C(B):
        y: int = 0

        def __post_init__(self):
            super().__post_init__()
            self.y += 1

    return A(3).total, A(3, 5).total, log, attempt(B, -1), C(1).y, attempt(C, -2), [f.name for f in fields(A)]


def case_dataclass_nested():
    @dataclass
    class Inner:
        v: list

    @dataclass
    class Outer:
        inner: Inner
        many: list
        table: dict

    o = Outer(Inner([1]), [Inner([2]), 3], {"k": Inner([4])})
    d = asdict(o)
    d["inner"]["v"].append("x")
    return d, o.inner.v, asdict(o, dict_factory=lambda pairs: sorted(k for k, _ in pairs)), repr(o)


def case_dataclass_methods_and_properties():
    @dataclass
    class A:
        w: int = 2
        h: int = 3

        @property
        def area(self):
            return self.w * self.h

        @classmethod
        def square(cls, n):
            return cls(n, n)

        @staticmethod
        def unit():
            return "cm"

        def __eq__(self, other):
            return self.area == other.area

        def __setattr__(self, name, value):
            super().__setattr__(name, value * 10 if name == "w" else value)

    return A().area, A.square(2).area, A.unit(), A(3, 2) == A(2, 3), A(w=1).w


def case_dataclass_mutable_default():
    def make():
        @dataclass
        class A:
            x: list = []

        return A

    def order():
        @dataclass
        class B:
            a: int = 1
            b: int

        return B

    return attempt(make), attempt(order)


def case_make_dataclass():
    A = dataclasses.make_dataclass("A", ["x", ("y", int), ("z", int, 5), ("l", list, field(default_factory=list))])
    return repr(A(1, 2)), A(1, 2).z, A.__name__


def case_dataclass_generic_eq_of_different_classes():
    @dataclass
    class A:
        x: int

    @dataclass
    class B(A):
        pass

    return A(1) == B(1), B(1) == B(1), A(1).__eq__(B(1)) is NotImplemented


class Colour(Enum):
    RED = 1
    GREEN = "g"
    CRIMSON = 1

    def describe(self):
        return f"{self.name}={self.value}"

    @property
    def short(self):
        return self.name[0]

    @classmethod
    def default(cls):
        return cls.RED


class Level(IntEnum):
    LOW = 1
    HIGH = auto()
    TOP = 10


class Mode(str, Enum):
    FAST = "fast"
    SLOW = "slow"

    def __str__(self):
        return self.value

    @classmethod
    def _missing_(cls, value):
        if isinstance(value, str):
            return cls.__members__.get(value.upper())
        return None


class Kind(StrEnum):
    ONE = auto()
    TWO = "deux"


class Perm(Flag):
    R = auto()
    W = auto()
    X = auto()
    RW = R | W


class IPerm(IntFlag):
    A = 1
    B = 2


def case_enum_basics():
    return (
        Colour.RED.name, Colour.RED.value, Colour.CRIMSON is Colour.RED, Colour("g") is Colour.GREEN,
        Colour["RED"] is Colour.RED, [c.name for c in Colour], list(Colour.__members__), len(Colour),
        Colour.RED in Colour, Colour.RED == Colour.RED, Colour.RED != Colour.GREEN, Colour.RED == 1,
        repr(Colour.RED), str(Colour.RED), f"{Colour.RED}", isinstance(Colour.RED, Colour),
        Colour.RED.describe(), Colour.RED.short, Colour.default().name, attempt(Colour, "nope"), attempt(lambda: Colour["X"]),
        attempt(lambda: Colour.NOPE), {Colour.RED: 1}[Colour.CRIMSON], hash(Colour.RED) == hash(Colour.CRIMSON),
        type(Colour.RED) is Colour, Colour(Colour.RED) is Colour.RED, Colour.RED is not Colour.GREEN,
        bool(Colour.RED), Colour.__name__, [c.value for c in reversed(Colour)], hasattr(Colour, "RED"),
        attempt(lambda: setattr(Colour.RED, "value", 2))[0], Colour.RED.__class__ is Colour, "RED" in Colour.__members__,
        getattr(Colour, "GREEN").value, issubclass(Colour, Enum), Colour.__members__["GREEN"].value,
    )


def case_int_enum():
    return (
        Level.LOW + 1, Level.HIGH.value, Level.LOW < Level.HIGH, Level.TOP == 10, max(Level).name, Level(10).name,
        sorted([Level.TOP, Level.LOW])[0].name, str(Level.LOW), f"{Level.LOW}", repr(Level.LOW), int(Level.HIGH),
        [10, 20, 30][Level.LOW], isinstance(Level.LOW, int), {1: "x"}[Level.LOW], Level.LOW in (1, 2), 1 in [Level.LOW],
        f"{Level.LOW:>3}", "%d" % Level.TOP, Level.LOW * 2, -Level.LOW, Level.LOW == Level(1), json_number(Level.TOP),
    )


def json_number(value):
    import json

    return json.dumps({"v": value})


def case_str_enum():
    return (
        Mode.FAST == "fast", Mode("slow").name, str(Mode.FAST), f"{Mode.FAST}", Mode.FAST.value, repr(Mode.FAST),
        Mode.FAST.upper(), "fast" == Mode.FAST, {"fast": 1}[Mode.FAST], Mode.FAST in ("fast", "x"), "-".join([Mode.FAST, Mode.SLOW]),
        Mode("SLOW").name, attempt(Mode, "zzz"), attempt(Mode, 5), Mode.FAST + "er", len(Mode.FAST), [m.value for m in Mode],
        isinstance(Mode.FAST, str), Mode.FAST.startswith("f"), Kind.ONE.value, str(Kind.TWO), f"{Kind.ONE}", Kind.ONE == "one",
        repr(Kind.TWO), Kind("deux") is Kind.TWO, json_number(Mode.FAST), Mode.FAST == Mode("fast"), Mode.FAST != "slow",
        sorted([Mode.SLOW, Mode.FAST])[0].name, "%s" % Mode.FAST, "%s" % Kind.ONE, "{}".format(Kind.ONE), hash(Mode.FAST) == hash("fast"),
        "fa" in Mode.FAST, Mode.FAST[0], Mode.FAST.name.lower() == Mode.FAST,
    )


def case_plain_str_mixin():
    class Old(str, Enum):
        A = "a"

    return str(Old.A), f"{Old.A}", "%s" % Old.A, Old.A == "a", repr(Old.A), "{}".format(Old.A), Old.A.value, f"{Old.A:>4}"


def case_flags():
    rw = Perm.R | Perm.W
    return (
        rw is Perm.RW, rw.value, Perm.R in rw, Perm.X in rw, bool(Perm.R & Perm.X), (rw & Perm.R) is Perm.R,
        [p.name for p in Perm], Perm(1).name, (~Perm.R & Perm.RW).name, Perm.R.name, IPerm.A | IPerm.B == 3,
        int(IPerm.A | IPerm.B), isinstance(IPerm.A | IPerm.B, IPerm), (IPerm.A | IPerm.B) & 1 == 1, IPerm.A + 1, (rw ^ Perm.R).name,
        Perm(0).value, bool(Perm(0)),
    )


def case_enum_with_values_and_init():
    class Planet(Enum):
        EARTH = (1, 2.0)
        MARS = (3, 4.0)

        def __init__(self, mass, radius):
            self.mass = mass
            self.radius = radius

        @property
        def density(self):
            return self.mass / self.radius

    class Coded(Enum):
        A = "a", 1
        B = "b", 2

        def __new__(cls, value, code):
            member = object.__new__(cls)
            member._value_ = value
            member.code = code
            return member

    class Named(Enum):
        @staticmethod
        def _generate_next_value_(name, start, count, last_values):
            return f"{name.lower()}-{count}"

        X = auto()
        Y = auto()

    return (
        Planet.EARTH.mass, Planet.MARS.density, Planet((1, 2.0)) is Planet.EARTH, Coded.A.value, Coded.B.code, Coded("b") is Coded.B,
        Named.X.value, Named.Y.value,
    )


def case_enum_functional_and_unique():
    F = Enum("F", "A B C")
    G = Enum("G", {"X": "x", "Y": "y"})
    H = IntEnum("H", ["P", "Q"])
    I = Enum("I", [("M", 5), ("N", 6)])

    def double():
        @unique
        class U(Enum):
            A = 1
            B = 1

    return F.A.value, F.C.value, G.X.value, H.Q == 2, I.N.value, [f.name for f in F], attempt(double)


def case_enum_members_are_not_all_attributes():
    class E(Enum):
        A = 1
        _private = 2
        B = 3

        def method(self):
            return self.A.value

        helper = lambda self: "h"  # noqa: E731

        class Config:
            x = 1

    return [e.name for e in E if e.name in "AB"], E.A.method(), E.A.helper()


def case_enum_subclass_of_base_without_members():
    class Base(Enum):
        def hello(self):
            return "hello " + self.name

        @classmethod
        def names(cls):
            return [m.name for m in cls]

    class Real(Base):
        A = "a"
        B = "b"

    def extend():
        class More(Real):
            C = "c"

    return Real.A.hello(), Real.names(), attempt(extend), isinstance(Real.A, Base)


def case_enum_comparisons_and_lookup_tables():
    table = {Mode.FAST: 1, Colour.RED: 2, Level.LOW: 3}
    return (
        table[Mode.FAST], table["fast"], table[1], Colour.RED in table, [k for k in table if isinstance(k, Level)] == [1],
        Mode.FAST is Mode("fast"), Colour.RED in (Colour.GREEN, Colour.RED), Colour.RED in [1], {Colour.RED, Colour.CRIMSON} == {Colour.RED},
        next((m for m in Mode if m.value == "slow"), None).name, {m.value: m.name for m in Colour},
        Mode.SLOW if Mode.SLOW in Mode else None, attempt(lambda: Colour.RED < Colour.GREEN)[0],
    )


def case_enum_auto_continues():
    class A(Enum):
        X = 5
        Y = auto()
        Z = auto()

    return [a.value for a in A]


class Pair(NamedTuple):
    """A pair."""

    left: int
    right: str = "r"

    def joined(self):
        return f"{self.left}{self.right}"

    @property
    def size(self):
        return len(self)


def case_typed_named_tuple():
    p = Pair(1)
    a, b = p
    Made = NamedTuple("Made", [("x", int), ("y", str)])
    return (
        p.left, p.right, a, b, p.joined(), p.size, p == (1, "r"), p._replace(left=5), p._asdict(), Pair._fields,
        repr(p), isinstance(p, tuple), p[0], Pair(left=2, right="z"), attempt(Pair), Made(1, "a").y, Pair._field_defaults,
        sorted([Pair(2), Pair(1)])[0].left, Pair(1) < Pair(2), hash(p) == hash((1, "r")), attempt(lambda: setattr(p, "left", 2))[0],
    )


def case_record_in_class_level_registry():
    registry = {}

    def register(name):
        def apply(cls):
            registry[name] = cls
            return cls

        return apply

    @register("one")
    @dataclass
    class One:
        v: Any = None

    @register("two")
    @dataclass(frozen=True)
    class Two:
        v: int = 2

    return sorted(registry), registry["two"]().v, registry["one"](v=3).v, enum.Enum is Enum
