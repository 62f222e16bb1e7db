"""What a program may ask of Python itself: no end, no memory, and nothing of this process."""

from __future__ import annotations

import re
import signal
import time

import pytest

from sgl_audit.evaluate.values import Undecidable, Unknown

from .trees import module_namespace


def run(source: str) -> object:
    session, _ = module_namespace(source)
    with session.launch() as machine:
        return machine.call(session.get("pkg.m", "run"), [], {})


@pytest.mark.parametrize(
    "source",
    [
        'import re\ndef run(): return re.match("(a+)+$", "a" * 40 + "b")',
        'import re\ndef run(): return re.compile("(x+x+)+y").search("x" * 40)',
        'import re\ndef run(): return re.sub("a", lambda m: "b" * 10**6, "a" * 10**6)',
        'import re\ndef run(): return re.sub("a", "b" * 10**6, "a" * 10**6)',
        'from fractions import Fraction\ndef run(): return Fraction("1e1000000000")',
        'from decimal import Decimal\ndef run(): return int(Decimal("1e1000000000"))',
        "import math\ndef run(): return math.prod([10**1000] * 10000)",
        "import math\ndef run(): return math.lcm(*range(1, 100000))",
        'def run(): return ("b" * 10**5).join(["a"] * 10**5)',
        "def run():\n x = [0]\n for i in x: x.append(i)\n return x",
        "def f(n): return g(n + 1)\ndef g(n): return f(n + 1)\ndef run(): return f(0)",
    ],
)
def test_what_has_no_end_is_not_decided(source: str) -> None:
    began = time.process_time()
    with pytest.raises(Undecidable):
        run(source)
    assert time.process_time() - began < 30


@pytest.mark.parametrize(
    "field", ["{0.__init__.__globals__}", "{0.__class__}", "{:{0.__doc__}}", "{0._x[1]}"]
)
def test_a_format_does_not_lead_into_this_process(field: str) -> None:
    source = "from packaging.version import Version\n"
    with pytest.raises(Undecidable, match="private attributes"):
        run(f"{source}def run(): return {field!r}.format(Version('1'))")


@pytest.mark.parametrize(
    "call",
    [
        f"signal.raise_signal({int(signal.SIGTERM)})",
        "signal.alarm(1)",
        "signal.signal(2, 1)",
        "base64.main()",
        "base64.test()",
        "difflib._test()",
        "os.system('true')",
    ],
)
def test_a_call_does_nothing_to_this_process(call: str) -> None:
    before = signal.getsignal(signal.SIGINT)
    assert isinstance(run(f"import base64, difflib, os, signal\ndef run(): return {call}"), Unknown)
    assert signal.getsignal(signal.SIGINT) is before
    if hasattr(signal, "getitimer"):
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_what_is_small_is_still_computed() -> None:
    text = "aa a" * 20
    source = f'import re\ndef run(): return re.sub("a+", lambda m: "b", {text!r})'
    assert run(source) == re.sub("a+", "b", text)
    assert run("import signal\ndef run(): return int(signal.SIGTERM)") == int(signal.SIGTERM)
    assert run('def run(): return "{b[k]} {{._}}".format(b={"k": 2})') == "2 {._}"
