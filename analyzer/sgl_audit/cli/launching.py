"""From the words of a launch to what the evaluator takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sgl_audit.cli.choosing import Pair
from sgl_audit.cli.models import Described, Model
from sgl_audit.errors import UsageError
from sgl_audit.launch import LaunchLine, one_launch, parse_launch_lines, read_launch_file
from sgl_audit.model.capability import parse_capability
from sgl_audit.model.resolution import Launch

Assumptions = tuple[tuple[str, str], ...]
_ENVIRONMENT = "env."
# Words by themselves, as they come out of quotes.
_JOINING = frozenset({"&&", "||", ";", "|", "&"})
_HELP = frozenset({"--help", "-h"})


def read_line(
    words: Sequence[str], file: Path | None, name: str | None, assume: Assumptions, described: bool
) -> LaunchLine:
    """The one launch that the words after `--` or the file hold.

    Args:
        name: which of several in the file.
        assume: `env.NAME` values stand for variables that the text does not set.
        described: whether a model is described, so that no launch is the plain one of it.

    Raises:
        UsageError: there is no launch, or there are several.
    """
    variables = {
        key.removeprefix(_ENVIRONMENT): value
        for key, value in assume
        if key.startswith(_ENVIRONMENT)
    }
    if file is not None:
        if words:
            raise UsageError("a launch after -- and --launch-file are two launches; give one")
        return one_launch(read_launch_file(file, variables=variables), str(file), name)
    if name is not None:
        raise UsageError("--name chooses a launch of --launch-file, which is not given")
    if not words:
        if described:
            return LaunchLine(())
        raise UsageError(
            "there is no launch; give it after --, as in: sgl-audit resolve sglang==0.5.23 --arch "
            "sm120 -- python -m sglang.launch_server --model-path DIR"
        )
    origin = "the launch after --"
    joined = next((word for word in words if word in _JOINING), None)
    if joined is not None:
        raise UsageError(
            f"{origin} holds {joined!r}, which joins several commands; give one of them, or all in "
            "a script with --launch-file and --name"
        )
    line = one_launch(parse_launch_lines(words, origin=origin, variables=variables), origin)
    asked = next((word for word in line.argv if word in _HELP), None)
    if asked is not None:
        raise UsageError(f"{origin} asks for help ({asked}), which starts no server; drop it")
    return line


def server_arguments(line: LaunchLine) -> tuple[str, ...]:
    """The arguments as the server's parser gets them: `sglang serve MODEL` names it by flag."""
    if line.positional_model is None:
        return line.argv
    return ("--model-path", line.positional_model, *line.argv[1:])


def archs_of(given: tuple[Pair, ...], line: LaunchLine) -> tuple[Pair, ...]:
    """What `--arch` says, else what stands beside the launch in its file."""
    if given or line.arch is None:
        return given
    capability, card = parse_capability(line.arch)
    return ((capability.name, card),)


def launches(
    line: LaunchLine,
    model: Model,
    described: Described,
    pairs: Sequence[Pair],
    assume: Assumptions,
) -> tuple[Launch, ...]:
    """The launch on each capability."""
    return tuple(
        Launch(
            id=line.name or "launch",
            capability=capability,
            argv=model.argv,
            environment=line.environment,
            assume=assume,
            card=card,
            model_config=model.config,
            model_arch=described.architecture,
            quantization_of=described.quantization,
        )
        for capability, card in pairs
    )


def notes_of(line: LaunchLine, model: Model) -> tuple[str, ...]:
    """What the reader should know of how the launch was read."""
    unset = tuple(
        f"{name} is set to something that the text does not tell; it counts as unset. Give "
        f"--assume env.{name}=VALUE"
        for name in line.unknown_environment
    )
    return (*line.notes, *unset, *model.notes)
