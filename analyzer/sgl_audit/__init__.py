"""Static source analyzer for SGLang's backend configuration."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sgl_audit.api import audit, facts, open_libraries, open_source, resolve, resolve_batch
    from sgl_audit.version import __version__

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
    """Load the API with the first use of it: the program has to be up before it takes its time."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "__version__":
        from sgl_audit.version import __version__

        return __version__
    from sgl_audit import api

    found: object = getattr(api, name)
    return found
