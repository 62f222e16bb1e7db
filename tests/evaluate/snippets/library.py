"""`argparse`, `json`, `re`, `math`, `packaging`, paths and the environment."""

import argparse
import base64
import hashlib
import json
import math
import os
import os.path
import pathlib
import re
import shlex
import string
import textwrap
import types
import urllib.parse
import warnings
from datetime import timedelta

from packaging import version as pkg_version
from packaging.version import InvalidVersion, Version, parse


def attempt(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error).__name__, str(error)


def case_json():
    text = '{"a": [1, 2.5, null, true, "x"], "b": {"c": "\\u00e9"}}'
    data = json.loads(text)
    return (
        data, json.dumps(data), json.dumps(data, indent=2), json.dumps({"b": 1, "a": 2}, sort_keys=True), json.dumps("é"),
        json.dumps("é", ensure_ascii=False), json.dumps((1, 2)), json.dumps({1: "a", None: 2, True: 3}), json.dumps([1, "a"], separators=(",", ":")),
        json.loads("[]"), json.loads(" 5 "), json.loads(b'{"k": 1}'), attempt(json.loads, "{bad"), attempt(json.loads, ""), attempt(lambda: json.dumps({1, 2})),
        json.dumps({"x": object}, default=lambda o: "def"), json.loads("1e5"), json.dumps(float("inf")), json.loads('{"a": 1, "a": 2}'),
        isinstance(attempt_error(json.loads, "x"), ValueError), json.loads('{"a": 1}', object_hook=lambda d: list(d.items())), json.dumps({}),
    )


def attempt_error(function, *args):
    try:
        function(*args)
    except Exception as error:
        return error


def case_re():
    m = re.match(r"(?P<name>\w+)-(\d+)", "abc-12 tail")
    p = re.compile(r"\d+")
    return (
        m.group(0), m.group("name"), m.group(2), m.groups(), m.groupdict(), m.start(), m.end(), m.span(2), m["name"], m[2],
        re.match("x", "y"), re.search("b+", "abbc").group(), re.findall(r"\d", "a1b2"), re.findall(r"(\w)(\d)", "a1b2"), re.sub("a", "b", "aa"),
        re.sub("a", "b", "aaa", count=1), re.sub(r"(\w)", r"<\1>", "ab"), re.sub(r"\d", lambda m: str(int(m.group()) * 2), "a1b2"),
        re.split(r"[,;]\s*", "a, b;c"), re.fullmatch("a+", "aaa") is not None, re.fullmatch("a", "ab"), p.findall("1 22"), p.sub("#", "a1"),
        bool(re.search("X", "axb", re.IGNORECASE)), re.escape("a.b"), [x.group() for x in re.finditer("a.", "abac")], p.pattern,
        re.match("A", "a", re.I | re.M).group(), attempt(lambda: re.compile("("))[0], bool(p.match("x")), re.search(r"layers\.(\d+)", "model.layers.12.x").group(1),
        re.compile("a", re.I).flags & re.I != 0, isinstance(m, re.Match), isinstance(p, re.Pattern), re.subn("a", "b", "aa"), m.string, m.lastindex,
    )


def case_math():
    return (
        math.ceil(1.2), math.floor(-1.2), math.sqrt(9), math.log2(8), math.log(1), math.pi, math.inf, math.isnan(float("nan")), math.gcd(12, 18),
        math.lcm(4, 6), math.prod([1, 2, 3]), math.isclose(0.1 + 0.2, 0.3), math.trunc(2.7), math.pow(2, 3), math.hypot(3, 4), math.exp(0), math.fabs(-1),
        attempt(math.sqrt, -1), attempt(math.log, 0), math.comb(5, 2), math.factorial(5), math.log10(100), math.fsum([0.1] * 10), math.isfinite(1.0), math.copysign(1, -2),
        math.modf(2.5), math.isqrt(17), math.dist([0, 0], [3, 4]), math.prod(x for x in (2, 3)),
    )


def case_versions():
    v = parse("2.5.1+cu124")
    return (
        v.major, v.minor, v.micro, v.release, v.local, v.public, v.base_version, str(v), v >= Version("2.5"), v < parse("2.10"),
        parse("1.0rc1") < parse("1.0"), parse("1.0.dev1").is_devrelease, parse("1.0rc1").is_prerelease, attempt(parse, "not a version")[0],
        max([parse("1.2"), parse("1.10")]) == parse("1.10"), pkg_version.parse("3") == Version("3.0.0"), sorted(["1.10", "1.9"], key=parse),
        isinstance(v, Version), issubclass(InvalidVersion, ValueError), (v.major, v.minor) >= (2, 4), {v: 1}[Version("2.5.1+cu124")], f"{v}",
    )


def case_os_path():
    return (
        os.path.join("a", "b", "c.py"), os.path.join("/a", "/b"), os.path.basename("/a/b.txt"), os.path.dirname("/a/b.txt"), os.path.splitext("x.tar.gz"),
        os.path.split("/a/b"), os.path.isabs("/a"), os.path.normpath("/a/../b/./c"), os.path.exists("/nowhere/xyz"), os.path.isdir("/nowhere/xyz"),
        os.path.isfile("/nowhere/xyz"), os.sep, os.path.relpath("/a/b", "/a"), os.path.commonprefix(["abc", "abd"]), os.path.join("a", ""),
        os.fspath("x"), os.path.join(pathlib.Path("p"), "q"),
    )


def case_pathlib():
    p = pathlib.Path("/a/b/c.tar.gz")
    q = pathlib.Path("x") / "y" / "z.py"
    return (
        p.name, p.stem, p.suffix, p.suffixes, p.parts, str(p.parent), str(p.parent.parent), str(q), q.as_posix(), p.is_absolute(), q.is_absolute(),
        str(p.with_suffix(".zip")), str(p.with_name("n")), p == pathlib.Path("/a/b/c.tar.gz"), str(p.relative_to("/a")), str(pathlib.Path("a", "b")),
        p.exists(), p.is_dir(), str(pathlib.Path("a//b/./c")), repr(pathlib.Path("a")), f"{q}", str("pre" / q), [str(x) for x in p.parents], {p: 1}[pathlib.Path("/a/b/c.tar.gz")],
        isinstance(p, pathlib.Path), str(pathlib.PurePosixPath("a/b")), attempt(lambda: pathlib.Path("/nowhere/x").read_text())[0], str(pathlib.Path()), os.fspath(q), sorted([pathlib.Path("b"), pathlib.Path("a")])[0].name,
        str(q.joinpath("w")), p.match("*.gz"), str(p.with_stem("new")), pathlib.Path("a") != pathlib.Path("b"),
    )


def case_environment():
    os.environ["PKG_TEST_A"] = "1"
    os.environ.setdefault("PKG_TEST_B", "two")
    first = os.environ["PKG_TEST_A"], os.getenv("PKG_TEST_B"), os.environ.get("PKG_TEST_NO"), os.getenv("PKG_TEST_NO", "d"), "PKG_TEST_A" in os.environ
    popped = os.environ.pop("PKG_TEST_A"), os.environ.pop("PKG_TEST_A", None)
    error = attempt(lambda: os.environ["PKG_TEST_A"])
    bad = attempt(lambda: os.environ.__setitem__("PKG_TEST_C", 1))
    os.environ.update({"PKG_TEST_D": "4"})
    del os.environ["PKG_TEST_D"]
    gone = os.getenv("PKG_TEST_D")
    del os.environ["PKG_TEST_B"]
    return first, popped, error, bad, gone


def case_small_modules():
    return (
        textwrap.dedent("  a\n  b"), string.ascii_lowercase[:3], string.digits, shlex.split("a 'b c' d"), shlex.quote("a b"), shlex.join(["a", "b c"]),
        hashlib.sha256(b"x").hexdigest()[:8], hashlib.md5("é".encode()).hexdigest(), base64.b64encode(b"abc").decode(), base64.b64decode("YWJj"),
        urllib.parse.urlparse("http://h:80/p?q=1").netloc, urllib.parse.quote("a b"), urllib.parse.urljoin("http://h/a/", "b"), urllib.parse.urlparse("http://h:80/p").port,
        timedelta(minutes=2).total_seconds(), warnings.warn("quiet") if False else None, string.Template("$a b").substitute(a=1),
    )


def case_types_module():
    ns = types.SimpleNamespace(a=1, b=[2])
    ns.c = 3
    proxy = types.MappingProxyType({"k": 1})
    made = types.new_class("Made", (), {}, lambda body: body.update(x=5))
    m = types.ModuleType("m")
    m.v = 1
    bound = types.MethodType(lambda self: self, 7)
    return (
        ns.a, ns.c, repr(ns), ns == types.SimpleNamespace(a=1, b=[2], c=3), vars(ns), proxy["k"], dict(proxy), made.x, made.__name__, m.v, m.__name__,
        bound(), isinstance(case_json, types.FunctionType), isinstance(lambda: 0, types.LambdaType), isinstance(m, types.ModuleType), isinstance(None, types.NoneType),
        isinstance(bound, types.MethodType), "k" in proxy, proxy.get("z", 0),
    )


def parse_args(parser, words):
    try:
        return vars(parser.parse_args(words))
    except SystemExit as stop:
        return "exit", stop.code


def case_argparse_basics():
    parser = argparse.ArgumentParser(prog="p", description="d")
    parser.add_argument("--model-path", "--model", type=str, required=True)
    parser.add_argument("--port", type=int, default=30000, help="port %(default)s 100%%")
    parser.add_argument("--flag", action="store_true")
    parser.add_argument("--no-flag", dest="flag", action="store_false")
    parser.add_argument("--kind", choices=["a", "b"], default="a")
    parser.add_argument("--many", nargs="*", default=[])
    parser.add_argument("--some", nargs="+", type=int)
    parser.add_argument("--maybe", nargs="?", const="const", default="default")
    parser.add_argument("--two", nargs=2)
    parser.add_argument("--add", action="append")
    parser.add_argument("--count", "-v", action="count", default=0)
    parser.add_argument("--const", action="store_const", const=5)
    parser.add_argument("--bool", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--ratio", type=float)
    return (
        parse_args(parser, ["--model", "m"]),
        parse_args(parser, ["--model=m", "--port=5", "--flag", "--kind", "b", "--many", "x", "y", "--some", "1", "2"]),
        parse_args(parser, ["--model-pa", "m", "--maybe", "--two", "a", "b", "--add", "1", "--add", "2", "-vv", "--const", "--no-bool", "--ratio", "0.5"]),
        parse_args(parser, ["--model", "m", "--maybe", "given", "--bool"]),
        parse_args(parser, []),
        parse_args(parser, ["--model", "m", "--port", "x"]),
        parse_args(parser, ["--model", "m", "--kind", "z"]),
        parse_args(parser, ["--model", "m", "--unknown"]),
        parse_args(parser, ["--model", "m", "--some"]),
        parse_args(parser, ["--m", "m"]),
        parse_args(parser, ["--help"]),
        vars(parser.parse_known_args(["--model", "m", "--zzz", "1"])[0])["model_path"],
        parser.parse_known_args(["--model", "m", "--zzz", "1"])[1],
        parser.get_default("port"),
    )


def case_argparse_custom():
    log = []

    class Store(argparse.Action):
        def __init__(self, option_strings, dest, nargs=None, **kwargs):
            log.append((option_strings, dest))
            super().__init__(option_strings, dest, nargs=nargs, **kwargs)

        def __call__(self, parser, namespace, values, option_string=None):
            setattr(namespace, self.dest, ("stored", values, option_string))

    class Deprecated(argparse.Action):
        def __init__(self, option_strings, dest, nargs=0, **kwargs):
            super().__init__(option_strings, dest, nargs=nargs, **kwargs)

        def __call__(self, parser, namespace, values, option_string=None):
            parser.error(f"{option_string} is gone")

    class Pair:
        def __init__(self, text):
            self.a, self.b = text.split(":")

    def positive(text):
        value = int(text)
        if value <= 0:
            raise argparse.ArgumentTypeError("must be positive")
        return value

    parser = argparse.ArgumentParser()
    group = parser.add_argument_group("g", "things")
    group.add_argument("--store", action=Store, default="none", help="h")
    group.add_argument("--old", action=Deprecated)
    parser.add_argument("--pos", type=positive, default=1)
    parser.add_argument("--pair", type=Pair)
    parser.add_argument("--upper", type=lambda s: s.upper(), choices=["A", "B"])
    parser.add_argument("--json", type=json.loads)
    exclusive = parser.add_mutually_exclusive_group()
    exclusive.add_argument("--x", action="store_true")
    exclusive.add_argument("--y", action="store_true")
    parser.add_argument("rest", nargs="*")
    parser.set_defaults(extra="set", pos=2)
    ok = parser.parse_args(["--store", "v", "--pos", "3", "--pair", "l:r", "--upper", "a", "--json", '{"k": [1]}', "w1", "w2"])
    return (
        ok.store, ok.pos, ok.pair.b, ok.upper, ok.json, ok.rest, ok.extra, log, "store" in ok, hasattr(ok, "zz"), ok.x,
        parse_args(parser, ["--pos", "0"]), parse_args(parser, ["--pos", "x"]), parse_args(parser, ["--pair", "nope"]), parse_args(parser, ["--upper", "c"]),
        parse_args(parser, ["--old"]), parse_args(parser, ["--x", "--y"]), parse_args(parser, [])["pos"], parse_args(parser, ["--json", "{"]),
        argparse.Namespace(a=1).a, argparse.Namespace(a=1) == argparse.Namespace(a=1), vars(argparse.Namespace(b=2)),
    )
