"""Opening what verdicts rest on besides the tree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sgl_audit.audit.verdicts.knowledge import FLASHINFER, Knowledge, pins_of
from sgl_audit.errors import SglAuditError
from sgl_audit.evaluate.world import DEFAULT_CUDNN
from sgl_audit.kernels.advisories import load_advisories
from sgl_audit.model.kernels import BinaryReport
from sgl_audit.model.source import Diagnostic, SourceTree
from sgl_audit.source import Wanted, open_pinned, open_source

PACKAGE = "flashinfer"
NONE = "none"
# Distribution of prebuilt kernels -> the package it installs.
IMPORTED = {"sgl_kernel": "sgl_kernel", "sglang_kernel": "sgl_kernel"}


def open_knowledge(
    tree: SourceTree,
    *,
    flashinfer: str | None,
    advisories: Path | None,
    binaries: tuple[Path, ...],
    assume: tuple[tuple[str, str], ...],
    offline: bool,
    fetch: bool,
    cache_dir: Path | None,
    notify: Callable[[str], None],
) -> Knowledge:
    """FlashInfer's source where it can be had, the advisories, and the binaries that are named.

    Raises:
        SglAuditError: the FlashInfer that was asked for cannot be opened, or the folder of
            advisories or a binary cannot be read.
    """
    source, missing = _flashinfer(tree, flashinfer, offline, fetch, cache_dir, notify)
    known, diagnostics = load_advisories(advisories)
    if source is None:
        diagnostics = (*diagnostics, Diagnostic(f"FlashInfer is not read: {missing}"))
    assumed = (
        assume
        if any(name == "cudnn" for name, _ in assume)
        else (
            *assume,
            ("cudnn", DEFAULT_CUDNN),
        )
    )
    return Knowledge(
        tree,
        known,
        pins_of(tree.info, assumed, source),
        source,
        missing,
        dict(_read(path) for path in binaries),
        diagnostics,
    )


def _flashinfer(
    tree: SourceTree,
    spec: str | None,
    offline: bool,
    fetch: bool,
    cache_dir: Path | None,
    notify: Callable[[str], None],
) -> tuple[SourceTree | None, str]:
    if spec == NONE:
        return None, "asked not to"
    if spec is not None:
        return _asked_for(spec, offline, cache_dir, notify), ""
    pin = tree.info.distribution.pin(FLASHINFER, PACKAGE)
    if pin is None:
        return None, f"{tree.info.label} pins no release of it"
    try:
        found = open_pinned(
            tree.info,
            Wanted(PACKAGE, FLASHINFER),
            pin,
            lost="which of FlashInfer's kernels run where",
            fetch=fetch,
            offline=offline,
            cache_dir=cache_dir,
            notify=notify,
        )
    except SglAuditError as error:
        return None, str(error).rstrip(".")
    return found, ""


def _asked_for(
    spec: str, offline: bool, cache_dir: Path | None, notify: Callable[[str], None]
) -> SourceTree:
    """Only the pinned release may be missing; this one was asked for."""
    try:
        return open_source(
            spec,
            offline=offline,
            cache_dir=cache_dir,
            package=PACKAGE,
            distribution=FLASHINFER,
            notify=notify,
        )
    except SglAuditError as error:
        raise type(error)(f"--flashinfer: {error}") from error


def _read(path: Path) -> tuple[str, BinaryReport]:
    from sgl_audit.kernels.binary import read_binary

    report = read_binary(path)
    name = path.name.partition("-")[0].lower()
    return IMPORTED.get(name, name), report


def bare_knowledge(tree: SourceTree) -> Knowledge:
    """The packaged advisories and nothing else."""
    known, diagnostics = load_advisories(None)
    pins = pins_of(tree.info, (("cudnn", DEFAULT_CUDNN),), None)
    return Knowledge(tree, known, pins, diagnostics=diagnostics)
