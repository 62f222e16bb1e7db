"""Open a SOURCE, whatever its form, as one read-only tree of bytes."""

from sgl_audit.source.key import content_key
from sgl_audit.source.opening import open_source

__all__ = ["content_key", "open_source"]
