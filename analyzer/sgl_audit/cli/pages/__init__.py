"""Pages about one name: an option, a choice, a gate, an enum, a list or a variable."""

from sgl_audit.cli.pages.finding import find_pages

__all__ = ["find_pages"]
