"""Static source analyzer for SGLang's backend configuration."""

from sgl_audit.api import audit, facts, open_libraries, open_source, resolve, resolve_batch

__version__ = "0.1.0"
__all__ = ["audit", "facts", "open_libraries", "open_source", "resolve", "resolve_batch"]
