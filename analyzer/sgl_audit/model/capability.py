"""Compute capabilities and the card names people use for them.

Facts: NVIDIA's and AMD's published tables of products and compute capabilities; memory sizes in
MiB are what `nvidia-smi --query-gpu=memory.total` prints for that card.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from sgl_audit.errors import UsageError


class Vendor(StrEnum):
    """Who makes the device; decides which platform gates hold."""

    NVIDIA = "nvidia"
    AMD = "amd"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Capability:
    """One concrete compute capability with the card that stands for it.

    Attributes:
        name: "sm120" or "gfx942".
        major: CUDA major (for ROCm the number torch reports for that gfx target).
        minor: CUDA minor.
        device_name: what the driver calls the representative card.
        memory_mib: memory of the representative card in MiB.
    """

    name: str
    vendor: Vendor
    major: int
    minor: int
    device_name: str
    memory_mib: int
    cards: tuple[str, ...] = ()

    @property
    def number(self) -> int:
        """Major and minor as one number, as in sm_120."""
        return self.major * 10 + self.minor


_NVIDIA = (
    ("sm75", 7, 5, "Tesla T4", 15360, ("t4", "rtx-2080")),
    ("sm80", 8, 0, "NVIDIA A100-SXM4-80GB", 81920, ("a100", "a30")),
    ("sm86", 8, 6, "NVIDIA A40", 46068, ("a40", "a10", "a6000", "rtx-3090", "rtx-a6000")),
    ("sm87", 8, 7, "Orin", 62842, ("orin", "jetson-orin")),
    ("sm89", 8, 9, "NVIDIA L40S", 46068, ("l40s", "l40", "l4", "rtx-4090", "rtx-6000-ada")),
    ("sm90", 9, 0, "NVIDIA H100 80GB HBM3", 81559, ("h100", "h200", "h20", "gh200")),
    ("sm100", 10, 0, "NVIDIA B200", 183359, ("b200", "gb200", "b100")),
    ("sm103", 10, 3, "NVIDIA B300 SXM6 AC", 275040, ("b300", "gb300")),
    ("sm110", 11, 0, "NVIDIA Thor", 125772, ("thor", "jetson-thor")),
    (
        "sm120",
        12,
        0,
        "NVIDIA RTX PRO 6000 Blackwell Server Edition",
        97887,
        ("rtx-pro-6000", "rtx-5090", "rtx-5080", "rtx-5070", "rtx-6000d"),
    ),
    ("sm121", 12, 1, "NVIDIA GB10", 122502, ("dgx-spark", "gb10", "spark")),
)
_AMD = (
    ("gfx942", 9, 4, "AMD Instinct MI300X", 196592, ("mi300x", "mi308x", "mi325x")),
    ("gfx950", 9, 5, "AMD Instinct MI355X", 294896, ("mi350x", "mi355x")),
    ("gfx1100", 11, 0, "AMD Radeon RX 7900 XTX", 24560, ("rx-7900-xtx", "w7900")),
    ("gfx1201", 12, 0, "AMD Radeon RX 9070 XT", 16304, ("rx-9070", "r9700")),
)
# Cards of a capability whose memory differs from its representative card.
CARD_MEMORY_MIB = {
    "rtx-5090": 32607,
    "rtx-5080": 16303,
    "rtx-5070": 12227,
    "rtx-4090": 24564,
    "rtx-3090": 24576,
    "l4": 23034,
    "a10": 23028,
    "a30": 24576,
    "a6000": 49140,
    "rtx-a6000": 49140,
    "rtx-6000-ada": 49140,
    "h200": 143771,
    "h20": 97871,
    "gb200": 189471,
    "rtx-2080": 8192,
}
CARD_DEVICE_NAME = {
    "rtx-5090": "NVIDIA GeForce RTX 5090",
    "rtx-5080": "NVIDIA GeForce RTX 5080",
    "rtx-5070": "NVIDIA GeForce RTX 5070",
    "rtx-4090": "NVIDIA GeForce RTX 4090",
    "rtx-3090": "NVIDIA GeForce RTX 3090",
    "h200": "NVIDIA H200",
    "h20": "NVIDIA H20",
    "gb200": "NVIDIA GB200",
    "gb300": "NVIDIA GB300",
    "l4": "NVIDIA L4",
}

CAPABILITIES: tuple[Capability, ...] = tuple(
    Capability(name, Vendor.NVIDIA, major, minor, device, memory, cards)
    for name, major, minor, device, memory, cards in _NVIDIA
) + tuple(
    Capability(name, Vendor.AMD, major, minor, device, memory, cards)
    for name, major, minor, device, memory, cards in _AMD
)
BY_NAME: dict[str, Capability] = {capability.name: capability for capability in CAPABILITIES}
_ALIASES: dict[str, str] = {
    card: capability.name for capability in CAPABILITIES for card in capability.cards
}
# A machine without a GPU. No report is made for it: it is there for launches with --device cpu.
HOST = Capability("cpu", Vendor.NONE, 0, 0, "", 0)
ALL_CAPABILITIES: tuple[str, ...] = tuple(capability.name for capability in CAPABILITIES)
NVIDIA_NAMES: tuple[str, ...] = tuple(c.name for c in CAPABILITIES if c.vendor is Vendor.NVIDIA)


def _compact(name: str) -> str:
    return name.replace("-", "")


def parse_capability(text: str) -> tuple[Capability, str | None]:
    """Read `sm120`, `sm_120`, `120`, `12.0`, `gfx942` or a card name such as `rtx-5090`.

    Returns:
        The capability and, where a card was named, that card's alias.

    Raises:
        UsageError: nothing of that name is known; the sentence lists what is.
    """
    key = text.strip().lower().replace("_", "").replace(" ", "-")
    card = next((card for card in _ALIASES if _compact(card) == _compact(key)), None)
    if card is not None:
        return BY_NAME[_ALIASES[card]], card
    # 12.00 is 12.0.
    key = re.sub(r"\.0+$", ".0", key) if re.fullmatch(r"[0-9]+\.0+", key) else key
    candidates = (key, f"sm{key}", f"sm{key.replace('.', '')}", f"sm{key.rstrip('af')}", key[2:])
    for candidate in candidates:
        name = candidate.rstrip("af") if candidate.startswith("sm") else candidate
        if name in BY_NAME:
            return BY_NAME[name], None
    import difflib

    # Another number is another device, and none that lies near it is what was meant.
    names = () if re.fullmatch(r"(?:sm|gfx)?-?[0-9.]+[a-z]?", key) else _ALIASES
    near = difflib.get_close_matches(key, names, 1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise UsageError(
        f"--arch {text!r} is no compute capability or card that sgl-audit knows.{hint} "
        f"Known: {', '.join(BY_NAME)}, and cards such as {', '.join(sorted(_ALIASES)[:4])}."
    )
