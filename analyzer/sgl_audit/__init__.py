"""Static source analyzer for SGLang's backend configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sgl_audit.version import __version__

if TYPE_CHECKING:
    from sgl_audit.api import audit, facts, open_libraries, open_source, resolve, resolve_batch

__all__ = [
    "__version__",
    "audit",
    "facts",
    "open_libraries",
    "open_source",
    "resolve",
    "resolve_batch",
]


def __getattr__(name: str) -> object:
    # `sgl-audit --help` needs none of it, and imports this package first.
    if name in __all__:
        from sgl_audit import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
