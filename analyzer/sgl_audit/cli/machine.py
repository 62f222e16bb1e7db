"""The GPU of this machine, asked of `nvidia-smi`: the only program that the command line starts."""

from __future__ import annotations

import shutil
import subprocess

from sgl_audit.errors import UsageError
from sgl_audit.model.capability import BY_NAME, CARD_DEVICE_NAME, parse_capability

_QUERY = ("--query-gpu=compute_cap,name", "--format=csv,noheader")
_TIMEOUT_S = 3.0
_PREFIXES = ("nvidia ", "geforce ", "tesla ")


def local_gpus() -> tuple[tuple[str, str | None, str], ...]:
    """(capability, card alias or None, name) of the GPUs here, each kind once."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return ()
    try:
        done = subprocess.run(
            [program, *_QUERY],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    if done.returncode != 0:
        return ()
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    found = [gpu for line in lines if (gpu := read_gpu(line)) is not None]
    return tuple(dict.fromkeys(found))


def read_gpu(line: str) -> tuple[str, str | None, str] | None:
    """One line of `nvidia-smi`, or None where it names no capability that is known."""
    number, comma, name = (part.strip() for part in line.partition(","))
    if not comma or not number.replace(".", "", 1).isdigit():
        return None
    try:
        capability, _ = parse_capability(number)
    except UsageError:
        return None
    return capability.name, _card(capability.name, name), name


def _card(capability: str, name: str) -> str | None:
    """The alias whose memory and device name belong to a card, where there is one."""
    for alias, device in CARD_DEVICE_NAME.items():
        if device.lower() == name.lower() and alias in BY_NAME[capability].cards:
            return alias
    key = name.lower()
    for prefix in _PREFIXES:
        key = key.removeprefix(prefix)
    key = key.replace(" ", "-")
    near = [alias for alias in BY_NAME[capability].cards if key == alias]
    return near[0] if near else None
