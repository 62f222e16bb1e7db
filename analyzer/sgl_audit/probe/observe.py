"""What a server resolved to: its own endpoint, the log, and "not reported" where neither says.

Facts about the endpoint: SGLang 0.5.9, 0.5.10 and 0.5.23. One flat object; `internal_states[0]` is
the scheduler's own view and wins where the two differ.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from typing import Any

from sgl_audit.model.evidence import Ground, Observation, ObservedValue
from sgl_audit.probe.client import Client
from sgl_audit.probe.logs import RESOLVED, Log

INFO_PATHS = ("/server_info", "/get_server_info")
SEED = "random_seed"
_NESTED = "internal_states"
_LEFT_OPEN = "auto"
_RELEVANT = re.compile(
    r"backend|dtype|quantization|moe_|attention|fusion|page_size|cuda_graph|chunk|device$"
    r"|mem_fraction|tp_size|ep_size|dp_size|speculative_algorithm|sampling|disable_overlap"
)
_KV = re.compile(
    r"(?:KV Cache is allocated\. dtype:|Using KV cache dtype:)\s*(?:torch\.)?(?P<value>\w+)"
)
# Lines in which SGLang says what it chose, in the words that it uses for that.
_SAID = re.compile(
    r"(?i)fall(?:s|ing)?[ -]?back to|backend not (?:explicitly )?specified|not support.*fall"
    r"|(?:\buse|\busing|\bselected?|\bchosen|\bset)\b[^.]{0,60}\b(?:backend|kernels?|runner)\b"
    r"|KV [Cc]ache dtype|KV Cache is allocated|overrid(?:e|ing|den)"
)
_NOISE = re.compile(r"server_args=|UserWarning|warnings\.warn|Ignore import error|^\s*File |HTTP/1")
_MOST_SAID = 20
_PAIR = re.compile(
    r"[{(,]\s*['\"]?(?P<name>[a-z_][a-z0-9_]*)['\"]?\s*[:=]\s*"
    r"(?P<value>None|True|False|-?\d+(?:\.\d+)?(?:e-?\d+)?|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"(?=[,})])"
)


def ask_info(client: Client) -> Mapping[str, Any] | None:
    """The server's own account, from the newer endpoint or the older one."""
    for path in INFO_PATHS:
        answer = client.get(path)
        if answer.status == 200 and isinstance(answer.data, dict):
            return answer.data
    return None


def observe(info: Mapping[str, Any] | None, log: Log | None, names: Iterable[str]) -> Observation:
    """Put together what the endpoint and the log say.

    Args:
        names: options of which the answer is wanted beyond those that look relevant.
    """
    logged = logged_arguments(log) if log is not None else {}
    wanted = set(names)
    found: dict[str, ObservedValue] = {}
    for source, values in (("server_args= in the log", logged), ("/server_info", _flat(info))):
        for name, value in values.items():
            if (name in wanted or _RELEVANT.search(name)) and _plain(value):
                found[name] = ObservedValue(name, value, source, value != _LEFT_OPEN)
    for name, value in _scheduler(info).items():
        if name in wanted or _RELEVANT.search(name):
            found[name] = _by_scheduler(name, value, found.get(name))
    if log is not None:
        found |= _from_log(log)
    listed = tuple(found[name] for name in sorted(found))
    return Observation(listed, identity(info, logged), said_in(log) if log is not None else ())


def _by_scheduler(name: str, value: Any, before: ObservedValue | None) -> ObservedValue:
    """The scheduler's view of a value, which wins, with what the resolution left."""
    if before is None or (value is None and before.value is not None) or not _plain(value):
        source = "/server_info, scheduler"
        return before or ObservedValue(name, value, source, value != _LEFT_OPEN)
    return ObservedValue(
        name,
        value,
        "/server_info, scheduler",
        value != _LEFT_OPEN,
        value != before.value,
        before.value if value != before.value else None,
    )


def identity(info: Mapping[str, Any] | None, logged: Mapping[str, Any]) -> str:
    """How it is proved that the server that answers is the one whose log this is, or ""."""
    seed = (info or {}).get(SEED)
    if seed is None or SEED not in logged:
        return ""
    if seed != logged[SEED]:
        return f"NOT THE SAME: random_seed is {seed} in the answer and {logged[SEED]} in the log"
    return f"random_seed {seed} in the log and in the answer"


def logged_arguments(log: Log) -> dict[str, Any]:
    """The `server_args=` line, a dict literal in newer releases and a repr in older ones."""
    index = log.seen(RESOLVED)
    if index is None:
        return {}
    line = log.lines[index]
    text = line[line.index("server_args=") + len("server_args=") :].strip()
    return _as_literal(text) or _pair_by_pair(text)


def _as_literal(text: str) -> dict[str, Any]:
    try:
        tree = ast.parse(text, mode="eval").body
        if isinstance(tree, ast.Dict):
            pairs = [(_key(key), value) for key, value in zip(tree.keys, tree.values, strict=True)]
        elif isinstance(tree, ast.Call):
            pairs = [(keyword.arg, keyword.value) for keyword in tree.keywords]
        else:
            return {}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found: dict[str, Any] = {}
    for name, node in pairs:
        try:
            if name is not None:
                found[name] = ast.literal_eval(node)
        except ValueError:
            found[name or ""] = ast.unparse(node)
    return found


def _key(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _pair_by_pair(text: str) -> dict[str, Any]:
    """Where some value's repr is no Python: every simple value by itself."""
    found: dict[str, Any] = {}
    for pair in _PAIR.finditer(text):
        found.setdefault(pair["name"], ast.literal_eval(pair["value"]))
    return found


def _flat(info: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (info or {}).items() if name != _NESTED}


def _scheduler(info: Mapping[str, Any] | None) -> dict[str, Any]:
    states = (info or {}).get(_NESTED)
    first = states[0] if isinstance(states, list) and states else None
    return dict(first) if isinstance(first, dict) else {}


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float, bool, list, dict))


def _from_log(log: Log) -> dict[str, ObservedValue]:
    """What no endpoint tells and a line of the log does."""
    index = log.seen(_KV)
    if index is None:
        return {}
    hit = _KV.search(log.lines[index])
    assert hit is not None
    name = "KV cache dtype in use"
    return {name: ObservedValue(name, hit["value"], f"line {index + 1} of the log")}


def said_in(log: Log) -> tuple[Ground, ...]:
    """Lines that name what was chosen, each text once."""
    found: dict[str, Ground] = {}
    for index, line in enumerate(log.lines):
        if _SAID.search(line) and not _NOISE.search(line):
            ground = log.ground(index)
            found.setdefault(re.sub(r"^\[[^]]*\]\s*", "", ground.text), ground)
    return tuple(found.values())[:_MOST_SAID]
