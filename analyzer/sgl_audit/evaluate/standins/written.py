"""Stand-ins written in the interpreted language itself, where that is shorter than natives.

Assumes: CPython's documented behaviour of `collections` and of the mixin methods of
`collections.abc`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from sgl_audit.evaluate.scopes import GLOBALS, PARENT, Scope, bound_names
from sgl_audit.evaluate.values import Namespace

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine

COLLECTIONS = """
class OrderedDict(dict):
    def move_to_end(self, key, last=True):
        value = self[key]
        rest = [(k, v) for k, v in self.items() if k != key]
        moved = [*rest, (key, value)] if last else [(key, value), *rest]
        self.clear()
        for k, v in moved:
            self[k] = v

    def popitem(self, last=True):
        if not self:
            raise KeyError("dictionary is empty")
        key = list(self)[-1 if last else 0]
        return key, self.pop(key)

    def __repr__(self):
        return f"OrderedDict({dict(self)!r})" if self else "OrderedDict()"


class Counter(dict):
    def __init__(self, items=None, /, **counts):
        super().__init__()
        self.update(items, **counts)

    def __missing__(self, key):
        return 0

    def update(self, items=None, /, **counts):
        self._add(items, 1)
        self._add(counts, 1)

    def subtract(self, items=None, /, **counts):
        self._add(items, -1)
        self._add(counts, -1)

    def _add(self, items, sign):
        if items is None:
            return
        if hasattr(items, "items"):
            for key, count in items.items():
                self[key] = self.get(key, 0) + sign * count
        else:
            for key in items:
                self[key] = self.get(key, 0) + sign

    def most_common(self, n=None):
        ranked = sorted(self.items(), key=lambda pair: pair[1], reverse=True)
        return ranked if n is None else ranked[:n]

    def elements(self):
        for key, count in self.items():
            for _ in range(count):
                yield key

    def total(self):
        return sum(self.values())

    def copy(self):
        return Counter(self)

    def _combined(self, other, choose):
        result = Counter()
        for key in [*self, *(k for k in other if k not in self)]:
            count = choose(self[key], other[key])
            if count > 0:
                result[key] = count
        return result

    def __add__(self, other):
        return self._combined(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._combined(other, lambda a, b: a - b)

    def __or__(self, other):
        return self._combined(other, max)

    def __and__(self, other):
        return self._combined(other, min)

    def __repr__(self):
        return f"Counter({dict(self.most_common())!r})" if self else "Counter()"


class deque(list):
    def __init__(self, items=(), maxlen=None):
        super().__init__()
        self.maxlen = maxlen
        self.extend(items)

    def append(self, item):
        super().append(item)
        if self.maxlen is not None and len(self) > self.maxlen:
            del self[0]

    def appendleft(self, item):
        self.insert(0, item)
        if self.maxlen is not None and len(self) > self.maxlen:
            del self[-1]

    def extend(self, items):
        for item in items:
            self.append(item)

    def extendleft(self, items):
        for item in items:
            self.appendleft(item)

    def popleft(self):
        if not self:
            raise IndexError("pop from an empty deque")
        return self.pop(0)

    def rotate(self, n=1):
        if self:
            n %= len(self)
            self[:] = self[len(self) - n :] + self[: len(self) - n]

    def __eq__(self, other):
        return isinstance(other, deque) and list(self) == list(other)

    def __repr__(self):
        bound = "" if self.maxlen is None else f", maxlen={self.maxlen}"
        return f"deque({list(self)!r}{bound})"


class ChainMap:
    def __init__(self, *maps):
        self.maps = list(maps) or [{}]

    def __getitem__(self, key):
        for part in self.maps:
            if key in part:
                return part[key]
        return self.__missing__(key)

    def __missing__(self, key):
        raise KeyError(key)

    def get(self, key, default=None):
        return self[key] if key in self else default

    def __contains__(self, key):
        return any(key in part for part in self.maps)

    def __iter__(self):
        merged = {}
        for part in reversed(self.maps):
            merged.update(dict.fromkeys(part))
        return iter(merged)

    def __len__(self):
        return len(list(iter(self)))

    def __bool__(self):
        return any(self.maps)

    def __setitem__(self, key, value):
        self.maps[0][key] = value

    def __delitem__(self, key):
        del self.maps[0][key]

    def keys(self):
        return dict.fromkeys(self).keys()

    def items(self):
        return {key: self[key] for key in self}.items()

    def values(self):
        return {key: self[key] for key in self}.values()

    def new_child(self, m=None):
        return ChainMap({} if m is None else m, *self.maps)

    @property
    def parents(self):
        return ChainMap(*self.maps[1:])
"""

MIXINS = """
class Mapping:
    def get(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key):
        try:
            self[key]
        except KeyError:
            return False
        return True

    def keys(self):
        return dict.fromkeys(self).keys()

    def items(self):
        return {key: self[key] for key in self}.items()

    def values(self):
        return {key: self[key] for key in self}.values()

    def __eq__(self, other):
        if not hasattr(other, "keys"):
            return NotImplemented
        return dict(self.items()) == dict(other.items())


class MutableMapping:
    def pop(self, key, *default):
        try:
            value = self[key]
        except KeyError:
            if default:
                return default[0]
            raise
        del self[key]
        return value

    def popitem(self):
        for key in self:
            value = self[key]
            del self[key]
            return key, value
        raise KeyError

    def clear(self):
        for key in list(self):
            del self[key]

    def update(self, other=(), /, **named):
        pairs = other.items() if hasattr(other, "items") else other
        for key, value in pairs:
            self[key] = value
        for key, value in named.items():
            self[key] = value

    def setdefault(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            self[key] = default
        return default


class Sequence:
    def __iter__(self):
        i = 0
        while i < len(self):
            yield self[i]
            i += 1

    def __contains__(self, value):
        return any(item is value or item == value for item in self)

    def __reversed__(self):
        return iter([self[i] for i in range(len(self) - 1, -1, -1)])

    def index(self, value, start=0):
        for i in range(start, len(self)):
            if self[i] == value:
                return i
        raise ValueError

    def count(self, value):
        return sum(1 for item in self if item == value)


class MutableSequence:
    def append(self, value):
        self.insert(len(self), value)

    def extend(self, values):
        for value in list(values):
            self.append(value)

    def pop(self, index=-1):
        value = self[index]
        del self[index]
        return value

    def remove(self, value):
        del self[self.index(value)]

    def clear(self):
        while len(self):
            self.pop()


class Iterator:
    def __iter__(self):
        return self
"""


def run_written(machine: Machine, name: str, source: str) -> Namespace:
    """The namespace that stand-in source leaves behind."""
    from sgl_audit.evaluate.lowering import Lowering
    from sgl_audit.evaluate.statements import lower_statement

    tree = ast.parse(source)
    lowering = Lowering(machine, name, "")
    scope = Scope("module", None, set(), "")
    scope.names = bound_names(tree.body, scope)
    ns: Namespace = {"__name__": name}
    frame = {GLOBALS: ns, PARENT: None}
    for node in tree.body:
        run = lower_statement(lowering, node, scope)
        if run is not None:
            run(frame)
    return ns
