"""Launches resolved, one on several capabilities or many in a batch."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sgl_audit import api
from sgl_audit.cli.models import Described, Model, find
from sgl_audit.cli.remarks import machine_remarks
from sgl_audit.cli.stderr import Feedback
from sgl_audit.errors import EXIT_CLEAN, EXIT_FINDINGS, EXIT_INCOMPLETE, UsageError
from sgl_audit.launch import read_batch
from sgl_audit.model.resolution import Launch, Outcome, Resolution
from sgl_audit.model.source import SourceTree

if TYPE_CHECKING:
    from sgl_audit.audit.verdicts.knowledge import Knowledge

_NO_CONFIG = (
    "the model's configuration is not at hand: give --model-config, or --model-arch and "
    "--quantization-of"
)


def resolve_each(
    tree: SourceTree,
    libraries: Iterable[SourceTree],
    launches: Sequence[Launch],
    every: bool,
    feedback: Feedback,
    known: Knowledge | None = None,
) -> list[Resolution]:
    """Each launch with its trace; the tree is parsed once for all of them.

    Args:
        known: judge what each launch runs by this; without it no verdicts are given.
    """
    from sgl_audit.audit.modelless import resolve_without_model
    from sgl_audit.audit.verdicts.judge import judge
    from sgl_audit.audit.verdicts.settings import settings_of
    from sgl_audit.evaluate.entry import Follow
    from sgl_audit.evaluate.resolver import Resolver, has_model

    resolver = Resolver(tree, libraries)
    progress = feedback.progress("resolving")
    found = []
    for launch in launches:
        if not has_model(launch):
            found.append(
                resolve_without_model(tree, launch, libraries=tuple(libraries), every=every)
            )
            continue
        follow = Follow.NOTHING if known is None else Follow.ATTENTION
        answer = resolver.resolve(launch, trace=True, every=every, follow=follow)
        if known is not None:
            settings = settings_of(resolver.prepare(launch))
            choices = {name: setting.choices for name, setting in settings.items()}
            answer = replace(answer, verdicts=judge(answer, known, choices))
        found.append(answer)
        progress(len(found), len(launches))
    return found


def finished(
    resolution: Resolution, model: Model, notes: Sequence[str], options: Collection[str]
) -> Resolution:
    """The resolution as it is shown: with our notes, and narrowed where that was asked."""
    shown = resolution if model.known else without_model(resolution)
    if options:
        shown = replace(
            shown,
            options=tuple(value for value in shown.options if value.name in options),
            runtime=tuple(value for value in shown.runtime if value.name in options),
        )
    # Before values are narrowed: the sizes are asked for whatever is shown.
    return replace(shown, notes=(*machine_remarks(resolution), *notes, *shown.notes))


def without_model(resolution: Resolution) -> Resolution:
    """A refusal for want of a file that only we lack is no answer about the launch."""
    if resolution.outcome is Outcome.UNKNOWN and resolution.reason not in (None, _NO_CONFIG):
        # What the program asked of the unknown configuration tells a reader little by itself.
        notes = (*resolution.notes, f"followed up to: {resolution.reason}")
        return replace(resolution, reason=_NO_CONFIG, notes=notes)
    refusal = resolution.rejection
    if refusal is None or refusal.place is None or refusal.type == "SystemExit":
        return resolution
    outside = not refusal.place.file.startswith("sglang/")
    if not (outside or "config.json" in refusal.message):
        return resolution
    return replace(resolution, outcome=Outcome.UNKNOWN, rejection=None, reason=_NO_CONFIG)


def exit_code(resolutions: Iterable[Resolution]) -> int:
    """0 accepted, 1 where any launch is refused, at once or later, else 3 where any is unknown."""
    found = list(resolutions)
    if any(item.outcome is Outcome.REJECTED or item.late for item in found):
        return EXIT_FINDINGS
    unknown = any(item.outcome is Outcome.UNKNOWN for item in found)
    return EXIT_INCOMPLETE if unknown else EXIT_CLEAN


def resolve_file(
    tree: SourceTree,
    libraries: tuple[SourceTree, ...],
    file: Path,
    assume: tuple[tuple[str, str], ...],
    jobs: int,
    feedback: Feedback,
) -> Iterator[Resolution]:
    """The answers to a batch file, in its order."""
    models = BatchModels()
    launches = [models.prepared(launch, assume) for launch in read_batch(file)]
    answers = api.resolve_batch(
        tree,
        launches,
        libraries=libraries,
        jobs=jobs,
        progress=feedback.progress("resolving"),
    )
    for launch, answer in zip(launches, answers, strict=True):
        yield answer if models.known(launch) else without_model(answer)


class BatchModels:
    """The models of a batch: the same few folders in many launches."""

    def __init__(self) -> None:
        self._found: dict[tuple[tuple[str, ...], str | None], Model] = {}

    def prepared(self, launch: Launch, assume: tuple[tuple[str, str], ...]) -> Launch:
        """The launch with its model found, and with the assumptions that it does not make."""
        own = {name for name, _ in launch.assume}
        more = tuple((name, value) for name, value in assume if name not in own)
        model = self._model(launch)
        ready = replace(
            launch,
            argv=model.argv,
            assume=(*launch.assume, *more),
            model_config=model.config or launch.model_config,
        )
        self._found[ready.argv, ready.model_config] = model
        return ready

    def known(self, launch: Launch) -> bool:
        """Whether there is anything to read of the launch's model."""
        return self._found[launch.argv, launch.model_config].known

    def _model(self, launch: Launch) -> Model:
        if launch.model_config is not None:
            return Model(launch.argv, launch.model_config)
        try:
            # No description, so nothing is written: the folder is not used.
            return find(launch.argv, Described(), Path(tempfile.gettempdir()))
        except UsageError:
            # One wrong model must not end the batch; its own answer says what is wrong with it.
            return Model(launch.argv)
