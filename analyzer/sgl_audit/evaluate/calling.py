"""Binding of arguments to parameters, with CPython's own words where that fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sgl_audit.evaluate.values import Function, Raised, Value

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine


def bind_arguments(
    machine: Machine,
    function: Function,
    frame: dict[str, Value],
    args: list[Value] | tuple[Value, ...],
    kwargs: dict[str, Value],
) -> None:
    """Put arguments into a frame as Python does.

    Raises:
        Raised: TypeError where they do not fit.
    """
    code = function.code
    names = code.positional
    count = len(args)
    frame.update(zip(names, args, strict=False))
    if code.vararg:
        frame[code.vararg] = tuple(args[len(names) :])
    if kwargs or code.kwarg:
        _bind_keywords(machine, function, frame, kwargs, count)
    if count > len(names) and not code.vararg:
        given = sum(name in frame for name in code.kwonly)
        raise _too_many(machine, function, count, given)
    _fill_defaults(machine, function, frame, count)


def _bind_keywords(
    machine: Machine,
    function: Function,
    frame: dict[str, Value],
    kwargs: dict[str, Value],
    count: int,
) -> None:
    code = function.code
    names = code.positional
    extra: dict[str, Value] = {}
    for name, value in kwargs.items():
        if name in code.kwonly:
            frame[name] = value
        elif name in names and names.index(name) >= code.posonly:
            if names.index(name) < count:
                raise machine.error(
                    "TypeError",
                    f"{function.qualname}() got multiple values for argument {name!r}",
                )
            frame[name] = value
        elif code.kwarg:
            extra[name] = value
        elif name in names:
            listed = ", ".join(item for item in names[: code.posonly] if item in kwargs)
            raise machine.error(
                "TypeError",
                f"{function.qualname}() got some positional-only arguments passed as keyword "
                f"arguments: {listed!r}",
            )
        else:
            raise machine.error(
                "TypeError", f"{function.qualname}() got an unexpected keyword argument {name!r}"
            )
    if code.kwarg:
        frame[code.kwarg] = extra


def _fill_defaults(
    machine: Machine, function: Function, frame: dict[str, Value], count: int
) -> None:
    code = function.code
    names = code.positional
    first = len(names) - len(function.defaults)
    missing = []
    for index in range(count, len(names)):
        name = names[index]
        if name not in frame:
            if index >= first:
                frame[name] = function.defaults[index - first]
            else:
                missing.append(name)
    if missing:
        raise _missing(machine, function, missing, "positional")
    for name in code.kwonly:
        if name not in frame:
            if name in function.kwdefaults:
                frame[name] = function.kwdefaults[name]
            else:
                missing.append(name)
    if missing:
        raise _missing(machine, function, missing, "keyword-only")


def _missing(machine: Machine, function: Function, names: list[str], kind: str) -> Raised:
    return machine.error("TypeError", missing_text(f"{function.qualname}()", names, kind))


def missing_text(callee: str, names: list[str], kind: str = "positional") -> str:
    """CPython's words for arguments that were not given."""
    shown = [repr(name) for name in names]
    last = f", and {shown.pop()}" if len(shown) > 2 else ""
    listed = ", ".join(shown) + last if last else " and ".join(shown)
    plural = "s" if len(names) > 1 else ""
    return f"{callee} missing {len(names)} required {kind} argument{plural}: {listed}"


def _too_many(machine: Machine, function: Function, count: int, keyword_only: int) -> Raised:
    most = len(function.code.positional)
    optional = len(function.defaults)
    text = too_many_text(f"{function.qualname}()", most, optional, count, keyword_only)
    return machine.error("TypeError", text)


def too_many_text(callee: str, most: int, optional: int, count: int, keyword_only: int = 0) -> str:
    """CPython's words for positional arguments too many."""
    takes = f"from {most - optional} to {most}" if optional else str(most)
    plural = "s" if optional or most != 1 else ""
    given = str(count)
    if keyword_only:
        given += f" positional argument{'s' if count != 1 else ''} (and {keyword_only} "
        given += f"keyword-only argument{'s' if keyword_only != 1 else ''})"
    verb = "was" if count == 1 and not keyword_only else "were"
    return f"{callee} takes {takes} positional argument{plural} but {given} {verb} given"
