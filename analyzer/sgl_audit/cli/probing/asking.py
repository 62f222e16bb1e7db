"""From the words of `sgl-audit probe` to what the runs need."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sgl_audit.cli.choosing import known_name
from sgl_audit.cli.launching import read_line, server_arguments
from sgl_audit.cli.models import absolute_paths
from sgl_audit.cli.probing.device import CPU, find_device
from sgl_audit.cli.probing.predicting import Predictor, vocabulary
from sgl_audit.cli.stderr import Feedback
from sgl_audit.errors import UsageError
from sgl_audit.model.evidence import Device, Phase, RunEnvironment
from sgl_audit.probe.command import CPU_ENGINE, inherited, value_of
from sgl_audit.probe.interpreter import Interpreter, ask
from sgl_audit.probe.masking import masked_variables, secrets_of
from sgl_audit.probe.matrix import Axis
from sgl_audit.probe.own_prompts import read_prompts
from sgl_audit.probe.prompts import SUITE, Prompt, with_own

_PHASES = (Phase.START, Phase.LOAD, Phase.WARMUP, Phase.SMOKE, Phase.MEASURE, Phase.STOP)


@dataclass(frozen=True, slots=True)
class Words:
    """What the user said, as the command line has it."""

    python: str
    launch: tuple[str, ...]
    launch_file: Path | None
    name: str | None
    arch: str | None
    device: str | None
    folder: Path
    prompts: Path | None = None
    deadlines: tuple[str, ...] = ()
    silence: float = 600.0
    concurrency: int = 8
    slow_below: float | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """Everything that is the same in all runs of one command.

    Attributes:
        variables: set by the launch, on top of what is inherited.
        counted: variables that decide what the server does, inherited ones too, for the record.
        secrets: values of flags and variables that get into no record.
    """

    words: Words
    interpreter: Interpreter
    environment: RunEnvironment
    argv: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]
    counted: tuple[tuple[str, str], ...]
    predictor: Predictor
    prompts: tuple[Prompt, ...]
    deadlines: Mapping[Phase, float]
    vocabulary: int | None = None
    secrets: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def device(self) -> Device:
        """What the runs are on."""
        return self.environment.device


def prepare(words: Words, feedback: Feedback) -> Setting:
    """Look at interpreter, device and launch.

    Raises:
        UsageError: one of them is not as it must be.
    """
    line = read_line(words.launch, words.launch_file, words.name, (), False)
    argv = absolute_paths(server_arguments(line))
    device = find_device(words.device or value_of(argv, "--device"), words.arch)
    variables = dict(line.environment)
    if device.kind == CPU and CPU_ENGINE not in os.environ:
        variables.setdefault(CPU_ENGINE, "1")
    interpreter = ask(words.python, {**os.environ, **variables})
    if interpreter.tree is None:
        raise UsageError(
            f"{words.python} has no SGLang; name the interpreter that has it with --python"
        )
    counted = tuple((inherited(os.environ) | variables).items())
    seen = argv if value_of(argv, "--device") else (*argv, "--device", device.kind)
    prompts = read_prompts(words.prompts) if words.prompts is not None else ()
    return Setting(
        words=words,
        interpreter=interpreter,
        environment=_environment(interpreter, device),
        argv=seen if device.kind == CPU else argv,
        variables=tuple(variables.items()),
        counted=masked_variables(counted),
        predictor=Predictor(interpreter, device, feedback, counted),
        prompts=with_own(prompts) if prompts else SUITE,
        deadlines=read_deadlines(words.deadlines),
        vocabulary=vocabulary(argv),
        secrets=secrets_of(argv, (*os.environ.items(), *variables.items())),
        notes=tuple(line.notes),
    )


def _environment(interpreter: Interpreter, device: Device) -> RunEnvironment:
    return RunEnvironment(
        python=interpreter.path,
        python_version=interpreter.version,
        platform=interpreter.platform,
        device=device,
        sglang=interpreter.sglang,
        versions=interpreter.named(),
    )


def read_deadlines(items: Sequence[str]) -> dict[Phase, float]:
    """`load=1800` and the like.

    Raises:
        UsageError: no phase of that name, or no number of seconds.
    """
    found = {}
    for item in items:
        name, equals, text = item.partition("=")
        phase = next((p for p in _PHASES if name in (p, p.replace("-", ""))), None)
        if not equals or phase is None:
            raise UsageError(
                f"--deadline {item!r} is no PHASE=SECONDS; phases are {', '.join(_PHASES)}"
            )
        try:
            seconds = float(text)
        except ValueError:
            seconds = 0.0
        if not 0 < seconds < float("inf"):
            raise UsageError(f"--deadline {item!r}: write a number of seconds, as in load=1800")
        found[phase] = seconds
    return found


def read_axes(given: Sequence[str], everything: bool, setting: Setting) -> tuple[Axis, ...]:
    """`--vary NAME=a,b` and `--vary-all` as axes.

    Raises:
        UsageError: no option of that name, a value that it does not have, or no value.
    """
    options = setting.predictor.options()
    if not options:
        raise UsageError(
            f"nothing can be varied: SGLang's options are not read ({setting.predictor.failed})"
        )
    axes = {}
    for item in given:
        name, equals, text = item.partition("=")
        option = options[known_name(name, options, "server argument")]
        if not option.flags:
            raise UsageError(f"--vary {name}: {option.name} has no flag")
        known = tuple(str(choice) for choice in option.choices or ())
        values = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
        values = values or (() if equals else known)
        if not values:
            raise UsageError(f"--vary {item}: name the values, as in {option.name}=a,b")
        wrong = [value for value in values if known and value not in known]
        if wrong:
            raise UsageError(
                f"--vary {option.name}: {wrong[0]} is no choice; they are {', '.join(known)}"
            )
        axes[option.name] = Axis(option.name, option.flags[0], values)
    if everything:
        for axis in _all_axes(setting):
            axes.setdefault(axis.option, axis)
    return tuple(axes.values())


def _all_axes(setting: Setting) -> tuple[Axis, ...]:
    """Every option that selects the backend of a kernel and has a list of choices."""
    found = []
    for name, option in setting.predictor.options().items():
        kernel = name.endswith("_backend") and ("attention" in name or "gemm" in name)
        if (kernel or name.endswith("moe_runner_backend")) and option.choices and option.flags:
            if name.startswith(("speculative", "mm_")) or option.deprecated:
                continue
            values = tuple(str(choice) for choice in option.choices)
            found.append(Axis(name, option.flags[0], values))
    return tuple(found)
