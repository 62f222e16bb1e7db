"""The words of a launch line, changed flag by flag."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sgl_audit.model.facts import Option

Words = tuple[str, ...]


def flags_in(argv: Words) -> Iterator[str]:
    """The flags of a line, without values, in order."""
    for word in argv:
        if word.startswith("--"):
            yield word.partition("=")[0]


def renamed_flag(argv: Words, old: str, new: str) -> Words:
    """The line with one flag under another name."""
    return tuple(
        new
        if word == old
        else word.replace(f"{old}=", f"{new}=", 1)
        if word.startswith(f"{old}=")
        else word
        for word in argv
    )


def without_flag(argv: Words, flag: str) -> Words:
    """The line without a flag and the values that follow it."""
    kept: list[str] = []
    dropping = False
    for word in argv:
        if word.partition("=")[0] == flag:
            dropping = word == flag
            continue
        dropping = dropping and not word.startswith("-")
        if not dropping:
            kept.append(word)
    return tuple(kept)


def value_of(argv: Words, flag: str) -> str:
    """The value given to a flag, "" for a flag without one."""
    found = ""
    for index, word in enumerate(argv):
        name, equals, value = word.partition("=")
        if name == flag:
            following = argv[index + 1] if index + 1 < len(argv) else ""
            found = value if equals else ("" if following.startswith("-") else following)
    return found


def setting(option: Option, value: object) -> Words | None:
    """The words that set an option to a value, or None where no flag does."""
    names = [flag.name for flag in option.flags if not flag.deprecated]
    names = names or [flag.name for flag in option.flags]
    if not names:
        return None
    if isinstance(value, bool):
        return (names[0],) if value and option.type == "bool" else None
    if value is None or not option.choices or value not in option.choices:
        return None
    return (names[0], str(value))


def owners(options: Mapping[str, Option]) -> dict[str, Option]:
    """Flag -> its option."""
    return {flag.name: option for option in options.values() for flag in option.flags}
