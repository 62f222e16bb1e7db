"""Distribution metadata: core metadata of wheels and installed packages, and requirements."""

from __future__ import annotations

import re
from collections.abc import Iterable

from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from sgl_audit.model.source import Distribution, Pin
from sgl_audit.source.names import Notes, shown

METADATA_BYTES = 4 * 1024 * 1024
_EXTRA = re.compile(r'\bextra\s*==\s*"([^"]+)"')
_LINUX = {
    "extra": "",
    "implementation_name": "cpython",
    "implementation_version": "3.11.9",
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "platform_release": "",
    "platform_system": "Linux",
    "platform_version": "",
    "python_full_version": "3.11.9",
    "python_version": "3.11",
    "sys_platform": "linux",
}


def parse_metadata(data: bytes, fallback_name: str, notes: Notes) -> Distribution:
    """Read METADATA or PKG-INFO (core metadata: RFC 822 headers)."""
    from email.parser import HeaderParser

    headers = HeaderParser().parsestr(data.decode("utf-8", errors="replace"))
    version = headers.get("Version")
    return Distribution(
        name=canonicalize_name(str(headers.get("Name") or fallback_name).strip()),
        version=str(version).strip() if version else None,
        requires=parse_requirements(
            (str(line) for line in headers.get_all("Requires-Dist", [])), notes
        ),
    )


def parse_requirements(
    lines: Iterable[str], notes: Notes, extra: str | None = None
) -> tuple[Pin, ...]:
    """Read requirement lines as pins; those that hold on Linux with x86-64 come first.

    SGLang serves from there, and one name may have a line for each platform.

    Args:
        lines: requirement specifiers, one each.
        notes: receives a message for each line that is not a requirement.
        extra: the extra that the lines belong to, where the file says so elsewhere.
    """
    usual: list[Pin] = []
    elsewhere: list[Pin] = []
    for line in lines:
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            notes.add(f"the requirement '{shown(line)}' was not understood and is left out.")
            continue
        extras = [extra] if extra else _extras(requirement.marker)
        here = _holds_on_linux(requirement.marker)
        for name in extras or [None]:
            (usual if here or name else elsewhere).append(_pin(requirement, name))
    return tuple(usual + elsewhere)


def _pin(requirement: Requirement, extra: str | None) -> Pin:
    specifiers = list(requirement.specifier)
    exact = None
    if len(specifiers) == 1 and specifiers[0].operator in ("==", "==="):
        exact = specifiers[0].version
    return Pin(
        name=canonicalize_name(requirement.name),
        specifier=f"@ {requirement.url}" if requirement.url else str(requirement.specifier),
        version=None if exact is None or exact.endswith("*") else exact,
        extra=None if extra is None else canonicalize_name(extra),
    )


def _extras(marker: Marker | None) -> list[str | None]:
    return [] if marker is None else list(dict.fromkeys(_EXTRA.findall(str(marker))))


def _holds_on_linux(marker: Marker | None) -> bool:
    try:
        return marker is None or marker.evaluate(dict(_LINUX))
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName):
        return True
