"""One table of a configuration file, whose keys are all asked for or refused."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sgl_audit.errors import UsageError
from sgl_audit.launch.text import did_you_mean, shown


@dataclass(frozen=True, slots=True)
class Table:
    """Values with the place that messages name.

    Attributes:
        file: the file as messages name it.
        name: the table's own name, or "" for the whole file.
        row: which one of an array of tables, from 1; 0 for a plain table.
    """

    file: str
    name: str
    content: Mapping[str, Any]
    row: int = 0

    @property
    def where(self) -> str:
        """`pyproject.toml [tool.sgl-audit]`, `sgl-audit.toml [[suppress]] 2`."""
        if self.row:
            return f"{self.file} [[{self.name}]] {self.row}"
        return f"{self.file} [{self.name}]" if self.name else self.file

    def check_keys(self, known: Collection[str]) -> None:
        """Refuse a key that nothing reads.

        Raises:
            UsageError: there is one; the sentence suggests the nearest that is known.
        """
        for key in self.content:
            if key not in known:
                near = did_you_mean(key.replace("_", "-").lower(), known)
                hint = near or f"; known are {', '.join(sorted(known))}."
                raise UsageError(f"{self.where}: there is no key {shown(key)!r}{hint}")

    def sub(self, key: str) -> Table:
        """The table under a key; empty where it is missing."""
        value = self.content.get(key, {})
        name = f"{self.name}.{key}" if self.name else key
        if not isinstance(value, dict):
            raise self.wrong(key, f"a table; write [{name}]")
        return Table(self.file, name, value)

    def rows(self, key: str) -> tuple[Table, ...]:
        """The tables of an array, numbered from 1 in messages."""
        value = self.content.get(key, [])
        name = f"{self.name}.{key}" if self.name else key
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.wrong(key, f"an array of tables; write [[{name}]]")
        return tuple(Table(self.file, name, item, row) for row, item in enumerate(value, 1))

    def text(self, key: str) -> str | None:
        """A text, or None where the key is missing."""
        value = self.content.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise self.wrong(key, "a text that is not empty")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A text or a list of texts."""
        value = self.content.get(key, [])
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(i, str) and i.strip() for i in items):
            raise self.wrong(key, "a text or a list of texts")
        return tuple(items)

    def choice(self, key: str, choices: Iterable[str]) -> str | None:
        """One of some texts, or None where the key is missing."""
        value = self.text(key)
        known = tuple(choices)
        if value is not None and value not in known:
            raise self.wrong(key, f"one of {', '.join(known)}")
        return value

    def flag(self, key: str) -> bool | None:
        """True or false, or None where the key is missing."""
        value = self.content.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def day(self, key: str) -> date | None:
        """A day, as TOML writes it or as a text, or None where the key is missing."""
        value = self.content.get(key)
        if isinstance(value, str):
            try:
                value = date.fromisoformat(value)
            except ValueError:
                raise self.wrong(key, "a day such as 2027-01-31") from None
        if isinstance(value, datetime) or (value is not None and not isinstance(value, date)):
            raise self.wrong(key, "a day such as 2027-01-31")
        return value

    def wrong(self, key: str, wanted: str) -> UsageError:
        """The error that says what a key must be."""
        value = self.content.get(key)
        return UsageError(f"{self.where}: {key} is {shown(repr(value))}, and must be {wanted}.")
