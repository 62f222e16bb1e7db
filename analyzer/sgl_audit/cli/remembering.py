"""Answers of this command line that are kept between runs, and `--no-cache`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from sgl_audit.answers import AnswerStore
    from sgl_audit.audit.verdicts.knowledge import Knowledge
    from sgl_audit.model.resolution import Launch
    from sgl_audit.model.source import SourceTree

_ANEW = "sgl_audit.no_cache"

_Answer = TypeVar("_Answer")


def anew(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    """Take note of `--no-cache`."""
    context.meta[_ANEW] = value


def is_anew() -> bool:
    """Whether `--no-cache` was given."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_ANEW))


def once(
    kind: str,
    parts: Iterable[object] | None,
    cache_dir: Path | None,
    form: type[_Answer],
    make: Callable[[], _Answer],
) -> _Answer:
    """An answer that was kept, else the one that is made now and then kept.

    Args:
        parts: all that the answer depends on; None where that cannot be told, and nothing is kept.
    """
    store = store_of(cache_dir)
    if parts is None or store is None:
        return make()
    from sgl_audit.answers import key_of

    return store.once(key_of(kind, parts), form, make)


def store_of(cache_dir: Path | None) -> AnswerStore | None:
    """Where answers and their parts are kept; None with `--no-cache`."""
    if is_anew():
        return None
    from sgl_audit.answers import AnswerStore

    return AnswerStore(cache_dir)


def of_trees(*trees: SourceTree | None) -> tuple[str, ...]:
    """What an answer depends on of the sources it is read from."""
    from sgl_audit.answers import tree_key

    return tuple(tree_key(tree) for tree in trees)


def of_knowledge(known: Knowledge | None) -> tuple[object, ...]:
    """What an answer depends on of the knowledge that verdicts rest on."""
    return ("nothing known",) if known is None else known.parts


def of_launches(launches: Sequence[Launch]) -> tuple[object, ...] | None:
    """What an answer depends on of its launches and of the model files that they name.

    None where that is too much to look through, or where a file of settings is named, which may
    name further folders.
    """
    from sgl_audit.answers import folder_key

    words = {w.partition("=")[2] or w for launch in launches for w in launch.argv}
    local = [Path(word) for word in sorted(words) if word.startswith("/")]
    if any(path.is_file() for path in local):
        return None
    named = [(str(path), folder_key(path)) for path in local]
    # A model that is only described lies in a folder of ours, with another name each time.
    described = [folder_key(_folder(launch.model_config)) for launch in launches]
    if None in described or any(key is None for _, key in named):
        return None
    return (tuple(replace(launch, model_config=None) for launch in launches), named, described)


def _folder(config: str | None) -> Path | None:
    if config is None:
        return None
    path = Path(config)
    return path if path.is_dir() else path.parent
