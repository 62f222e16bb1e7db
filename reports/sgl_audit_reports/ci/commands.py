"""Workflow commands of GitHub: `::error file=...,line=...::text`."""

from __future__ import annotations

from sgl_audit_reports.common.text import visible


def command(name: str, properties: dict[str, str], *lines: str) -> str:
    """One command on one line; empty lines of the text are left out."""
    shown = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    text = "%0A".join(_data(line) for line in lines if line)
    return f"::{name}{' ' if shown else ''}{shown}::{text}"


def _data(text: str) -> str:
    # A new line would end the command, and what follows could be another one.
    return visible(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
