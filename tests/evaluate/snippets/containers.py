"""Lists, dicts, sets, tuples, built-in functions and `collections`."""

import collections
import copy
import functools
import itertools
import operator
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque, namedtuple


def attempt(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error).__name__, str(error)


def case_list_methods():
    a = [3, 1, 2]
    a.append(4)
    a.extend([5, 6])
    a.extend(x for x in "z")
    a.insert(0, 0)
    a.remove(1)
    popped = a.pop(), a.pop(0)
    b = a.copy()
    b.reverse()
    c = sorted(b)
    b.sort(reverse=True)
    d = ["bb", "a", "ccc"]
    d.sort(key=len)
    e = [1, 2, 3, 4, 5]
    e[1:3] = ["x"]
    e[len(e) :] = [9]
    e[::2] = [0, 0, 0]
    f = [1, 2]
    f.clear()
    return a, popped, b, c, d, e, f, [1, 2, 1].count(1), [1, 2, 1].index(1, 1), [0] * 3, [1] + [2]


def case_slices():
    a = list(range(10))
    s = slice(1, 8, 3)
    return (
        a[2:5],
        a[:3],
        a[-3:],
        a[::3],
        a[::-2],
        a[5:2],
        a[s],
        s.start,
        s.stop,
        s.step,
        s.indices(5),
        tuple(a)[1:3],
        "hello"[1:-1],
        a[100:],
        range(10)[2:8:2],
        a[:][0],
    )


def case_dict_methods():
    d = {"a": 1, "b": 2}
    got = d.get("a"), d.get("z"), d.get("z", 0)
    d.setdefault("c", []).append(1)
    d.setdefault("a", 9)
    d.update({"b": 3}, e=5)
    d.update([("f", 6)])
    popped = d.pop("e"), d.pop("none", "default")
    last = d.popitem()
    keys, values, items = list(d), list(d.values()), list(d.items())
    e = d.copy()
    e.clear()
    f = dict.fromkeys(["x", "y"], 0)
    g = {**d, "a": 100, **{"n": 1}}
    h = d | {"a": 7}
    merged = {k: v for k, v in sorted(h.items(), key=lambda kv: str(kv[1]))}
    ordered = {"z": 1, "a": 2}
    ordered["m"] = 3
    ordered["z"] = 4
    del ordered["a"]
    ordered["a"] = 5
    view = ordered.keys()
    ordered["new"] = 1
    return (
        got, d, popped, last, keys, values, items, e, f, g, h, merged, list(ordered), len(view),
        "a" in d, "zz" not in d, d == dict(d), list(reversed(ordered)), view & {"z", "q"},
        view - {"z"}, {"a": 1}.keys() == {"a"}, ("a", 5) in ordered.items(), dict(a=1, b=2),
        dict([("k", "v")]), dict({"k": 1}, j=2), dict(zip("ab", [1, 2], strict=True)), 5 in {5: 1}.keys(),
    )


def case_dict_keys_are_equal_across_types():
    d = {1: "int"}
    d[1.0] = "float"
    d[True] = "bool"
    d["1"] = "str"
    d[(1, 2)] = "tuple"
    d[None] = "none"
    return d, d[1], hash(1) == hash(1.0)


def case_set_methods():
    a = {1, 2, 3}
    b = {2, 3, 4}
    c = a.copy()
    c.add(9)
    c.discard(100)
    c.remove(1)
    c.update([7], (8,))
    d = {1, 2, 3}
    d -= {1}
    d &= {2, 3, 4}
    d ^= {3, 5}
    e = {1, 2}
    e.difference_update([1])
    e.symmetric_difference_update({2, 3})
    return (
        a | b, a & b, a - b, a ^ b, c, d, e,
        a.union([5], "x"), a.intersection([1, 2]), a.difference({1}), a.symmetric_difference([1, 9]),
        a.issubset({1, 2, 3, 4}), a.issuperset([1]), a.isdisjoint([7]), a <= a, a < a,
        frozenset([1, 1]), {*a, *b}, set("hello") == {"h", "e", "l", "o"}, len(set([1, 1.0, True])),
        sorted({"b", "a"}), {x % 2 for x in range(5)}, frozenset({1}) | {2}, frozenset({1}) in {frozenset({1})},
        max(a), sum(a), bool(set()),
    )


def case_tuples():
    t = (1, "a", [2])
    t[2].append(3)
    u = t + (4,)
    return t, u, t * 2, t.count(1), t.index("a"), (1,) < (1, 0), hash((1, 2)) == hash((1, 2)), ()


def case_built_in_functions():
    return (
        sorted([3, 1, 2]),
        sorted("bca", reverse=True),
        sorted([("b", 1), ("a", 1), ("c", 0)], key=lambda p: p[1]),
        sorted({"b": 1, "a": 2}),
        min(3, 1, 2),
        max([1, 5, 3]),
        min(["aa", "b"], key=len),
        max([], default="none"),
        min("hello"),
        max({"a": 3, "b": 9}, key={"a": 3, "b": 9}.get),
        sum([1, 2, 3]),
        sum([[1], [2]], []),
        sum([0.5, 1], 10),
        list(zip([1, 2, 3], "ab", strict=False)),
        list(zip()),
        list(enumerate("ab")),
        list(enumerate("ab", start=1)),
        any([0, "", 3]),
        all([1, "a", []]),
        any([]),
        all([]),
        list(map(lambda a, b: a + b, [1, 2], [10, 20, 30])),
        list(filter(None, [0, 1, "", "a"])),
        list(filter(lambda x: x > 1, [1, 2, 3])),
        list(reversed([1, 2, 3])),
        list(reversed("ab")),
        list(range(5)),
        list(range(5, 0, -2)),
        len(range(0, 10, 3)),
        3 in range(5),
        10 in range(0, 20, 3),
        range(10)[-1],
        isinstance([], (tuple, list)),
        callable(print),
        hash("a") == hash("a"),
        list(iter([1, 2])),
        next(iter([]), "default"),
        [*map(str, range(3))],
        dict(enumerate("ab")),
        list(iter(iter([4, 3, 0, 1]).__next__, 0)),
        divmod(9, 4),
        getattr("x", "upper")(),
        hasattr("x", "nope"),
        hasattr([], "append"),
        hasattr([], "__iter__"),
        hasattr(5, "__iter__"),
        hasattr(5, "__len__"),
        hasattr({}, "__getitem__"),
        hasattr(object(), "__contains__"),
        hasattr(lambda: 0, "__name__"),
        hasattr(lambda: 0, "__wrapped__"),
        print("nothing"),
        type(print).__name__,
        vars(type("T", (), {"a": 1})())  ,
    )


def case_comprehensions():
    return (
        [x for x in range(10) if x % 2 if x > 3],
        [(x, y) for x in "ab" for y in range(2)],
        {k: v for k, v in [("a", 1), ("b", 2)]},
        {x: [y for y in range(x)] for x in range(3)},
        [[j for j in range(i)] for i in range(3)],
        [a + b for a, b in [(1, 2), (3, 4)]],
        [f(2) for f in (lambda x: x, lambda x: -x)],
        list(x for x in "abc"),
        sum(x * x for x in range(4)),
        [x if x else "zero" for x in range(2)],
        [*(x for x in (1, 2)), 3],
        {**{k: 1 for k in "a"}, "b": 2},
        [i for i, c in enumerate("abca") if c == "a"],
        [x.upper() for x in ("a b").split()],
    )


def case_unpacking_displays():
    a, b = [1, 2], {"x": 1}
    return [*a, *"cd"], (*a, 3), {*a, 5}, {**b, "y": 2, **{"x": 0}}, [*b], [*b.items()]


def case_aliasing():
    a = [1]
    b = a
    b.append(2)
    c = a[:]
    c.append(3)
    d = {"l": a}
    d["l"].append(4)
    rows = [[0] * 2] * 2
    rows[0][0] = 1

    def change(x, y=[]):  # noqa: B006
        x.append("c")
        y.append(1)
        return y

    change(a)
    return a, b, c, rows, a is b, change([]), change([])


def case_copy():
    inner = [1]

    class Box:
        def __init__(self):
            self.items = inner
            self.me = self

    class Custom:
        def __init__(self, v):
            self.v = v

        def __copy__(self):
            return Custom("copied")

        def __deepcopy__(self, memo):
            return Custom("deep")

    a = {"k": inner, "t": (inner, 1), "s": {1}}
    b, c = copy.copy(a), copy.deepcopy(a)
    inner.append(2)
    box = Box()
    deep = copy.deepcopy(box)
    shallow = copy.copy(box)
    inner.append(3)
    shared = [inner, inner]
    two = copy.deepcopy(shared)
    two[0].append("x")
    t = (1, 2)
    return (
        b, c, deep.items, shallow.items, deep.me is deep, shallow.me is box, two,
        copy.copy(Custom(1)).v, copy.deepcopy(Custom(1)).v, copy.deepcopy([Custom(1)])[0].v,
        copy.deepcopy(t) is t, copy.copy([1]), copy.deepcopy({1: [2]}),
    )


def case_defaultdict():
    d = defaultdict(list)
    d["a"].append(1)
    d["a"].append(2)
    e = defaultdict(int, {"x": 5})
    e["y"] += 1
    f = defaultdict(lambda: "made")
    g = defaultdict(None, a=1)
    return (
        dict(d), dict(e), f["q"], list(f), f.get("nope"), "zz" in d, attempt(lambda: g["b"]),
        d == {"a": [1, 2]}, isinstance(d, dict), dict(d.copy()),
    )


def case_counter():
    c = Counter("abracadabra")
    d = Counter(a=1, b=2)
    d.update("ab")
    d.update({"a": 10})
    e = Counter([1, 1, 2])
    e[5] += 1
    return (
        dict(c), c.most_common(2), c["zz"], dict(d), sorted(c.elements())[:3], dict(e),
        dict(Counter("aab") - Counter("ab")), dict(Counter("ab") + Counter("b")), c.total(),
        max(c, key=c.get), sum(c.values()),
    )


def case_ordered_dict():
    d = OrderedDict([("a", 1), ("b", 2), ("c", 3)])
    d.move_to_end("a")
    d.move_to_end("c", last=False)
    first = d.popitem(last=False)
    return list(d.items()), first, d == {"b": 2, "a": 1}, list(d), isinstance(d, dict)


def case_deque():
    d = deque([1, 2, 3], maxlen=3)
    d.append(4)
    d.appendleft(0)
    e = deque()
    e.extend([1, 2])
    e.extendleft([3, 4])
    e.rotate(1)
    return list(d), list(e), e.popleft(), e.pop(), len(e), d[0], bool(deque()), 2 in d, list(reversed(d))


def case_chain_map():
    m = ChainMap({"a": 1}, {"a": 2, "b": 3})
    return m["a"], m["b"], sorted(m), "c" in m, m.get("z", 0), len(m)


def case_namedtuple():
    P = namedtuple("P", "x y z", defaults=[0])
    Q = namedtuple("Q", ["a", "b"])
    p = P(1, 2)

    class R(namedtuple("Base", "m n")):
        __slots__ = ()

        @property
        def total(self):
            return self.m + self.n

    x, y, z = p
    return (
        p.x, p[1], p.z, tuple(p), p == (1, 2, 0), p._replace(x=9).x, p._asdict(), P._fields, x + y + z,
        Q(a=1, b=2).b, repr(p), R(1, 2).total, isinstance(p, tuple), len(p), P._make([7, 8, 9]).y,
        attempt(P), attempt(lambda: setattr(p, "x", 1))[0], p < (2,), hash(p) == hash((1, 2, 0)),
        P(*[1, 2, 3]).z, {p: 1}[1, 2, 0], [*p], p + (4,), R(1, 2)._replace(m=5).total,
    )


def case_itertools():
    return (
        list(itertools.chain([1], "a", (2,))),
        list(itertools.chain.from_iterable([[1], [2, 3]])),
        list(itertools.islice(range(10), 2, 8, 2)),
        list(itertools.islice(itertools.count(5), 3)),
        list(itertools.product("ab", [1, 2])),
        list(itertools.product([0, 1], repeat=2)),
        list(itertools.combinations("abc", 2)),
        list(itertools.permutations([1, 2], 2)),
        list(itertools.repeat("x", 2)),
        list(itertools.takewhile(lambda x: x < 3, [1, 2, 3, 1])),
        list(itertools.dropwhile(lambda x: x < 3, [1, 2, 3, 1])),
        list(itertools.starmap(lambda a, b: a * b, [(2, 3), (4, 5)])),
        list(itertools.accumulate([1, 2, 3])),
        list(itertools.accumulate([1, 2, 3], lambda a, b: a * b, initial=10)),
        list(itertools.zip_longest("ab", "c", fillvalue="-")),
        [(k, list(g)) for k, g in itertools.groupby("aabbc")],
        [(k, list(g)) for k, g in itertools.groupby([1, 3, 2], key=lambda x: x % 2)],
        list(itertools.pairwise([1, 2, 3])),
        list(itertools.compress("abc", [1, 0, 1])),
        list(itertools.filterfalse(lambda x: x, [0, 1, ""])),
        [list(t) for t in itertools.tee([1, 2])],
        list(zip(itertools.cycle("ab"), range(3), strict=False)),
        next(itertools.count()),
    )


def case_operator():
    class A:
        x = 1

        class Inner:
            y = 2

        def m(self, k):
            return k

    return (
        operator.add(1, 2),
        operator.itemgetter(1)([5, 6]),
        operator.itemgetter("a", "b")({"a": 1, "b": 2}),
        operator.attrgetter("x")(A()),
        operator.attrgetter("Inner.y", "x")(A()),
        operator.methodcaller("m", 7)(A()),
        sorted([(1, "b"), (0, "a")], key=operator.itemgetter(1)),
        functools.reduce(operator.mul, [2, 3, 4]),
        operator.contains([1], 1),
        operator.not_(0),
        operator.eq(1, 1.0),
        operator.lt("a", "b"),
        operator.is_(None, None),
        operator.getitem({"k": 1}, "k"),
        functools.reduce(operator.or_, [{1}, {2}]),
    )


def case_abc_checks():
    from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence, Sized

    class It:
        def __iter__(self):
            return iter([])

    class Mine(Mapping):
        def __init__(self, d):
            self.d = d

        def __getitem__(self, k):
            return self.d[k]

        def __iter__(self):
            return iter(self.d)

        def __len__(self):
            return len(self.d)

    m = Mine({"a": 1})
    return (
        isinstance([], Iterable), isinstance({}, Mapping), isinstance("a", Sequence),
        isinstance(5, Iterable), isinstance(It(), Iterable), isinstance(len, Callable),
        isinstance(iter([]), Iterator), isinstance([], Iterator), isinstance({}, MutableMapping),
        isinstance(m, Mapping), m.get("a"), m.get("z", 0), list(m.items()), "a" in m, dict(m), m == {"a": 1},
        list(m.keys()), isinstance({1}, Sized), isinstance(lambda: 0, Callable), isinstance(range(2), Sequence),
        isinstance((x for x in []), Iterator), isinstance(set(), Sequence), isinstance(None, Iterable),
        {**m}, issubclass(dict, Mapping), isinstance(collections.OrderedDict(), Mapping),
    )


def case_sorting_is_stable_and_by_own_order():
    class V:
        def __init__(self, k, t):
            self.k, self.t = k, t

        def __lt__(self, other):
            return self.k < other.k

    items = [V(2, "a"), V(1, "b"), V(2, "c"), V(1, "d")]
    return (
        [v.t for v in sorted(items)],
        [v.t for v in sorted(items, reverse=True)],
        max(items).t,
        min(items).t,
        [v.t for v in sorted(items, key=lambda v: (-v.k, v.t))],
    )


def case_mutable_default_and_global_containers():
    d = {}
    for key, value in [("a", 1), ("b", 2), ("a", 3)]:
        d.setdefault(key, []).append(value)
    inverse = {v: k for k, vs in d.items() for v in vs}
    return d, inverse, {k: sorted(v, reverse=True) for k, v in d.items()}


def case_id_and_is():
    a, b = [], []
    c = a
    t = ()
    return a is c, a is b, id(a) == id(c), None is None, t is (), "a" is not None
