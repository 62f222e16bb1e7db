"""Text: formatting, methods, conversions."""


def attempt(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error).__name__, str(error)


class Point:
    def __init__(self, x):
        self.x = x

    def __repr__(self):
        return f"Point({self.x!r})"


class Named(Point):
    def __str__(self):
        return f"<{self.x}>"

    def __format__(self, spec):
        return f"{spec or 'plain'}:{self.x}"


def case_f_strings():
    x, name, pi, n = 5, "ab", 3.14159, 1234567
    width, places = 8, 2
    d = {"k": [1, 2]}
    return (
        f"{x}{name}",
        f"{x:5d}|{x:<5}|{x:^5}|{x:05}|{x:+}",
        f"{pi:.2f}|{pi:10.3f}|{pi:e}|{pi:g}|{pi:.0%}",
        f"{n:,}|{n:_}|{n:x}|{n:#x}|{n:b}|{n:o}|{n:X}",
        f"{name!r:>6}|{name!s}|{name!a}",
        f"{pi:{width}.{places}f}",
        f"{x=}|{x = }|{name=!s}|{x=:>4}|{d['k'][0]=}",
        f"{{}}{{{x}}}",
        f"{d['k']}|{d}",
        f"{'nested ' + f'{x}'}",
        f"{None}|{True}|{(1,)}|{[]}",
        f"{Point(1)}|{Named(2)}|{Named(2)!r}|{Named(2)!s}|{Named(2):q}",
        f"{x if x > 3 else 'small'}",
        f"{name:*^10}|{name:.1}",
        f"{1e10}|{0.1 + 0.2}|{1.0}|{float('inf')}|{-0.0}",
        f"{'é'!a}",
        f"{x:>{width}}|{x:{'<' if x else '>'}{width}}|",
    )


def case_percent():
    return (
        "%s %r %d %5.1f %x %%" % ("a", "b", 3, 2.25, 255),
        "%s" % 5,
        "%s" % [1, 2],
        "%s" % ((1, 2),),
        "%s" % {"a": 1},
        "%(a)s-%(b)03d" % {"a": 1, "b": 2},
        "%-5s|%5s|%.2s" % ("a", "b", "cde"),
        "%s %s" % (Point(1), Named(2)),
        "%d" % 3.9,
        "%i" % True,
        "%c" % "x",
        "%s" % None,
    )


def case_format_method():
    return (
        "{} {}".format(1, "a"),
        "{0} {1} {0}".format("x", "y"),
        "{a} {b!r:>5}".format(a=1, b="q"),
        "{0.x} {1[k]} {2[0]}".format(Point(3), {"k": 4}, [5]),
        "{:>5}|{:<5}|{:^5}".format(1, 2, 3),
        "{:{w}}".format("a", w=4),
        "{} {}".format(Named(1), Point(2)),
        "{:z}".format(Named(1)),
        "{{{}}}".format(1),
        format(3.14159, ".3f"),
        format("a", ">4"),
        format(Named(3)),
        "{}".format(None),
    )


def case_repr():
    return (
        repr("it's"),
        repr('say "x"'),
        repr("a\nb\t\\"),
        repr(b"x\x00"),
        repr([1, "a", None, True, 1.5, (2,), {3}, {"k": [4]}]),
        repr(()),
        repr(set()),
        repr(frozenset({1})),
        repr({}),
        repr(range(3)),
        repr(slice(1, 2)),
        str([Point(1), Named("n")]),
        str({"p": Point(1)}),
        repr(1e100),
        repr(10**20),
        repr(int),
        repr(Point),
        repr(ValueError),
        str({1: 2}.keys()),
        str({1: 2}.items()),
        repr(1 + 2j),
        repr(...),
        repr(NotImplemented),
    )


def case_str_methods():
    s = "  Hello, World  "
    return (
        s.strip(),
        s.lstrip(),
        s.rstrip(),
        s.lower(),
        s.upper(),
        s.swapcase(),
        s.strip().split(", "),
        s.split(),
        "a,b,,c".split(","),
        "a,b,c".split(",", 1),
        "a,b,c".rsplit(",", 1),
        "a b".partition(" "),
        "a b c".rpartition(" "),
        "abc".partition("x"),
        "abcabc".replace("b", "X"),
        "abcabc".replace("b", "X", 1),
        "abc".startswith("ab"),
        "abc".startswith(("x", "ab")),
        "abc".endswith(("bc", "q")),
        "abc".startswith("b", 1),
        "abcb".find("b"),
        "abcb".rfind("b"),
        "abc".find("z"),
        "abc".count("b"),
        "a-b_c".translate(str.maketrans("-_", "  ")),
        "abc".translate({ord("a"): "z", ord("b"): None}),
        "Title case".title(),
        "word".capitalize(),
        "x".join(["a", "b"]),
        "".join(c for c in "abc" if c != "b"),
        "5".zfill(3),
        "a".center(5, "*"),
        "a".ljust(3) + "|",
        "a".rjust(3),
        "12".isdigit(),
        "ab".isalpha(),
        "a1".isalnum(),
        " ".isspace(),
        "a_b".isidentifier(),
        "AB".isupper(),
        "line1\nline2\r\n".splitlines(),
        "a\tb".expandtabs(4),
        "prefix-x".removeprefix("prefix-"),
        "x.py".removesuffix(".py"),
        "é".encode(),
        b"\xc3\xa9".decode("utf-8"),
        "ß".casefold(),
        "%s",
        "a" "b",
        "abc" * 2,
        "b" in "abc",
        "abc" < "abd",
        len("héllo"),
        "abc"[::-1],
        "abc"[-1],
        "abcdef"[1:4:2],
        "abc"[5:],
    )


def case_bytes():
    b = b"abc"
    return (
        b[0],
        b[1:],
        b + b"d",
        b.decode(),
        b.hex(),
        bytes([1, 2]),
        bytes(2),
        bytes("é", "utf-8"),
        b.startswith(b"a"),
        b.split(b"b"),
        list(b),
        b == b"abc",
        b"a" in b,
        bytes.fromhex("ff00"),
        int.from_bytes(b"\x01\x00", "big"),
        (258).to_bytes(2, "little"),
        b.replace(b"a", b"z"),
        b.upper(),
        bytearray(b"xy") == b"xy",
    )


def case_number_conversions():
    return (
        int("42"),
        int(" -7 "),
        int("0x1f", 16),
        int("101", 2),
        int("1_000"),
        int(3.9),
        int(-3.9),
        int(True),
        float("1e3"),
        float("inf"),
        float(" 2.5 "),
        str(1.0),
        str(1e16),
        str(-5),
        bool("False"),
        bool(""),
        bool(0.0),
        bool([0]),
        complex(1, 2),
        hex(255),
        bin(5),
        oct(8),
        chr(97),
        ord("a"),
        round(2.5),
        round(3.5),
        round(2.675, 2),
        round(1234, -2),
        abs(-3),
        divmod(7, 3),
        divmod(-7, 3),
        pow(2, 10),
        pow(2, 10, 1000),
        7 // 2,
        -7 // 2,
        7 % -3,
        7.5 // 2,
        2**0.5,
        1 / 3,
        5 & 3 | 4 ^ 1,
        ~5,
        1 << 10,
        -16 >> 2,
        0.1 + 0.2 == 0.3,
        1 == 1.0,
        True + True,
        10**25,
        (5).bit_length(),
        (0.5).as_integer_ratio(),
        (2.0).is_integer(),
        float.fromhex("0x1p3"),
        (3).real,
        (3).numerator,
        3.7.__floor__(),
    )


def case_comparisons():
    return (
        [1, 2] < [1, 3],
        (1, "a") < (1, "b"),
        [1] == [1.0],
        {"a": 1} == {"a": 1.0},
        {1, 2} >= {1},
        {1} < {1, 2},
        "a" == 1,
        None == 0,
        () == [],
        1 is not None,
        [] is [],
        "a" != "b",
        1 != 1.0,
        float("nan") == float("nan"),
        [1, [2]] == [1, [2]],
        range(3) == range(0, 3),
        b"a" == "a",
    )
