"""Which model a launch is for: its files here, a description of it, or nothing known."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sgl_audit.errors import UsageError
from sgl_audit.launch import ModelFiles, assumed_attributes, find_model, synthetic_config

MODEL_FLAGS = ("--model-path", "--model")
_PATH_FLAG = re.compile(r"--(?:[a-z0-9-]+-)?(?:path|model)")


@dataclass(frozen=True, slots=True)
class Described:
    """What the user says of the model besides the launch.

    Attributes:
        config: a model folder or config.json.
        architecture: class name, where there is no file.
        quantization: of the checkpoint, where there is no file.
    """

    config: str | None = None
    architecture: str | None = None
    quantization: str | None = None

    def __bool__(self) -> bool:
        return bool(self.config or self.architecture or self.quantization)


@dataclass(frozen=True, slots=True)
class Model:
    """The model of a launch.

    Attributes:
        argv: the server's arguments, model folders as absolute paths.
        config: folder that stands for the model, or None where the launch's own path does.
        known: whether there is anything to read.
        notes: what was taken, for the reader.
    """

    argv: tuple[str, ...]
    config: str | None = None
    known: bool = True
    notes: tuple[str, ...] = ()


def find(argv: Sequence[str], described: Described, folder: Path) -> Model:
    """The model of a launch.

    Args:
        folder: an empty folder of ours, for a description that has no file.

    Raises:
        UsageError: what is named is no model, or two descriptions contradict each other.
    """
    arguments = absolute_paths(argv)
    for flag, value in (
        ("--model-config", described.config),
        ("--model-arch", described.architecture),
        ("--quantization-of", described.quantization),
    ):
        if value is not None and not value.strip():
            raise UsageError(f"{flag} is empty; give a value or drop it")
    if described.quantization and not described.architecture:
        raise UsageError(
            "--quantization-of needs --model-arch NAME, the class in the checkpoint's "
            "architectures (Qwen3MoeForCausalLM, for example)"
        )
    if described.architecture:
        if described.config:
            raise UsageError("--model-config and --model-arch both describe the model; give one")
        return _assumed(arguments, described.architecture, described.quantization, folder)
    if described.config:
        return _given(arguments, described.config, folder)
    return _named(arguments)


def absolute_paths(argv: Sequence[str]) -> tuple[str, ...]:
    """The arguments with relative model folders made absolute, as only such are read."""
    found: list[str] = []
    flag = ""
    for word in argv:
        name, equals, value = word.partition("=")
        if equals and _PATH_FLAG.fullmatch(name):
            found.append(f"{name}={_absolute(value)}")
        else:
            found.append(_absolute(word) if _PATH_FLAG.fullmatch(flag) else word)
        flag = word
    return tuple(found)


def model_of(argv: Sequence[str]) -> str | None:
    """The model path of a launch."""
    return _value_of(argv, MODEL_FLAGS)


def _value_of(argv: Sequence[str], flags: Sequence[str]) -> str | None:
    """The value of a flag as argparse would take it: the last one."""
    found = None
    for index, word in enumerate(argv):
        name, equals, value = word.partition("=")
        if name in flags:
            found = value if equals else next(iter(argv[index + 1 : index + 2]), None)
    return found


def _absolute(word: str) -> str:
    path = Path(word)
    try:
        local = bool(word) and not path.is_absolute() and path.is_dir()
    except OSError:
        return word
    return str(path.resolve()) if local else word


def _assumed(
    argv: tuple[str, ...], architecture: str, quantization: str | None, folder: Path
) -> Model:
    config = synthetic_config(architecture, quantization)
    (folder / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    shape = ", ".join(assumed_attributes(config))
    what = f"{architecture} {quantization or 'unquantized'}"
    note = f"the model is assumed: {what}, a decoder of ordinary size (assumed: {shape})"
    return Model(_with_model(argv, architecture), str(folder), notes=(note,))


def _given(argv: tuple[str, ...], config: str, folder: Path) -> Model:
    files = find_model(config)
    if files is None:
        raise UsageError(
            f"--model-config {config} is no folder, no file and no model in the local hub cache; "
            "check the path"
        )
    root = _as_folder(files, folder)
    return Model(_with_model(argv, str(root)), str(root), notes=_cache_note(files))


def _named(argv: tuple[str, ...]) -> Model:
    name = model_of(argv)
    if name is None:
        return Model(argv)
    files = find_model(name, revision=_value_of(argv, ("--revision",)))
    if files is None:
        return Model(argv, known=False, notes=(_unknown_note(name),))
    config = None if Path(name).is_dir() else str(files.root)
    return Model(argv, config, notes=(*_file_note(name, files), *_cache_note(files)))


def check_path(argv: Sequence[str]) -> None:
    """Refuse a model folder that should be here.

    Raises:
        UsageError: the launch names its model by an absolute path at which nothing lies.
    """
    name = model_of(argv)
    if name is not None and Path(name).is_absolute() and not os.path.lexists(name):
        raise UsageError(
            f"model path {name} does not exist; correct it, or give --model-config PATH of the "
            "model's config.json, or --model-arch NAME with --quantization-of"
        )


def _unknown_note(name: str) -> str:
    if "$" in name:
        return (
            f"the model path {name} holds a variable that is not set; give --assume "
            "env.NAME=VALUE, or --model-config PATH"
        )
    return (
        f"nothing is known of model {name}, which is not on this machine; give --model-config "
        "PATH, or --model-arch NAME with --quantization-of"
    )


def _file_note(name: str, files: ModelFiles) -> tuple[str, ...]:
    if not Path(name).is_file():
        return ()
    return (f"{name} stands for the folder {files.root}, which is what a server takes",)


def _as_folder(files: ModelFiles, folder: Path) -> Path:
    if files.source != "file":
        return files.root
    # A config under another name stands for config.json of a folder that has nothing else.
    (folder / "config.json").write_bytes(files.read("config.json"))
    return folder


def _cache_note(files: ModelFiles) -> tuple[str, ...]:
    if files.source != "hub cache":
        return ()
    return (f"model {files.label} is read from the local Hugging Face cache",)


def _with_model(argv: tuple[str, ...], name: str) -> tuple[str, ...]:
    return argv if model_of(argv) is not None else ("--model-path", name, *argv)
