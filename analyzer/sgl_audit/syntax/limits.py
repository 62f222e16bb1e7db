"""How much source is read at once; beyond it a file or a segment is not understood."""

from __future__ import annotations

MAX_FILE_BYTES = 2_000_000
# Statements within statements, each `elif` within the one before; releases have 33 at most. What
# is asked of the conditions around a statement grows with their number.
MAX_NESTING = 200
# LibCST recurses per nesting level in native code and dies with the process where ast refuses.
MAX_DEPTH = 60
MAX_SEGMENT_BYTES = 400_000
