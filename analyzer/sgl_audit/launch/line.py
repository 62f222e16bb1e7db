"""One launch line as a person has it, before anything interprets its flags."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from sgl_audit.errors import UsageError
from sgl_audit.launch.text import did_you_mean, shown

SERVE_PROGRAMS = frozenset({"sglang serve", "python -m sglang serve"})


@dataclass(frozen=True, slots=True)
class LaunchLine:
    """One start of the server.

    Attributes:
        argv: the server's arguments as typed, after the program.
        environment: variables that the server process gets from this text, in order of setting.
        program: "python -m sglang.launch_server", "sglang serve", "python -m sglang serve", or ""
            where only flags were given.
        name: how the text names it (service, container, `name:`), else "line N" or "".
        line: 1-based line of the command in its text, or None where the form has no lines.
        unknown_environment: variables that are set to something this text does not tell.
        notes: what the reader should know (a cut command, a default taken), one sentence each.
        model_config: model folder or config.json named beside the launch, where the form has it.
        arch: capability or card named beside the launch, where the form has it.
    """

    argv: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    program: str = ""
    name: str = ""
    line: int | None = None
    unknown_environment: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    model_config: str | None = None
    arch: str | None = None

    @property
    def positional_model(self) -> str | None:
        """The model path of `sglang serve MODEL ...`, whose argv still begins with it.

        Source of the rule: `_normalize_positional_model_path` in sglang/cli/serve.py.
        """
        if self.program in SERVE_PROGRAMS and self.argv and not self.argv[0].startswith("-"):
            return self.argv[0]
        return None

    @property
    def config_file(self) -> str | None:
        """The file of SGLang's own `--config FILE`, or None.

        Source of the rule: `_extract_config_file_path` of SGLang's ConfigArgumentMerger, which
        knows the two-word form only.
        """
        if "--config" not in self.argv:
            return None
        index = self.argv.index("--config") + 1
        return self.argv[index] if index < len(self.argv) else None


def one_launch(
    lines: Sequence[LaunchLine], origin: str = "the launch line", name: str | None = None
) -> LaunchLine:
    """The only launch of a text, or the one called `name`.

    Raises:
        UsageError: there is none, or there are several and no name chooses one.
    """
    found = [line for line in lines if name is None or line.name == name]
    if len(found) == 1:
        return found[0]
    if not lines:
        raise no_launch(origin)
    if not found:
        names = [line.name for line in lines]
        raise UsageError(
            f"{origin} has no launch named {shown(name)}"
            f"{did_you_mean(name or '', names) or f'; it has {_some(names)}.'}"
        )
    raise UsageError(
        f"{origin} starts {len(found)} servers ({_some([_where(line) for line in found])}) where "
        f"one was expected; give the text of one of them{_by_name(found)}."
    )


def _by_name(lines: Sequence[LaunchLine]) -> str:
    names = [line.name for line in lines if line.name is not None]
    return f", or its name, as in --name {shlex.quote(names[0])}" if names else ""


def no_launch(origin: str, others: Sequence[str] = ()) -> UsageError:
    """The error for a text in which no server is started."""
    seen = f" (it runs {', '.join(others)}, which is no server start)" if others else ""
    return UsageError(
        f"{origin} starts no SGLang server{seen}; it needs `python -m sglang.launch_server ...` "
        f"or `sglang serve ...`."
    )


def _where(line: LaunchLine) -> str:
    at = f"line {line.line}" if line.line is not None else ""
    if not line.name or line.name == at:
        return at or "unnamed"
    return f"{shown(line.name)} at {at}" if at else shown(line.name)


def _some(items: Sequence[str]) -> str:
    head = ", ".join(shown(item) for item in items[:3])
    return head if len(items) <= 3 else f"{head} and {len(items) - 3} more"
