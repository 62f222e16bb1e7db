"""What each file names, for the index: options, lists, enums, variables, imports, machine names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sgl_audit.answers import AnswerStore, by_content, key_of
from sgl_audit.errors import SourceError
from sgl_audit.extract.choices import RawList, raw_lists
from sgl_audit.extract.enums import enums_of
from sgl_audit.extract.environment import RawVariable, declarations
from sgl_audit.extract.options import RawOption, options_of
from sgl_audit.model.facts import BackendEnum
from sgl_audit.model.source import SourceTree
from sgl_audit.syntax.parse import ParsedFile, parse_file
from sgl_audit.syntax.prefilter import INDEXED
from sgl_audit.syntax.toplevel import imported_names, mentioning_names

_DECLARES = re.compile(
    rb"class \w*ServerArgs\b|_CHOICES|Env(?:Bool|Str|Int|Field)|add_cli_args"
    rb"|: A\[|Annotated\[|_BACKENDS? ?="
    rb"|class \w*(?:Backend|Runner|Gemm|A2A|Algorithm|DeepEP|Dispatch|Mode|Type)\w*\("
    rb"[^)]*(?:Enum|Flag)\)"
)
# An attribute that other classes may read through `self`.
_SELF = re.compile(rb"self\.\w+[^\n=]*=[^\n=][^\n]*(?:apability|device_sm|device_properties)")


@dataclass(frozen=True, slots=True)
class FileNames:
    """What one file declares, and by which names other files may ask it for the machine.

    Attributes:
        imported: (module, name) pairs; telling: names bound by statements that mention the machine.
        sets: whether a class sets an attribute to what the machine is.
    """

    path: str
    options: tuple[RawOption, ...] = ()
    classes: tuple[str, ...] = ()
    lists: tuple[RawList, ...] = ()
    enums: tuple[BackendEnum, ...] = ()
    variables: tuple[RawVariable, ...] = ()
    imported: frozenset[tuple[str, str]] = frozenset()
    telling: frozenset[str] = frozenset()
    sets: bool = False

    @property
    def declares(self) -> bool:
        """Whether it declares options, choices or environment variables."""
        return bool(self.options or self.lists or self.variables)


def names_of_files(
    tree: SourceTree, files: Iterable[str], store: AnswerStore | None
) -> tuple[FileNames, ...]:
    """The names of each file; of one that cannot be read, none (the file pass says so)."""
    contents = [(path, bytes_or_nothing(tree, path)) for path in files]
    return tuple(by_content(store, key_of("names of files", ()), contents, _names_of_each))


def bytes_or_nothing(tree: SourceTree, path: str) -> bytes:
    """The bytes of a file; nothing where it cannot be read."""
    try:
        return tree.read(path)
    except (KeyError, SourceError):
        return b""


def _names_of_each(contents: Sequence[tuple[str, bytes]]) -> list[FileNames]:
    return [names_of_file(path, data) for path, data in contents]


def names_of_file(path: str, data: bytes) -> FileNames:
    """The names of one file: parsed where it may declare something, else by its text alone."""
    imported = frozenset(imported_names(path, data))
    telling = frozenset(mentioning_names(data, INDEXED))
    sets = bool(telling) and _SELF.search(data) is not None
    parsed = parse_file(path, data) if _DECLARES.search(data) else None
    if not isinstance(parsed, ParsedFile):
        return FileNames(path, imported=imported, telling=telling, sets=sets)
    raw = options_of(parsed)
    return FileNames(
        path,
        raw.options,
        raw.classes,
        tuple(raw_lists(parsed)),
        tuple(enums_of(parsed)),
        tuple(declarations(parsed)),
        imported,
        telling,
        sets,
    )


def seeds_of(names: Iterable[FileNames]) -> tuple[str, ...]:
    """The files that define a name about the machine which another file imports."""
    every = tuple(names)
    imported: dict[str, set[str]] = {}
    for file in every:
        for module, name in file.imported:
            imported.setdefault(module, set()).add(name)
    return tuple(
        file.path
        for file in every
        if file.telling and (file.sets or _wanted(file.path, file.telling, imported))
    )


def _wanted(path: str, names: frozenset[str], imported: Mapping[str, set[str]]) -> bool:
    """Whether any of the names is imported from the module, or through a package above it."""
    dotted = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    if names & imported.get(dotted, set()) or "*" in imported.get(dotted, ()):
        return True
    package, _, last = dotted.rpartition(".")
    if last in imported.get(package, ()):
        return True
    while package:
        if names & imported.get(package, set()):
            return True
        package = package.rpartition(".")[0]
    return False
