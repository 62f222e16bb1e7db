"""YAML and JSON of a user as plain data, within limits on size, depth and aliases."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sgl_audit.errors import UsageError
from sgl_audit.launch.text import shown

if TYPE_CHECKING:
    import yaml

_DEEPEST = 60
_MOST_NODES = 2_000_000


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML or JSON document. `lines` maps `id()` of a mapping or list to its first line."""

    data: object
    lines: dict[int, int]

    def line(self, value: object) -> int | None:
        """The 1-based line on which a mapping or list of this document begins."""
        return self.lines.get(id(value))


def load_yaml_texts(text: str, origin: str) -> list[Document]:
    """Every document of a YAML text, each scalar as the text that was typed and null as None.

    A launch line is text: `--mem-fraction-static 0.90` must not become 0.9, nor `on` True.

    Raises:
        UsageError: the text is no YAML, is nested too deep, or its aliases make it too large.
    """
    return list(_load(text, origin, _text_loader()))


def load_yaml(text: str, origin: str) -> object:
    """The only document of a YAML text, as `yaml.safe_load` gives it.

    Raises:
        UsageError: the text is no YAML, has several documents, is nested too deep, or its aliases
            make it too large.
    """
    documents = list(_load(text, origin, _plain_loader()))
    if len(documents) > 1:
        raise UsageError(f"{origin} holds several YAML documents; give one with a single document.")
    return documents[0].data if documents else None


def load_json(text: str, origin: str) -> object:
    """JSON as `json.loads` takes it, NaN and Infinity included.

    Raises:
        UsageError: the text is no JSON or is nested too deep.
    """
    try:
        data: object = json.loads(text)
    except RecursionError:
        raise _too_deep(origin) from None
    except json.JSONDecodeError as error:
        raise UsageError(
            f"{origin} is no JSON ({shown(error.msg)} at line {error.lineno}, column "
            f"{error.colno}); correct it there."
        ) from None
    except ValueError as error:
        raise UsageError(f"{origin} is no JSON ({shown(error)}); correct it there.") from None
    _check_depth(data, origin)
    return data


def _check_depth(data: object, origin: str) -> None:
    level: list[object] = [data]
    for _ in range(_DEEPEST + 1):
        below: list[object] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        if not below:
            return
        level = below
    raise _too_deep(origin)


def _too_deep(origin: str) -> UsageError:
    return UsageError(f"{origin} is nested more than {_DEEPEST} levels deep; flatten it.")


def _load(text: str, origin: str, loader: type[Any]) -> Iterator[Document]:
    import yaml

    try:
        _check_events(text, origin)
        composed = loader(text)
        try:
            while composed.check_node():
                node = composed.get_node()
                _check_nodes(node, origin)
                composed.first_lines = {}
                yield Document(composed.construct_document(node), composed.first_lines)
        finally:
            composed.dispose()
    except yaml.YAMLError as error:
        raise UsageError(f"{origin} is no YAML ({_problem(error)}); correct it there.") from None
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        # PyYAML lets these escape for values such as an impossible date or an unhashable key.
        raise UsageError(f"{origin} is no YAML ({shown(error)}); correct it there.") from None


def _check_events(text: str, origin: str) -> None:
    # Before composing: that step recurses once per level, in C.
    import yaml

    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=_base_loader())):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _DEEPEST:
                raise _too_deep(origin)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if count > _MOST_NODES:
            raise _too_large(origin)


def _check_nodes(root: yaml.Node, origin: str) -> None:
    """Refuse what aliases would make endless, huge or deep once walked or merged."""
    known: dict[int, tuple[int, int] | None] = {}

    def measure(node: yaml.Node) -> tuple[int, int]:
        measured = known.get(id(node), (0, 0))
        if measured is None:
            raise UsageError(f"{origin} holds a YAML alias to itself; write the value out.")
        if measured[0]:
            return measured
        known[id(node)] = None
        size, depth = 1, 0
        for child in _children(node):
            below = measure(child)
            size, depth = size + below[0], max(depth, below[1] + 1)
        if size > _MOST_NODES:
            raise _too_large(origin)
        if depth > _DEEPEST:
            raise _too_deep(origin)
        known[id(node)] = size, depth
        return size, depth

    measure(root)


def _children(node: yaml.Node) -> Iterator[yaml.Node]:
    for item in () if isinstance(node.value, str) else node.value:
        yield from item if isinstance(item, tuple) else (item,)


def _too_large(origin: str) -> UsageError:
    return UsageError(
        f"{origin} holds more than {_MOST_NODES:,} values once its aliases are followed; "
        f"write it without them."
    )


def _problem(error: Exception) -> str:
    problem = shown(getattr(error, "problem", None) or str(error).split("\n")[0])
    mark = getattr(error, "problem_mark", None)
    return f"{problem} at line {mark.line + 1}" if mark is not None else problem


def _base_loader() -> type[Any]:
    import yaml

    # The C loader is there in every wheel of PyYAML; a source build without libyaml is slower.
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@functools.cache
def _plain_loader() -> type[Any]:
    class PlainLoader(_base_loader()):  # type: ignore[misc]
        """SGLang's own reading of a configuration file."""

        first_lines: dict[int, int]

    return PlainLoader


@functools.cache
def _text_loader() -> type[Any]:
    class TextLoader(_base_loader()):  # type: ignore[misc]
        """Scalars as typed; null and merge keys keep their meaning."""

        first_lines: dict[int, int]

        def mapping(self, node: yaml.MappingNode) -> Iterator[dict[object, object]]:
            """A mapping, with its line noted."""
            data: dict[object, object] = {}
            self.first_lines[id(data)] = node.start_mark.line + 1
            yield data
            data.update(self.construct_mapping(node))

        def sequence(self, node: yaml.SequenceNode) -> Iterator[list[object]]:
            """A list, with its line noted."""
            data: list[object] = []
            self.first_lines[id(data)] = node.start_mark.line + 1
            yield data
            data.extend(self.construct_sequence(node))

    kept = ("tag:yaml.org,2002:null", "tag:yaml.org,2002:merge")
    TextLoader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag in kept]
        for first, resolvers in TextLoader.yaml_implicit_resolvers.items()
    }
    TextLoader.add_constructor("tag:yaml.org,2002:map", TextLoader.mapping)
    TextLoader.add_constructor("tag:yaml.org,2002:seq", TextLoader.sequence)
    return TextLoader
