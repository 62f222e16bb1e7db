"""Static source analyzer for SGLang's backend configuration."""

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
