"""Exceptions, `with`, generators and loops."""

import contextlib
from contextlib import ExitStack, contextmanager, nullcontext, suppress


def attempt(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error).__name__, str(error)


def case_try_paths():
    def run(action):
        log = []
        try:
            log.append("body")
            action()
        except ValueError as error:
            log.append(f"value {error}")
        except (KeyError, IndexError):
            log.append("lookup")
        except Exception:
            log.append("other")
            raise
        else:
            log.append("else")
        finally:
            log.append("finally")
        return log

    def fail(error):
        raise error

    return (
        run(lambda: None),
        run(lambda: fail(ValueError("x"))),
        run(lambda: fail(KeyError("x"))),
        run(lambda: [][1]),
        attempt(run, lambda: fail(TypeError("t"))),
        attempt(run, lambda: 1 / 0),
    )


def case_finally_and_return():
    log = []

    def one():
        try:
            return "try"
        finally:
            log.append("one")

    def two():
        try:
            return "try"
        finally:
            return "finally"

    def three():
        for i in range(5):
            try:
                if i == 1:
                    continue
                if i == 3:
                    break
            finally:
                log.append(i)
        return "end"

    def four():
        try:
            raise ValueError("lost")
        finally:
            return "swallowed"

    def five():
        value = 1
        try:
            return value
        finally:
            value = 2

    def six():
        try:
            raise ValueError("first")
        finally:
            raise KeyError("second")

    return one(), two(), three(), four(), five(), attempt(six), log


def case_else_errors_are_not_caught():
    def run():
        try:
            pass
        except ValueError:
            return "caught"
        else:
            raise ValueError("from else")

    return attempt(run)


def case_exception_chaining():
    def run():
        try:
            try:
                {}["a"]
            except KeyError as error:
                raise ValueError("outer") from error
        except ValueError as outer:
            return (
                type(outer.__cause__).__name__,
                str(outer.__cause__),
                type(outer.__context__).__name__,
                outer.__suppress_context__,
            )

    def implicit():
        try:
            try:
                raise KeyError("k")
            except KeyError:
                raise ValueError("v")  # noqa: B904
        except ValueError as error:
            return error.__cause__, type(error.__context__).__name__

    def from_none():
        try:
            try:
                raise KeyError("k")
            except KeyError:
                raise ValueError("v") from None
        except ValueError as error:
            return error.__cause__, error.__suppress_context__

    return run(), implicit(), from_none()


def case_reraise():
    def run():
        try:
            raise ValueError("again")
        except ValueError:
            try:
                raise KeyError("inner")
            except KeyError:
                pass
            raise

    def outside():
        raise

    return attempt(run), attempt(outside)


def case_custom_exceptions():
    class Base(Exception):
        code = 1

    class Detailed(Base):
        def __init__(self, what, *, level=0):
            super().__init__(f"{what} at {level}")
            self.what = what
            self.level = level

    class Silent(Exception):
        def __init__(self, a, b):
            self.a = a

    class Shown(Exception):
        def __str__(self):
            return "shown " + super().__str__()

    class Mixed(ValueError, KeyError): ...

    def fail(error):
        raise error

    def catch(kind, error):
        try:
            fail(error)
        except kind as caught:
            return type(caught).__name__, str(caught), caught.args

    detailed = Detailed("x", level=3)
    return (
        catch(Base, detailed),
        detailed.level,
        detailed.code,
        catch(Exception, Silent(1, 2)),
        catch(Exception, Shown("a")),
        catch(KeyError, Mixed("m")),
        repr(detailed),
        repr(ValueError("a", 1)),
        str(ValueError()),
        str(ValueError("a", 1)),
        str(KeyError("k")),
        isinstance(detailed, Exception),
        attempt(fail, Base),
        attempt(fail, "text"),
        attempt(lambda: fail(None)),
    )


def case_built_in_errors():
    return (
        attempt(lambda: [][0]),
        attempt(lambda: {}["k"]),
        attempt(lambda: {}[1, 2]),
        attempt(lambda: 1 / 0),
        attempt(lambda: 1 // 0),
        attempt(lambda: 1 % 0),
        attempt(lambda: 1.0 / 0),
        attempt(lambda: int("x")),
        attempt(lambda: int("1.5")),
        attempt(lambda: float("x")),
        attempt(lambda: int(None)),
        attempt(lambda: int([])),
        attempt(lambda: float([])),
        attempt(lambda: [1, 2].index(3)),
        attempt(lambda: [].pop()),
        attempt(lambda: {}.pop("a")),
        attempt(lambda: {}.popitem()),
        attempt(lambda: set().pop()),
        attempt(lambda: {1}.remove(2)),
        attempt(lambda: "a".index("b")),
        attempt(lambda: "a" + 1),
        attempt(lambda: 1 + "a"),
        attempt(lambda: [] + ()),
        attempt(lambda: None + 1),
        attempt(lambda: "a" * "b"),
        attempt(lambda: {} | 1),
        attempt(lambda: -"a"),
        attempt(lambda: not_defined),  # noqa: F821
        attempt(lambda: 1 < "a"),
        attempt(lambda: None < 1),
        attempt(lambda: [] < {}),
        attempt(lambda: max(1, "a")),
        attempt(lambda: sorted([1, "a"])),
        attempt(lambda: max([])),
        attempt(lambda: min([])),
        attempt(lambda: sum(["a"])),
        attempt(lambda: len(1)),
        attempt(lambda: len(None)),
        attempt(lambda: iter(1)),
        attempt(lambda: next(iter([])))[0],
        attempt(lambda: next([])),
        attempt(lambda: 1[0]),
        attempt(lambda: None[0]),
        attempt(lambda: [1]["a"]),
        attempt(lambda: "abc"["a"]),
        attempt(lambda: (1,)[5]),
        attempt(lambda: {[]: 1}),
        attempt(lambda: {[]}),
        attempt(lambda: hash({})),
        attempt(lambda: "a" in 1),
        attempt(lambda: 1 in "a"),
        attempt(lambda: 1 in None),
        attempt(lambda: "%d" % "a"),
        attempt(lambda: "%s %s" % "a"),
        attempt(lambda: "%s" % (1, 2)),
        attempt(lambda: "{} {}".format(1)),
        attempt(lambda: "{a}".format()),
        attempt(lambda: f"{'a':d}"),
        attempt(lambda: f"{None:>5}"),
        attempt(lambda: f"{[]:>5}"),
        attempt(lambda: chr(-1)),
        attempt(lambda: ord("ab")),
        attempt(lambda: range(1.5)),
        attempt(lambda: range(1, 2, 0)),
        attempt(lambda: "a".join([1])),
        attempt(lambda: "a".join(1)),
        attempt(lambda: "".split("")),
        attempt(lambda: bytes("a")),
        attempt(lambda: "é".encode("ascii"))[0],
        attempt(lambda: b"\xff".decode())[0],
        attempt(lambda: dict([1])),
        attempt(lambda: dict([(1, 2, 3)])),
        attempt(lambda: dict(1)),
        attempt(lambda: list(1)),
        attempt(lambda: setattr(1, "a", 2)),
        attempt(lambda: setattr("a", "b", 2)),
        attempt(lambda: list(zip([1], [1, 2], strict=True))),
        attempt(lambda: isinstance(1, "a")),
        attempt(lambda: getattr(1, "a")),
        attempt(lambda: round("a"))[0],
        attempt(lambda: abs("a")),
        attempt(lambda: 2 ** -1),
        attempt(lambda: 0 ** -1),
        attempt(lambda: 1 << -1),
        attempt(lambda: int("9" * 5000))[0],
        attempt(lambda: 10.0 ** 400),
        attempt(lambda: int(float("inf"))),
        attempt(lambda: int(float("nan"))),
    )


def case_item_errors():
    def set_tuple():
        (1,)[0] = 2

    def del_tuple():
        del (1,)[0]

    def set_str():
        "a"[0] = "b"

    def set_int():
        n = 1
        n[0] = 1

    def del_missing():
        d = {}
        del d["a"]

    def set_far():
        x = []
        x[0] = 1

    return [attempt(f) for f in (set_tuple, del_tuple, set_str, set_int, del_missing, set_far)]


def case_unpacking_errors():
    def few():
        a, b, c = 1, 2

    def many():
        a, b = 1, 2, 3

    def star():
        a, *b, c, d = 1, 2

    def number():
        a, b = 1

    def none():
        a, b = None

    def text():
        a, b = "abc"

    def generator():
        a, b = (i for i in range(5))

    def loop():
        for a, b in [(1, 2), (3,)]:  # noqa: B007
            pass

    return [attempt(f) for f in (few, many, star, number, none, text, generator, loop)]


def case_assert():
    def check(x, y=1):
        assert x, f"x is {x}"
        assert y

    return attempt(check, 1), attempt(check, 0), attempt(check, 1, 0), attempt(check, [])


def case_with_managers():
    log = []

    class M:
        def __init__(self, name, swallow=False):
            self.name = name
            self.swallow = swallow

        def __enter__(self):
            log.append("enter " + self.name)
            return self.name.upper()

        def __exit__(self, kind, value, trace):
            log.append(f"exit {self.name} {kind and kind.__name__} {value}")
            return self.swallow

    with M("a") as a, M("b") as b:
        log.append(a + b)
    with M("c", swallow=True):
        raise ValueError("gone")

    def fails():
        with M("d"):
            raise KeyError("stays")

    def returns():
        with M("e") as x:
            return x

    def loops():
        for i in range(3):
            with M(str(i)):
                if i == 1:
                    break
        return i

    with M("f"), M("g", swallow=True):
        raise TypeError("inner")
    return attempt(fails), returns(), loops(), log, attempt(lambda: use(1))


def use(x):
    with x:
        pass


def case_contextmanager():
    log = []

    @contextmanager
    def area(name, swallow=False):
        log.append("in " + name)
        try:
            yield name * 2
        except ValueError as error:
            log.append(f"saw {error}")
            if not swallow:
                raise
        finally:
            log.append("out " + name)

    with area("a") as got:
        log.append(got)
    with area("b", swallow=True):
        raise ValueError("x")

    def fails():
        with area("c"):
            raise ValueError("y")

    def other():
        with area("d"):
            raise KeyError("z")

    @contextmanager
    def translating():
        try:
            yield
        except KeyError as error:
            raise ValueError("translated") from error

    def translated():
        with translating():
            raise KeyError("k")

    @contextmanager
    def empty():
        return
        yield

    def nothing():
        with empty():
            pass

    @area("deco")
    def decorated(x):
        log.append("body")
        return x

    return attempt(fails), attempt(other), attempt(translated), attempt(nothing), decorated(4), log


def case_contextlib_tools():
    with suppress(KeyError, ValueError):
        raise ValueError
    with suppress(LookupError):
        {}["x"]

    def passes():
        with suppress(KeyError):
            raise TypeError("t")

    with nullcontext(5) as five:
        pass
    log = []

    @contextmanager
    def cm(name):
        log.append("in " + name)
        yield name
        log.append("out " + name)

    with ExitStack() as stack:
        one = stack.enter_context(cm("one"))
        two = stack.enter_context(cm("two"))
        stack.callback(log.append, "callback")
    with contextlib.suppress(Exception):
        raise RuntimeError
    return five, attempt(passes), one, two, log


def case_generators():
    def count(n):
        for i in range(n):
            yield i
        return "done"

    def chain(*parts):
        result = []
        for part in parts:
            got = yield from part
            result.append(got)
        yield result

    def echo():
        got = yield "start"
        while got != "stop":
            got = yield ["echo", got]
        yield "stopped"

    def closing(log):
        try:
            yield 1
            yield 2
        finally:
            log.append("closed")

    e = echo()
    first = next(e)
    log = []
    c = closing(log)
    next(c)
    c.close()
    t = closing(log)
    next(t)
    thrown = attempt(t.throw, ValueError("thrown"))
    g = count(2)
    got = [next(g), next(g), attempt(next, g)]
    return (
        list(count(3)),
        list(chain(count(2), [7, 8])),
        first,
        e.send("a"),
        e.send("b"),
        e.send("stop"),
        attempt(next, e)[0],
        log,
        thrown,
        got,
        sum(count(4)),
        [*count(2), *count(1)],
        dict(zip(count(2), "ab", strict=True)),
        max(count(5)),
        list(enumerate(count(2), 5)),
        tuple(x * y for x in count(3) if x for y in count(x)),
        attempt(lambda: next(count(0)))[0],
    )


def case_generator_state_is_lazy():
    log = []

    def noisy():
        log.append("a")
        yield 1
        log.append("b")
        yield 2
        log.append("c")

    g = noisy()
    before = list(log)
    next(g)
    middle = list(log)
    rest = list(g)
    again = list(g)
    return before, middle, rest, again, log


def case_generator_with_try_and_with():
    @contextmanager
    def cm(log):
        log.append("enter")
        yield
        log.append("exit")

    def gen(log):
        with cm(log):
            for i in range(3):
                try:
                    if i == 1:
                        raise ValueError
                    yield i
                except ValueError:
                    log.append("skipped")
                else:
                    log.append("fine")
                finally:
                    log.append("finally")
        if log:
            yield "last"

    log = []
    return list(gen(log)), log


def case_generator_methods_and_while():
    def until(limit):
        a, b = 0, 1
        while True:
            if a > limit:
                return
            yield a
            a, b = b, a + b

    class Tree:
        def __init__(self, value, *children):
            self.value = value
            self.children = children

        def __iter__(self):
            yield self.value
            for child in self.children:
                yield from child

    return list(until(30)), list(Tree(1, Tree(2, Tree(3)), Tree(4)))


def case_stop_iteration_inside_generator():
    def gen():
        yield 1
        raise StopIteration

    return attempt(list, gen())


def case_iterator_is_consumed_once():
    it = iter([1, 2, 3, 4])
    pairs = list(zip(it, it, strict=True))
    m = map(str, [1, 2])
    return pairs, list(it), list(m), list(m), 3 in iter([1, 2, 3]), next(iter({"a": 1}))


def case_augmented():
    class A:
        n = 1

    a = A()
    a.n += 1
    d = {"k": [1]}
    d["k"] += [2]
    d["k"] *= 2
    x = y = [1]
    x += (2,)
    s = t = "a"
    s += "b"
    n = 7
    n //= 2
    n **= 3
    n -= 1
    n %= 10
    n <<= 2
    n |= 1
    n ^= 3
    n &= 30
    n >>= 1
    f = 3
    f /= 2
    g = {1}
    g |= {2}
    h = {"a": 1}
    h |= {"b": 2}
    tup = u = (1,)
    tup += (2,)
    return a.n, A.n, d, x, y, s, t, n, f, g, h, tup, u


def case_boolean_operators():
    log = []

    def say(value):
        log.append(value)
        return value

    return (
        say(0) or say("") or say("x") or say("never"),
        say(1) and say([]) and say("never"),
        not say(None),
        (1 or 0) and 5,
        [] or None or 0,
        1 < 2 < 3,
        1 < say(0) < say(9),
        3 > 2 > 1 != 5,
        "yes" if say({}) else "no",
        log,
    )


def case_delete():
    items = [1, 2, 3, 4, 5]
    del items[0], items[-1]
    del items[1:2]
    d = {"a": 1, "b": 2}
    del d["a"]

    class A:
        pass

    a = A()
    a.x = a.y = 1
    del a.x, a.y
    return items, d, vars(a)


def case_nested_functions_and_loops():
    result = []
    for i in range(3):
        for j in range(3):
            if j == i:
                continue
            if j > i + 1:
                break
            result.append((i, j))
        else:
            result.append(("else", i))
    return result


def case_system_exit():
    import sys

    def leave(code):
        try:
            sys.exit(code)
        except SystemExit as stop:
            return stop.code, isinstance(stop, Exception)

    return leave(3), leave("message"), leave(None)


def case_os_error():
    def run():
        try:
            open("/nowhere/at/all")
        except FileNotFoundError as error:
            return error.errno, str(error), error.filename, isinstance(error, OSError)

    error = OSError(5, "text", "name")
    return run(), str(error), error.args, str(OSError("only"))


def case_exception_notes():
    error = ValueError("x")
    error.add_note("note")
    return error.__notes__, error.with_traceback(None) is error


def case_import_error():
    def run():
        try:
            import nowhere_at_all_xyz  # noqa: F401
        except ImportError as error:
            return type(error).__name__, str(error), error.name

    return run()


def case_loops_that_look_for_a_key():
    items = [("a", {"x": 1}), ("b", {"y": 2}), ("c", {"z": 3})]

    def found(wanted, pairs):
        for name, table in reversed(pairs):
            if wanted in table:
                return name, table[wanted]
        return name, len(table)

    def each(wanted, tables):
        table = None
        for table in tables:
            if wanted in table:
                table = {"found": table[wanted]}
        else:
            table = table and {**table, "else": True}
        return table

    def moving(pairs):
        wanted, log = "x", []
        for name, table in pairs:
            if wanted in table:
                log.append((name, wanted))
                wanted = {"x": "y", "y": "a"}.get(wanted)
        return log, wanted, name

    def over_key(pairs):
        log, wanted = [], "x"
        for wanted, table in pairs:
            if wanted in table:
                log.append(wanted)
        return log, wanted

    return (
        [found(key, items) for key in ("x", "y", "z", "none")],
        attempt(found, "x", []),
        found("y", [*items, ["d", {"y": 4}]]),
        attempt(found, "q", [("a", {}), ("b", {}, 3)]),
        attempt(found, "q", [("a", {}), ("b", 7)]),
        found("b", [("a", ["b"]), ("c", "abc")]),
        attempt(found, ["no text"], items),
        each("x", [{"y": 1}, {"x": 2}, {"z": 3}]),
        each("x", [{"y": 1}, {"z": 3}]),
        attempt(each, "x", ["xy"]),
        each("x", []),
        moving([("a", {"x": 1}), ("b", {"x": 1, "y": 2}), ("c", {"a": 0}), ("d", {})]),
        over_key([("x", {"x": 1}), ("y", {}), ("z", {"z": 0})]),
    )
