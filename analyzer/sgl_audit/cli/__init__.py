"""The command line. Nothing is imported here that `--help` and `--version` do not need."""

from sgl_audit.cli.entry import main

__all__ = ["main"]
