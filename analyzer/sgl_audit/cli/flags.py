"""Flags that a version does not have: the nearest one it has, and other versions that have it."""

from __future__ import annotations

import difflib
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from sgl_audit.model.resolution import Resolution
from sgl_audit.model.source import SourceTree
from sgl_audit.source.cache import cache_root

_UNKNOWN = "unrecognized arguments:"
_DECLARING = re.compile(r"sglang/srt/(?:server_args\.py|arg_groups/.*\.py)")
_FLAG = re.compile(rb"""["'](--[a-z0-9][a-z0-9-]*)["']""")
# Newer trees make the flag from the field: `moe_runner_backend: A[str, Arg(...)]`.
_FIELD = re.compile(rb"^    ([a-z][a-z0-9_]*)\s*:", re.MULTILINE)
_LIKE_A_FLAG = 0.8
_MOST_WHEELS = 40
_MOST_BYTES = 4 * 2**20


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another version at hand, and whether it has a flag."""

    version: Version
    has: bool


def explain_unknown_flags(
    resolutions: Sequence[Resolution],
    tree: SourceTree,
    cache_dir: Path | None,
    source: str | None,
) -> list[Resolution]:
    """The resolutions, refusals of unknown flags with what is known of these flags."""
    if not any(unknown_flags(item) for item in resolutions):
        return list(resolutions)
    flags = flags_of_tree(tree)
    wheels = wheels_at_hand(cache_root(cache_dir), source)
    found: dict[str, str] = {}
    for item in resolutions:
        for flag in unknown_flags(item):
            if flag not in found:
                found[flag] = sentence(flag, flags, tree, elsewhere(flag, wheels))
    return [_with_hints(item, found) for item in resolutions]


def unknown_flags(resolution: Resolution) -> tuple[str, ...]:
    """The flags that argparse did not know, without values."""
    refusal = resolution.rejection
    if refusal is None or refusal.type != "SystemExit" or _UNKNOWN not in refusal.message:
        return ()
    words = refusal.message.partition(_UNKNOWN)[2].split()
    return tuple(
        dict.fromkeys(word.partition("=")[0] for word in words if re.match(r"--?[A-Za-z]", word))
    )


def flags_of_tree(tree: SourceTree) -> frozenset[str]:
    """Every flag of the tree's parser, else every text in it that looks like one."""
    from sgl_audit.evaluate.reading import Reader

    try:
        found = frozenset(
            flag for option in Reader(tree).options().values() for flag in option.flags
        )
    except Exception:
        # This only makes a message better; whatever goes wrong must not end the answer.
        found = frozenset()
    return found or frozenset(
        flag
        for path in tree.files()
        if _DECLARING.fullmatch(path)
        for flag in declared(tree.read(path))
    )


def declared(text: bytes) -> Iterator[str]:
    """Flags in the text of a file that declares some."""
    for found in _FLAG.finditer(text):
        yield found[1].decode()
    for found in _FIELD.finditer(text):
        yield "--" + found[1].decode().replace("_", "-")


def wheels_at_hand(root: Path, source: str | None) -> tuple[tuple[Version, Path], ...]:
    """SGLang wheels in the cache and beside the given one, one for each version, sorted."""
    paths = list((root / "wheels" / "sglang").glob("*/*.whl"))
    if source is not None and source.endswith(".whl"):
        paths += Path(source).parent.glob("sglang-*.whl")
    found: dict[Version, Path] = {}
    for path in sorted(paths)[:_MOST_WHEELS]:
        try:
            name, version, _, _ = parse_wheel_filename(path.name)
        except InvalidWheelFilename:
            continue
        if name == "sglang":
            found.setdefault(version, path)
    return tuple(sorted(found.items()))


def elsewhere(flag: str, wheels: Iterable[tuple[Version, Path]]) -> tuple[Elsewhere, ...]:
    """Which versions have the flag; a wheel that cannot be read says nothing."""
    found = []
    for version, path in wheels:
        try:
            found.append(Elsewhere(version, flag in _flags_of_wheel(path)))
        except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError):
            continue
    return tuple(found)


def _flags_of_wheel(path: Path) -> frozenset[str]:
    with zipfile.ZipFile(path) as wheel:
        return frozenset(
            flag
            for entry in wheel.infolist()
            if _DECLARING.fullmatch(entry.filename) and entry.file_size <= _MOST_BYTES
            for flag in declared(wheel.read(entry))
        )


def sentence(
    flag: str, flags: frozenset[str], tree: SourceTree, others: Sequence[Elsewhere]
) -> str:
    """What is to be said of an unknown flag; empty where nothing is known."""
    parts = []
    # Two letters apart is a typing error; a flag of another meaning is no help.
    near = difflib.get_close_matches(flag, sorted(flags), 1, _LIKE_A_FLAG)
    if near:
        parts.append(f"nearest to {flag} is {near[0]}")
    having = [item.version for item in others if item.has]
    if having:
        parts.append(_when(flag, having, others, tree.info.distribution.version))
    return "; ".join(parts)


def _when(
    flag: str, having: Sequence[Version], others: Sequence[Elsewhere], version: str | None
) -> str:
    try:
        here = Version(version or "")
    except InvalidVersion:
        here = None
    compared = f" (releases at hand: {', '.join(str(item.version) for item in others)})"
    if here is not None and max(having) < here:
        return f"{flag} was last seen in {max(having)}{compared}"
    if here is not None and min(having) > here:
        return f"{flag} is first seen in {min(having)}{compared}"
    return f"{flag} exists in {', '.join(map(str, having))}{compared}"


def _with_hints(resolution: Resolution, found: dict[str, str]) -> Resolution:
    refusal = resolution.rejection
    hints = [found[flag] for flag in unknown_flags(resolution) if found.get(flag)]
    if refusal is None or not hints:
        return resolution
    return replace(
        resolution, rejection=replace(refusal, message=f"{refusal.message}; {'; '.join(hints)}")
    )
