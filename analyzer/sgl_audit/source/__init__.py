"""Open a SOURCE, whatever its form, as one read-only tree of bytes."""

from sgl_audit.source.key import content_key
from sgl_audit.source.opening import open_source
from sgl_audit.source.pinned import open_pinned
from sgl_audit.source.wanted import Wanted

__all__ = ["Wanted", "content_key", "open_pinned", "open_source"]
