"""The small text files that describe a model: found, listed and read, never interpreted here."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from sgl_audit.errors import UsageError
from sgl_audit.launch.hub import find_snapshot, hub_cache
from sgl_audit.launch.structured import load_json
from sgl_audit.launch.text import decode, read_bounded, shown, shown_path

CONFIG = "config.json"
# Model descriptions besides config.json from which SGLang can start.
_ALTERNATIVES = ("params.json", "adapter_config.json", "model_index.json")
_TEXT_SUFFIXES = frozenset({".json", ".yaml", ".yml", ".jinja", ".txt"})
_READ_LIMIT = 32 * 2**20
_MOST_ENTRIES = 20_000


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The folder that stands for a model.

    Attributes:
        root: the folder, symbolic links resolved.
        names: the small text files in it, sorted.
        entries: every name in it, sorted, so that a question for a file can be answered.
        source: "folder", "file" (one config.json stands for the model) or "hub cache".
        label: the model path as it was given.
        boundary: the folder that links in it may lead into.
        only: the file that is taken for config.json where `source` is "file".
    """

    root: Path
    names: tuple[str, ...]
    entries: tuple[str, ...]
    source: str
    label: str
    boundary: Path = field(repr=False)
    only: Path | None = None

    def has(self, name: str) -> bool:
        """Whether the folder has an entry of that name."""
        return name in self.entries

    def read(self, name: str) -> bytes:
        """The bytes of one of `names`.

        Raises:
            UsageError: no such file, it is larger than 32 MB, or it is a link out of the folder.
        """
        if name not in self.names:
            raise UsageError(
                f"model {shown(self.label)} has no text file {shown(name)}; check the folder "
                f"{shown_path(self.root)}."
            )
        path = self.only if self.only is not None else self.root / name
        if not path.resolve().is_relative_to(self.boundary):
            raise UsageError(
                f"{shown_path(path)} is a link out of the model folder, which sgl-audit does not "
                f"follow; copy the file into the folder."
            )
        return read_bounded(path.resolve(), _READ_LIMIT, "model file")


def find_model(
    model_path: str, *, revision: str | None = None, hf_cache: Path | None = None
) -> ModelFiles | None:
    """The files of a model folder, of a config.json, or of a repository in the local hub cache.

    Args:
        model_path: folder, file, or `org/name`.
        revision: branch, tag or commit of a hub repository.
        hf_cache: the cache folder; by default where huggingface_hub keeps it.

    Returns:
        None where nothing of that name is on this machine.

    Raises:
        UsageError: it is a folder without config.json, a file that is no JSON, or unreadable.
    """
    if not model_path or "\0" in model_path:
        return None
    path = Path(model_path)
    try:
        path = path.expanduser()
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, RuntimeError, ValueError):
        # RuntimeError: `~name` of no user; ValueError: text that no path can hold.
        return _from_cache(model_path, revision, hf_cache or hub_cache())
    except OSError as error:
        raise UsageError(
            f"model path {shown_path(path)} cannot be read ({error.strerror}); check it."
        ) from None
    if stat.S_ISDIR(mode):
        return _from_folder(path.resolve(), "folder", model_path)
    return _from_file(path, model_path)


def load_config(files: ModelFiles, name: str = CONFIG) -> dict[str, object]:
    """One JSON file of the model, read like SGLang reads it: NaN and Infinity are numbers.

    Raises:
        UsageError: the file is missing, too large, no JSON, nested too deep, or no object.
    """
    origin = f"{name} of model {shown(files.label)}"
    data = load_json(decode(files.read(name), origin), origin)
    if not isinstance(data, dict):
        raise UsageError(
            f"{origin} is {shown(data, 40)}, not a JSON object; give a model's {name}."
        )
    return data


def _from_cache(name: str, revision: str | None, cache: Path) -> ModelFiles | None:
    snapshot = find_snapshot(name, revision, cache)
    if snapshot is None:
        return None
    return _from_folder(snapshot.resolve(), "hub cache", name)


def _boundary(root: Path) -> Path:
    """The folder that links may lead into: entries of a hub snapshot link to blobs/ beside it."""
    repository = root.parent.parent
    if root.parent.name == "snapshots" and repository.name.startswith("models--"):
        return repository
    return root


def _from_folder(root: Path, source: str, label: str) -> ModelFiles | None:
    try:
        with os.scandir(root) as scan:
            entries = sorted(entry.name for entry in islice(scan, _MOST_ENTRIES))
    except OSError as error:
        raise UsageError(
            f"model folder {shown_path(root)} cannot be listed ({error.strerror}); check it."
        ) from None
    if not any(name in entries for name in (CONFIG, *_ALTERNATIVES)):
        if source == "hub cache":
            return None
        raise UsageError(
            f"model folder {shown_path(root)} has no config.json; give the folder that holds it, "
            f"or describe the model with --model-arch NAME."
        )
    names = tuple(name for name in entries if Path(name).suffix.lower() in _TEXT_SUFFIXES)
    return ModelFiles(root, names, tuple(entries), source, label, _boundary(root))


def _from_file(path: Path, label: str) -> ModelFiles | None:
    if path.suffix.lower() != ".json":
        raise UsageError(
            f"model path {shown_path(path)} is a file but no JSON; give a model folder, its "
            f"config.json, or --model-config PATH."
        )
    folder = path.parent.resolve()
    if path.name == CONFIG:
        return _from_folder(folder, "folder", label)
    # The user named this very file, so a link is followed wherever it leads.
    only = path.resolve()
    return ModelFiles(folder, (CONFIG,), (CONFIG,), "file", label, only.parent, only)
