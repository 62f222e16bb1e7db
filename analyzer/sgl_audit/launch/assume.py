"""`--assume cuda=12.8 gpu_count=8 env.SGLANG_X=1 ...` as pairs of texts."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sgl_audit.errors import UsageError
from sgl_audit.launch.text import did_you_mean, shown

_VERSION = re.compile(r"[0-9]+(?:\.[0-9A-Za-z]+)*(?:[-+._]?[A-Za-z0-9.]+)*")
_COUNTS = re.compile(r"[1-9][0-9]{0,8}(?:,[1-9][0-9]{0,8}){0,63}")
_COUNT = re.compile(r"[1-9][0-9]{0,8}")
_NEXT_ITEM = re.compile(r"[\s,]+(?=[A-Za-z_][\w.-]*=)")
_ENVIRONMENT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PACKAGE_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")

# Name -> what its value is.
ASSUMPTIONS: dict[str, str] = {
    "cuda": "release",
    "cudnn": "release",
    "driver": "version",
    "torch": "release",
    "flashinfer": "version",
    "device_name": "text",
    "gpu_count": "count",
    "gpu_memory_mib": "count",
    "numa_memory_mib": "counts",
}
_PREFIXES = ("env.", "package.")
_EXAMPLES = {
    "cuda": "12.8",
    "cudnn": "9.16.0",
    "driver": "580.65.06, or none",
    "torch": "2.9.1",
    "flashinfer": "0.6.3, or none",
    "device_name": "NVIDIA L40S",
    "gpu_count": "8",
    "gpu_memory_mib": "97887",
    "numa_memory_mib": "257000,258000",
}
_SAID = {"release": "version", "counts": "list of counts"}
_ANY_VERSION = "1.2.3, or none"


def parse_assumptions(items: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Assumptions as (name, value) in the order given, each name once.

    One item may hold several (`"cuda=12.8 gpu_count=8"`); a blank or comma ends a value only where
    another NAME= follows, so `device_name=NVIDIA L40S` is one.

    Raises:
        UsageError: no NAME=VALUE, an unknown name, a value of the wrong kind, or one name with two
            values.
    """
    result: dict[str, str] = {}
    for item in items:
        for text in _split(item):
            name, equals, value = text.partition("=")
            if not equals:
                raise UsageError(
                    f"--assume {shown(text)} is no NAME=VALUE; write it like cuda=12.8."
                )
            checked = check_assumption(name.strip(), value.strip(), "--assume")
            if result.get(name, checked) != checked:
                raise UsageError(
                    f"--assume gives {shown(name)} twice, as {shown(result[name])} and "
                    f"{shown(checked)}; give one of them."
                )
            result[name] = checked
    return tuple(result.items())


def check_assumption(name: str, value: str, where: str) -> str:
    """The value, if an assumption of that name can have it.

    Raises:
        UsageError: the name is unknown or the value is of the wrong kind.
    """
    if not name:
        raise UsageError(f"{where}: ={shown(value)} has no name in front of =; write NAME=VALUE.")
    if name.startswith("env."):
        _check_name(name, "env.", _ENVIRONMENT_NAME, "an environment variable", where)
        return value
    if name.startswith("package."):
        _check_name(name, "package.", _PACKAGE_NAME, "a distribution", where)
        kind = "version"
    elif name in ASSUMPTIONS:
        kind = ASSUMPTIONS[name]
    else:
        known = ", ".join([*ASSUMPTIONS, "env.NAME", "package.NAME"])
        near = did_you_mean(name, [*ASSUMPTIONS, *_PREFIXES]) or f"; known are {known}."
        raise UsageError(f"{where}: {shown(name)} is nothing that sgl-audit assumes{near}")
    if not _fits(kind, value):
        raise UsageError(
            f"{where}: {shown(name)} cannot be {shown(value) or 'empty'}; "
            f"write a {_SAID.get(kind, kind)} such as "
            f"{name}={_EXAMPLES.get(name, _ANY_VERSION)}."
        )
    return value


def _split(item: str) -> list[str]:
    # env.X may hold anything, also `A=1,B=2`; only it and texts without a second name stay whole.
    parts = _NEXT_ITEM.split(item.strip())
    merged: list[str] = []
    for part in parts:
        name = part.partition("=")[0]
        known = name in ASSUMPTIONS or name.startswith(_PREFIXES)
        if merged and not known and merged[-1].startswith("env."):
            start = item.index(merged[-1])
            end = item.index(part, start + len(merged[-1])) + len(part)
            merged[-1] = item[start:end]
        else:
            merged.append(part)
    return merged


def _check_name(name: str, prefix: str, pattern: re.Pattern[str], what: str, where: str) -> None:
    if not pattern.fullmatch(name.removeprefix(prefix)):
        raise UsageError(f"{where}: {shown(name)} does not name {what}; write {prefix}NAME=VALUE.")


def _fits(kind: str, value: str) -> bool:
    if kind in ("version", "release"):
        # Without CUDA or torch there is no GPU to answer for.
        absent = kind == "version" and value == "none"
        return absent or bool(_VERSION.fullmatch(value))
    if kind == "counts":
        return bool(_COUNTS.fullmatch(value))
    if kind == "count":
        return bool(_COUNT.fullmatch(value))
    return bool(value) and value.isprintable()
