"""What `sgl-audit verify` does: the same launches resolved by SGLang and by us, and compared."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sgl_audit import api
from sgl_audit.cli.launching import read_line, server_arguments
from sgl_audit.cli.models import absolute_paths
from sgl_audit.cli.probing.device import CPU, CUDA, find_device
from sgl_audit.cli.probing.differences import Verification, compare
from sgl_audit.cli.probing.predicting import Predictor, model_folder
from sgl_audit.cli.stderr import Feedback
from sgl_audit.errors import IncompleteError, UsageError
from sgl_audit.launch import read_batch
from sgl_audit.model.capability import BY_NAME, Vendor, parse_capability
from sgl_audit.model.evidence import Device
from sgl_audit.model.resolution import Launch, Resolution
from sgl_audit.model.source import SourceTree
from sgl_audit.probe.command import CPU_ENGINE, inherited, value_of
from sgl_audit.probe.interpreter import Interpreter, ask
from sgl_audit.probe.verifying import Answers, Machine, Real, run_resolver

FAKED = (
    "pretended: the capability, name, memory and number of GPUs, CUDA and cuDNN versions, "
    "nvidia-smi, the Triton driver; NVML counts as not there; required packages count as installed "
    "in the version that SGLang pins, and those that are not here are empty modules"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user said."""

    python: str
    fake: str | None
    device: str | None
    launch: tuple[str, ...]
    launch_file: Path | None
    name: str | None
    batch: Path | None


def verify(asked: Asked) -> Verification:
    """Resolve twice and compare.

    Raises:
        UsageError: interpreter, launch or capability are not as they must be.
        IncompleteError: SGLang's resolver cannot be run there.
    """
    interpreter = ask(asked.python)
    if interpreter.tree is None:
        raise UsageError(
            f"{asked.python} has no SGLang; name the interpreter that has it with --python"
        )
    with Feedback(bar=False) as feedback:
        if asked.batch is not None:
            if asked.launch or asked.launch_file or asked.fake or asked.device:
                raise UsageError("--batch names launch and arch on each line; drop the ones beside")
            launches = [_ready(item) for item in read_batch(asked.batch)]
            return _faked(interpreter, launches, feedback)
        line = read_line(asked.launch, asked.launch_file, asked.name, (), False)
        argv = absolute_paths(server_arguments(line))
        variables = tuple((inherited(os.environ) | dict(line.environment)).items())
        if asked.fake is not None:
            capability, card = parse_capability(asked.fake)
            launch = Launch("launch", capability.name, argv, variables, card=card)
            return _faked(interpreter, [_ready(launch)], feedback)
        device = find_device(asked.device or value_of(argv, "--device"), None)
        return _as_it_is(interpreter, device, argv, dict(variables), feedback)


def _ready(launch: Launch) -> Launch:
    argv = absolute_paths(launch.argv)
    return replace(launch, argv=argv, model_config=launch.model_config or model_folder(argv))


def _as_it_is(
    interpreter: Interpreter,
    device: Device,
    argv: tuple[str, ...],
    variables: dict[str, str],
    feedback: Feedback,
) -> Verification:
    if device.kind == CPU:
        variables.setdefault(CPU_ENGINE, "1")
        argv = argv if value_of(argv, "--device") else (*argv, "--device", CPU)
    predictor = Predictor(interpreter, device, feedback, tuple(variables.items()))
    ours = predictor.resolve(argv)
    if ours is None:
        raise IncompleteError(f"SGLang's source is not read: {predictor.failed}")
    launch = replace(ours.launch, argv=argv)
    real = _run(interpreter, [launch], [ours], predictor.tree(), None)
    note = f"on {device.name or device.capability} as it is, with what is installed there"
    return _compared(interpreter, [launch], [ours], real, (note,))


def _faked(
    interpreter: Interpreter, launches: Sequence[Launch], feedback: Feedback
) -> Verification:
    """Launches on capabilities that need not be here."""
    kinds = {BY_NAME[item.capability].vendor for item in launches if item.capability in BY_NAME}
    if kinds - {Vendor.NVIDIA}:
        raise UsageError("only NVIDIA's capabilities can be pretended")
    predictor = Predictor(interpreter, Device(CUDA, ""), feedback)
    tree = predictor.tree()
    libraries = predictor.libraries()
    # In order, because the tree is loaded anew for each capability.
    found: dict[int, tuple[Resolution, Real]] = {}
    notes: list[str] = [FAKED]
    for machine, group in _groups(launches, tree):
        ours = list(api.resolve_batch(tree, [launches[i] for i in group], libraries=libraries))
        answers = _run(interpreter, [launches[i] for i in group], ours, tree, machine)
        for index, one, real in zip(group, ours, answers.real, strict=True):
            found[index] = (one, real)
        notes += [text for text in _stub_notes(answers) if text not in notes]
    order = [found[index] for index in range(len(launches))]
    answers = Answers(tuple(real for _, real in order))
    return _compared(interpreter, launches, [one for one, _ in order], answers, notes)


def _stub_notes(answers: Answers) -> Iterator[str]:
    if answers.stubbed:
        yield f"empty modules were imported in place of {', '.join(answers.stubbed)}"
    if answers.called:
        yield f"an answer may rest on empty functions that were called: {', '.join(answers.called)}"


def _groups(
    launches: Sequence[Launch], tree: SourceTree
) -> Iterator[tuple[Machine, tuple[int, ...]]]:
    groups: dict[Machine, list[int]] = {}
    for index, launch in enumerate(launches):
        groups.setdefault(_machine(launch, tree), []).append(index)
    for machine, group in groups.items():
        yield machine, tuple(group)


def _machine(launch: Launch, tree: SourceTree) -> Machine:
    """The machine that `resolve` assumes for a launch."""
    from sgl_audit.evaluate.world import make_world

    world = make_world(launch.capability, tree.info.distribution, launch.assume, (), launch.card)
    return Machine(
        (world.capability.major, world.capability.minor),
        world.device_name,
        world.memory_mib,
        world.gpu_count,
        world.cuda,
        world.cudnn,
    )


def _run(
    interpreter: Interpreter,
    launches: Sequence[Launch],
    ours: Sequence[Resolution],
    tree: SourceTree,
    machine: Machine | None,
) -> Answers:
    names = sorted({value.name for item in ours for value in item.options})
    return run_resolver(
        interpreter.path, launches, names, tree.info.distribution, machine, interpreter.packages
    )


def _compared(
    interpreter: Interpreter,
    launches: Sequence[Launch],
    ours: Sequence[Resolution],
    answers: Answers,
    notes: Sequence[str],
) -> Verification:
    rows = tuple(
        compare(launch, one, real)
        for launch, one, real in zip(launches, ours, answers.real, strict=True)
    )
    return Verification(interpreter.sglang or "?", rows, tuple(notes))
