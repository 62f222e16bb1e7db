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
from sgl_audit.source import open_source

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
    cache_dir: Path | None,
    notify: Callable[[str], None],
) -> Knowledge:
    """FlashInfer's source where it can be had, the advisories, and the binaries that are named.

    Raises:
        SglAuditError: the FlashInfer that was asked for cannot be opened, or the folder of
            advisories or a binary cannot be read.
    """
    source, missing = _flashinfer(tree, flashinfer, offline, cache_dir, notify)
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
    cache_dir: Path | None,
    notify: Callable[[str], None],
) -> tuple[SourceTree | None, str]:
    pin = tree.info.distribution.pin(FLASHINFER, PACKAGE)
    wanted = spec if spec is not None else (f"{FLASHINFER}=={pin}" if pin else NONE)
    if wanted == NONE:
        return None, "asked not to" if spec else f"{tree.info.label} pins no release of it"
    try:
        found = open_source(
            wanted,
            offline=offline,
            cache_dir=cache_dir,
            package=PACKAGE,
            distribution=FLASHINFER,
            notify=notify,
        )
    except SglAuditError as error:
        if spec is not None:
            # Only the pinned release may be missing; another one was asked for.
            raise type(error)(f"--flashinfer: {error}") from error
        return None, str(error).rstrip(".")
    return found, ""


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
