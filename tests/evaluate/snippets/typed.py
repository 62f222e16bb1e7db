"""`typing` and `msgspec`."""

import types
import typing
from typing import (
    Annotated,
    Any,
    Callable,
    ClassVar,
    Dict,
    Generic,
    List,
    Literal,
    Optional,
    Protocol,
    Tuple,
    Type,
    TypedDict,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec


def attempt(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error).__name__, str(error)


T = TypeVar("T")


class Options:
    a: Annotated[int, "help a", {"flag": "--a"}] = 1
    b: Optional[str] = None
    c: "list[int]" = None
    d: Literal["x", "y"] = "x"
    e: int | None = None
    g: ClassVar[int] = 3


class More(Options):
    f: Dict[str, int] = None
    b: str = "b"


def case_get_type_hints():
    plain = get_type_hints(Options)
    extras = get_type_hints(Options, include_extras=True)
    more = get_type_hints(More)
    return (
        sorted(plain), plain["a"] is int, plain["b"] == Optional[str], plain["c"] == list[int],
        get_origin(extras["a"]) is Annotated, get_args(extras["a"])[1:], extras["a"].__metadata__,
        get_args(plain["d"]), get_origin(plain["d"]) is Literal, get_args(plain["e"]) == (int, type(None)),
        list(more), more["b"] is str, get_args(more["f"]) == (str, int),
    )


def case_origins_and_args():
    return (
        get_origin(List[int]) is list, get_args(List[int]) == (int,), get_origin(list[int]) is list,
        get_origin(Dict[str, int]) is dict, get_origin(Optional[int]) is Union, get_args(Optional[int]) == (int, type(None)),
        get_args(Union[int, str, None]) == (int, str, type(None)), get_origin(int), get_args(int),
        get_origin(Tuple[int, ...]) is tuple, get_args(Tuple[int, ...]) == (int, ...), get_origin(tuple[int]) is tuple,
        get_origin(Callable[[int], str]) is not None, get_origin(Type[int]) is type, get_args(Literal[1, "a", None]),
        get_origin(Annotated[int, 1]) is Annotated, get_args(Annotated[int, 1]) == (int, 1),
        Optional[int] == Union[int, None], Union[int, int] is int, List[int] == List[int], List[int] == List[str],
        Annotated[Annotated[int, 1], 2] == Annotated[int, 1, 2], get_args(List), get_origin(List) is list,
        type(None) in get_args(int | None), get_origin(int | str) is Union, get_origin(int | str) is types.UnionType, isinstance(int | str, types.UnionType), (int | None) == Optional[int], get_args(Union[int, Union[str, float]]) == (int, str, float),
        get_args(Dict[str, List[int]])[1] == List[int], Optional[Optional[int]] == Optional[int], hash(List[int]) == hash(List[int]),
        {Optional[int]: 1}[Optional[int]], Any is Any, Union[int, str] == Union[str, int],
    )


def case_isinstance_with_typing():
    return (
        isinstance(1, int | str), isinstance("a", Union[int, str]), isinstance(None, Optional[int]), isinstance([], List),
        isinstance({}, Dict), isinstance(1.0, int | None), issubclass(int, int | str), attempt(lambda: isinstance([], list[int]))[0],
    )


def case_generic_classes():
    class Box(Generic[T]):
        def __init__(self, v: T):
            self.v = v

        def get(self) -> T:
            return self.v

    class IntBox(Box[int]):
        pass

    class Shape(Protocol):
        def area(self) -> float: ...

    class Square:
        def area(self):
            return 4.0

    return Box(1).get(), Box[int](2).get(), IntBox(3).get(), Box[str] is not None, Square().area(), isinstance(IntBox(1), Box)


def case_typing_helpers():
    class Movie(TypedDict, total=False):
        name: str
        year: int

    m = Movie(name="x", year=1)

    @typing.overload
    def f(a: int) -> int: ...
    @typing.overload
    def f(a: str) -> str: ...
    def f(a):
        return a

    @typing.final
    class F: ...

    @typing.no_type_check
    def g(a: int): return a

    UserId = typing.NewType("UserId", int)
    return cast(int, "a"), dict(m), m["name"], isinstance(m, dict), f(1), g(2), UserId(5), typing.TYPE_CHECKING, F.__name__


def case_annotations_of_functions():
    def f(a: int, b: "str" = "x", *args: float, c: list[int] = None, **kw: dict) -> bool: ...

    class A:
        x: int
        y: "str" = "q"

        def m(self, v: int) -> None: ...

    notes = f.__annotations__
    hints = get_type_hints(f)
    return (
        list(notes), notes["a"] is int, notes["b"], notes["return"] is bool, hints["b"] is str, sorted(hints),
        A.__annotations__["x"] is int, A.__annotations__["y"], A.m.__annotations__["v"] is int, get_type_hints(A)["y"] is str,
        get_type_hints(A.m)["v"] is int,
    )


class S(msgspec.Struct):
    a: int
    b: str = "x"
    c: list = []
    d: dict = msgspec.field(default_factory=dict)
    e: int | None = None


class Sub(S, kw_only=True):
    f: int
    g: int = 7


class Frozen(msgspec.Struct, frozen=True):
    a: int
    b: str = "f"


class Ordered(msgspec.Struct, order=True):
    a: int
    b: int = 0


class Posted(msgspec.Struct):
    a: int = 1
    total: int = 0

    def __post_init__(self):
        self.total = self.a * 2
        if self.a < 0:
            raise ValueError("negative")

    @property
    def double(self):
        return self.a * 2

    def method(self):
        return "m"


def case_struct_basics():
    s, t = S(1), S(1, "x", [], {}, None)
    s.c.append(1)
    return (
        s.a, s.b, s.c, t.c, s == t, S(1) == t, S(2) != t, repr(S(1)), S(1, b="q").b, S.__struct_fields__, attempt(S),
        attempt(S, 1, z=2), attempt(S, 1, 2, 3, 4, 5, 6), attempt(lambda: s.nothing), msgspec.structs.asdict(t), msgspec.structs.astuple(t),
        [f.name for f in msgspec.structs.fields(S)], [f.required for f in msgspec.structs.fields(S)],
        [f.default is msgspec.NODEFAULT for f in msgspec.structs.fields(S)], msgspec.structs.replace(t, a=9).a,
        attempt(lambda: setattr(s, "zz", 1))[0], isinstance(s, msgspec.Struct), S.__name__, attempt(lambda: hash(s))[0],
    )


def case_struct_inheritance():
    s = Sub(1, f=2)
    return s.a, s.f, s.g, Sub.__struct_fields__, repr(s), attempt(Sub, 1, 2, 3, 4, 5, 6)[0], attempt(Sub, 1)[0], isinstance(s, S)


def case_struct_options():
    f = Frozen(1)
    return (
        attempt(lambda: setattr(f, "a", 2)), hash(f) == hash(Frozen(1)), {f: 1}[Frozen(1)], Ordered(1) < Ordered(2), Posted(3).total,
        Posted(3).double, Posted().method(), attempt(Posted, -1), sorted([Ordered(2), Ordered(1)])[0].a,
    )


def case_defstruct():
    D = msgspec.defstruct(
        "D",
        [("a", int), ("b", str, "x"), ("c", list, msgspec.field(default_factory=list))],
        namespace={"total": lambda self: self.a + 1, "K": 5},
        kw_only=True,
        dict=True,
    )
    d = D(a=1)
    d.extra = 2
    return d.a, d.b, d.c, d.total(), D.K, d.extra, repr(d), D.__struct_fields__, [f.name for f in msgspec.structs.fields(D)], attempt(D)[0]


def case_struct_field_types():
    infos = {f.name: f for f in msgspec.structs.fields(S)}
    return infos["a"].type is int, infos["e"].type == (int | None), infos["b"].default, infos["d"].default_factory is dict, infos["c"].default_factory is list


def case_struct_setattr_hook():
    class Watched(msgspec.Struct):
        a: int = 0

        def __setattr__(self, name, value):
            super().__setattr__(name, value + 1)

    w = Watched()
    w.a = 5
    msgspec.structs.force_setattr(w, "a", 1)
    return w.a
