"""The version of this tool; cached facts and reports carry it."""

__version__ = "0.1.0"
