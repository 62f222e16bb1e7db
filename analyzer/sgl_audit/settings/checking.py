"""From the tables of a configuration file to settings; what is wrong in it is one sentence."""

from __future__ import annotations

import fnmatch
from pathlib import Path

from sgl_audit.errors import UsageError
from sgl_audit.launch.assume import check_assumption
from sgl_audit.launch.text import did_you_mean, shown
from sgl_audit.model.capability import parse_capability
from sgl_audit.model.report import Severity
from sgl_audit.model.settings import RuleSetting, Settings, Suppression
from sgl_audit.settings.paths import located, located_source
from sgl_audit.settings.table import Table

ALL = "all"
FAIL_ON = (*(severity.value for severity in Severity), "never")
FAIL_ON_DIFF = ("breaking", "behaviour", "never")
_PATHS = ("advisories", "baseline", "cache-dir", "evidence")
_PATH_LISTS = ("launches",)
_SOURCES = ("source", "transformers", "flashinfer")
KEYS = (
    *_SOURCES,
    "arch",
    "assume",
    "fail-on",
    *_PATHS,
    *_PATH_LISTS,
    "offline",
    "rules",
    "suppress",
    "diff",
)
_SUPPRESSION = (
    "reason",
    "expires",
    "rule",
    "fingerprint",
    "option",
    "value",
    "file",
    "arch",
)
Value = str | tuple[str, ...]


def checked(table: Table, folder: Path) -> Settings:
    """The settings of a file.

    Args:
        folder: the folder of the file; paths in it are relative to that.

    Raises:
        UsageError: an unknown key, or a value that makes no sense.
    """
    table.check_keys(KEYS)
    values = _values(table, folder)
    return Settings(
        origin=table.where,
        values=tuple((key, value) for key, value in values.items() if value),
        rules=_rules(table.sub("rules")),
        suppressions=tuple(_suppression(row) for row in table.rows("suppress")),
    )


def _values(table: Table, folder: Path) -> dict[str, Value]:
    found: dict[str, Value] = {"arch": _archs(table), "assume": _assumptions(table)}
    for key in _SOURCES:
        found[key] = located_source(table.text(key) or "", folder)
    for key in _PATHS:
        found[key] = located(table.text(key) or "", folder)
    for key in _PATH_LISTS:
        found[key] = tuple(located(item, folder) for item in table.texts(key))
    found["fail-on"] = table.choice("fail-on", FAIL_ON) or ""
    found["offline"] = "true" if table.flag("offline") else ""
    diff = table.sub("diff")
    diff.check_keys(("fail-on",))
    found["diff.fail-on"] = diff.choice("fail-on", FAIL_ON_DIFF) or ""
    return found


def _archs(table: Table) -> tuple[str, ...]:
    names = table.texts("arch")
    for name in names:
        if name.strip().lower() != ALL:
            _capability(table, name)
    return names


def _capability(table: Table, name: str) -> str:
    try:
        return parse_capability(name)[0].name
    except UsageError as error:
        raise UsageError(f"{table.where}: {str(error).removeprefix('--')}") from None


def _assumptions(table: Table) -> tuple[str, ...]:
    content = table.sub("assume").content
    found = []
    for name, value in _flat(content):
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise UsageError(
                f"{table.where}: assume.{shown(name)} is {shown(repr(value))}, and must be a text "
                "or a number."
            )
        checked_value = check_assumption(name, str(value), f"{table.where} assume")
        found.append(f"{name}={checked_value}")
    return tuple(found)


def _flat(content: object, prefix: str = "") -> list[tuple[str, object]]:
    """`env.NAME = 1` is a table within the table to TOML."""
    if not isinstance(content, dict):
        return [(prefix.removesuffix("."), content)]
    return [pair for key, value in content.items() for pair in _flat(value, f"{prefix}{key}.")]


def _rules(table: Table) -> tuple[tuple[str, RuleSetting], ...]:
    known = _rule_names() if table.content else ()
    found = []
    for key, value in table.content.items():
        if not any(fnmatch.fnmatchcase(name, key) for name in known):
            raise _no_rule(table, key, known)
        named = {True: "on", False: "off"}.get(value) if isinstance(value, bool) else value
        if named not in tuple(RuleSetting):
            raise table.wrong(key, f"one of {', '.join(RuleSetting)}")
        found.append((key, RuleSetting(named)))
    return tuple(found)


def _rule(table: Table) -> str | None:
    rule = table.text("rule")
    if rule is not None and rule not in _rule_names():
        raise _no_rule(table, rule, _rule_names())
    return rule


def _rule_names() -> tuple[str, ...]:
    # The rules bring most of the program with them, and most files say nothing of rules.
    from sgl_audit.rules import all_rules

    return tuple(doc.id for doc in all_rules())


def _no_rule(table: Table, name: str, known: tuple[str, ...]) -> UsageError:
    near = did_you_mean(name.upper(), known) or "; `sgl-audit rules` lists them."
    return UsageError(f"{table.where}: there is no rule {shown(name)!r}{near}")


def _suppression(table: Table) -> Suppression:
    table.check_keys(_SUPPRESSION)
    reason = table.text("reason")
    if reason is None:
        raise UsageError(f'{table.where}: there is no reason; add reason = "why".')
    found = Suppression(
        origin=table.where,
        reason=reason,
        rule=_rule(table),
        fingerprint=table.text("fingerprint"),
        option=table.text("option"),
        value=table.text("value"),
        file=table.text("file"),
        arch=tuple(_capability(table, name) for name in table.texts("arch")),
        expires=table.day("expires"),
    )
    if not any((found.rule, found.fingerprint, found.option, found.file)):
        raise UsageError(
            f"{table.where} would suppress everything; say which by rule, fingerprint, option or "
            "file."
        )
    return found
