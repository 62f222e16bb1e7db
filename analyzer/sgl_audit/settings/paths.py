"""Paths of a configuration file, which are relative to the file and not to where one stands."""

from __future__ import annotations

import os
from pathlib import Path


def located(text: str, folder: Path) -> str:
    """The path as it is reached from the current folder; "" stays ""."""
    if not text:
        return ""
    path = folder / Path(text).expanduser()
    try:
        return os.path.relpath(path)
    except ValueError:
        # On another drive there is no way from here to there.
        return str(path)


def located_source(text: str, folder: Path) -> str:
    """A SOURCE; what names no file or folder is left as it is, such as `sglang==0.5.23`."""
    start, at, ref = text.rpartition("@")
    if text and (folder / text).exists():
        return located(text, folder)
    if at and start and (folder / start).is_dir():
        return f"{located(start, folder)}@{ref}"
    return text
