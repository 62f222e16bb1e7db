"""Bytes to syntax: what is worth parsing, where statements are, and their exact text."""

from sgl_audit.syntax.excerpt import excerpt
from sgl_audit.syntax.parse import ParsedFile, parse_file, parse_source

__all__ = ["ParsedFile", "excerpt", "parse_file", "parse_source"]
