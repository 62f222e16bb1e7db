"""Which releases lie between two: those that pip lists, those in the cache, the tags of a clone."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version

from sgl_audit.errors import SourceError, UsageError
from sgl_audit.source.cache import cache_root
from sgl_audit.source.gitref import split_git_spec
from sgl_audit.source.names import shown
from sgl_audit.source.plumbing import GitFault, ask
from sgl_audit.source.pypi import pip_command

_RANGE = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*?)\s*==\s*(?P<first>\S+?)\.\.(?P<last>\S+)")
_LISTED = re.compile(r"Available versions:\s*(.*)")
_TAG = re.compile(r"v?(\d[\w.]*)")
_TIMEOUT_S = 60


@dataclass(frozen=True, slots=True)
class Found:
    """One release that can be opened. `here` says that nothing need be fetched for it."""

    version: str
    spec: str
    here: bool


def releases_between(
    text: str, *, offline: bool, cache_dir: Path | None, notify: Callable[[str], None]
) -> tuple[Found, ...]:
    """The releases of `NAME==A..B` or `DIR@TAG..TAG`, oldest first, both ends included.

    Raises:
        UsageError: it is no such range, or its ends are the wrong way round.
        SourceError: an end is no release that can be had.
    """
    git = split_git_spec(text)
    if git is not None and ".." in git[1]:
        first, _, last = git[1].partition("..")
        return _of_git(git[0], first, last)
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            f"'{shown(text)}' is no range of releases; write sglang==0.5.4..0.5.23, or "
            "DIR@v0.5.4..v0.5.23 for the tags of a clone"
        )
    oldest, newest = _version(match["first"]), _version(match["last"])
    if oldest > newest:
        raise UsageError(f"{oldest} comes after {newest}; write the older release first")
    return _of_pypi(match["name"], oldest, newest, offline, cache_dir, notify)


def _version(text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion:
        raise UsageError(f"'{shown(text)}' is no version; write one such as 0.5.9") from None


def _of_pypi(
    name: str,
    first: Version,
    last: Version,
    offline: bool,
    cache_dir: Path | None,
    notify: Callable[[str], None],
) -> tuple[Found, ...]:
    cached = set(cached_versions(name, cache_dir))
    listed: Iterable[Version] = () if offline else _asked(name, notify)
    known = sorted(v for v in {*cached, *listed} if first <= v <= last)
    # The ends are asked for by name; where the index is not to be had they are tried all the same.
    known = sorted({*known, first, last})
    if offline:
        known = [version for version in known if version in cached]
    if len(known) < 2:
        raise SourceError(
            f"there are no two releases of {shown(name)} between {first} and {last} "
            f"{'in the cache, and --offline fetches none' if offline else 'to compare'}"
        )
    return tuple(Found(str(v), f"{name}=={v}", v in cached) for v in known)


def cached_versions(name: str, cache_dir: Path | None) -> list[Version]:
    """The releases whose wheels are in the cache, sorted."""
    found = []
    for folder in (cache_root(cache_dir) / "wheels" / name).glob("*"):
        try:
            version = Version(folder.name)
        except InvalidVersion:
            continue
        if any(folder.glob("*.whl")):
            found.append(version)
    return sorted(found)


def _asked(name: str, notify: Callable[[str], None]) -> list[Version]:
    """The releases that the user's pip lists; none where it cannot."""
    arguments = ("index", "versions", "--disable-pip-version-check", "--no-input", name)
    try:
        done = subprocess.run(
            [*pip_command(name), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        done = None
    listed = _LISTED.search(done.stdout.decode("utf-8", "replace")) if done is not None else None
    if listed is None:
        notify(f"pip could not list the releases of {shown(name)}; looking at those in the cache")
        return []
    found = []
    for text in listed[1].split(","):
        try:
            found.append(Version(text.strip()))
        except InvalidVersion:
            continue
    return found


def _of_git(directory: Path, first: str, last: str) -> tuple[Found, ...]:
    ends = [_tag_version(first), _tag_version(last)]
    if ends[0] > ends[1]:
        raise UsageError(f"{shown(first)} comes after {shown(last)}; write the older tag first")
    try:
        output = ask(directory, "for-each-ref", "--format=%(refname:strip=2)", "refs/tags")
    except GitFault as error:
        raise SourceError(
            f"git cannot list the tags of {shown(directory)} ({shown(error)}); give a clone"
        ) from error
    tags: dict[Version, str] = {}
    for tag in output.decode("utf-8", "replace").splitlines():
        match = _TAG.fullmatch(tag)
        if match is not None:
            try:
                version = Version(match[1])
            except InvalidVersion:
                continue
            if ends[0] <= version <= ends[1]:
                tags[version] = tag
    for name, end in ((first, ends[0]), (last, ends[1])):
        if end not in tags:
            raise SourceError(f"{shown(name)} is no tag of {shown(directory)}; see git tag")
    return tuple(Found(str(v), f"{directory}@{tags[v]}", True) for v in sorted(tags))


def _tag_version(tag: str) -> Version:
    match = _TAG.fullmatch(tag)
    if match is None:
        raise UsageError(f"'{shown(tag)}' is no version tag; write one such as v0.5.9")
    return _version(match[1])
