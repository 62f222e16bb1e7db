"""The runs of a plan, one after the other, each in its own record."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from sgl_audit import __version__
from sgl_audit.cli.probing.asking import Setting
from sgl_audit.cli.probing.display import Display
from sgl_audit.cli.stderr import say
from sgl_audit.model.evidence import (
    Evidence,
    FailureClass,
    Ground,
    Phase,
    Prediction,
    RunLaunch,
    RunOutcome,
)
from sgl_audit.probe.command import (
    make_command,
    value_of,
    without_address,
)
from sgl_audit.probe.compare import compare
from sgl_audit.probe.machine import check_port, shortages
from sgl_audit.probe.masking import masked_variables, masked_words, without
from sgl_audit.probe.matrix import (
    DONE,
    RUN,
    SKIP,
    Axis,
    Combination,
    Entry,
    combinations,
    outward,
    refused,
)
from sgl_audit.probe.recorder import Recorder, make_key
from sgl_audit.probe.request import Request
from sgl_audit.probe.run import Run
from sgl_audit.probe.store import Kept, Store, finished

FIRST_PASS = "first-pass"


def plan(
    setting: Setting,
    axes: Sequence[Axis],
    kept: Sequence[Kept],
    *,
    again: bool,
    try_refused: bool,
    everything: bool = False,
) -> tuple[Entry, ...]:
    """What is to be run, in order, with what is known already.

    Args:
        everything: go outward from the launch as far as that can be done, in place of the whole
            product of the axes, which no machine will ever finish.
    """
    base = _base(setting, axes)
    found: tuple[Combination, ...] = (Combination((), setting.argv),)
    if everything:
        found, farthest = outward(setting.argv, axes, base)
        if farthest < len(axes):
            many = "one option" if farthest == 1 else f"{farthest} options"
            say(f"--vary-all: what differs in more than {many} is left out; name such with --vary")
    elif axes:
        found = combinations(setting.argv, axes, base)
    return tuple(
        _entry(number, item, setting, kept, again=again, try_refused=try_refused or not axes)
        for number, item in enumerate(found, 1)
    )


def _base(setting: Setting, axes: Sequence[Axis]) -> dict[str, str]:
    """The recommended line: what the launch sets, else what the resolution would choose."""
    if not axes:
        return {}
    asked = setting.predictor.asked(setting.argv)
    prediction = setting.predictor.predict(setting.argv)
    chosen = {v.name: str(v.value) for v in prediction.values if v.decided} if prediction else {}
    base = {}
    for axis in axes:
        value = asked.get(axis.option) or chosen.get(axis.option)
        if value in axis.values:
            assert value is not None
            base[axis.option] = value
    return base


def _entry(
    number: int,
    combination: Combination,
    setting: Setting,
    kept: Sequence[Kept],
    *,
    again: bool,
    try_refused: bool,
) -> Entry:
    prediction = without(setting.predictor.predict(combination.argv), setting.secrets)
    key = key_for(setting, combination)
    done = None if again else finished(kept, key)
    said = refused(prediction) if prediction is not None else ""
    why = "" if try_refused else said
    # What was skipped was never run: it is done only while it is still predicted to be refused.
    if done is not None and (why or done.outcome is not RunOutcome.SKIPPED):
        what = f"{done.outcome}: {done.failure}" if done.failure else str(done.outcome)
        return Entry(number, combination, DONE, prediction, key, what, done)
    return Entry(number, combination, SKIP if why else RUN, prediction, key, said)


def key_for(setting: Setting, combination: Combination) -> str:
    """What makes a run of this combination the same as an earlier one."""
    asked = [(p.route, p.text, p.expect, p.sampled, p.max_tokens) for p in setting.prompts]
    argv = without_address(combination.argv)
    return make_key(setting.environment, argv, setting.counted, asked)


def carry_out(
    entries: Sequence[Entry], setting: Setting, store: Store, display: Display, *, until: str
) -> Iterator[Evidence]:
    """Run what is to be run; gives each record as it is finished."""
    spent: list[float] = []
    todo = sum(entry.action == RUN for entry in entries)
    for entry in entries:
        if entry.action == DONE:
            assert entry.evidence is not None
            evidence = entry.evidence
        elif entry.action == SKIP:
            evidence = _skipped(entry, setting, store)
        else:
            start = time.monotonic()
            evidence = run_one(entry, setting, store, display)
            spent.append(time.monotonic() - start)
            todo -= 1
            if len(entries) > 1:
                display.say(_cost(spent, todo))
        yield evidence
        if until == FIRST_PASS and evidence.outcome is RunOutcome.PASSED:
            return


def _cost(spent: Sequence[float], todo: int) -> str:
    mean = sum(spent) / len(spent)
    text = f"{len(spent)} runs took {sum(spent):.0f} s"
    return f"{text}; {todo} remain, about {mean * todo:.0f} s" if todo else text


def run_one(entry: Entry, setting: Setting, store: Store, display: Display) -> Evidence:
    """Start, judge and stop one server.

    Raises:
        UsageError: its port is taken.
    """
    command = make_command(
        setting.interpreter.path, entry.combination.argv, setting.variables, setting.words.device
    )
    check_port(command.host, command.port)
    words = setting.words
    request = Request(
        command=command,
        environment=setting.environment,
        prediction=entry.prediction,
        asked=setting.predictor.asked(entry.combination.argv),
        prompts=setting.prompts,
        vocabulary=setting.vocabulary,
        deadlines=setting.deadlines,
        silence=words.silence,
        concurrency=words.concurrency,
        slow_below=words.slow_below,
        token=value_of(command.argv, "--api-key"),
    )
    launch = RunLaunch(
        argv=masked_words(without_address(entry.combination.argv)),
        command=masked_words(command.words),
        environment=masked_variables(setting.counted),
        varied=entry.combination.values,
        url=command.url,
    )
    recorder = Recorder(store, entry.key, __version__, setting.environment, launch, setting.secrets)
    recorder.update(notes=(*setting.notes, *shortages(store.folder), *_unpredicted(setting)))
    display.begin(entry.combination.name)
    with terminated_like_interrupted():
        Run(request, recorder, display.show).go()
    return recorder.evidence


def _unpredicted(setting: Setting) -> tuple[str, ...]:
    failed = setting.predictor.failed
    return (f"nothing is predicted: {failed}",) if failed else ()


def _skipped(entry: Entry, setting: Setting, store: Store) -> Evidence:
    argv = masked_words(without_address(entry.combination.argv))
    launch = RunLaunch(argv=argv, environment=setting.counted, varied=entry.combination.values)
    recorder = Recorder(store, entry.key, __version__, setting.environment, launch)
    place = _place(entry.prediction)
    return recorder.update(
        prediction=entry.prediction,
        outcome=RunOutcome.SKIPPED,
        failure=FailureClass.REFUSED_RESOLUTION if place else FailureClass.REFUSED_FLAG,
        summary=f"not started: {entry.why}",
        grounds=(Ground("source", entry.why),),
        compared=compare(entry.prediction, None, None, Phase.CHECK, {}),
    )


def _place(prediction: Prediction | None) -> bool:
    found = prediction.rejection if prediction is not None else None
    late = prediction is not None and bool(prediction.late)
    return late or (found is not None and found.place is not None)


@contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """SIGTERM and SIGHUP end a run like Ctrl-C: the server is stopped, the record kept."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {}
    # SIGINT too, even where it was ignored, as in the background of a shell. A second one leaves
    # the stopping to the guard, which ends the server when this process goes.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        before[number] = signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
