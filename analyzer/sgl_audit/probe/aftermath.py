"""What became of a server whose answer did not come: gone, well after all, or deaf.

A connection that ends proves no death, and a process that lives proves no health; both are asked.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum

from sgl_audit.probe.client import Client
from sgl_audit.probe.logs import Log
from sgl_audit.probe.processes import Server
from sgl_audit.probe.signatures import CHILD_GONE

# A server that ends itself first writes traces and ends its children.
_DYING_S = 60.0
_SURE_S = 45.0
# SGLang itself gives up after 20 s, and then says 503.
_HEALTH_S = 30.0
_ENDING_S = 10.0
_TICK_S = 0.2
_QUIET_S = 1.0
_SETTLE_S = 5.0


class State(StrEnum):
    """What a server is found to be."""

    GONE = "gone"
    WELL = "well"
    DEAF = "deaf"


@dataclass(slots=True)
class Aftermath:
    """Finds out about one server, for as long as that takes and no longer.

    Attributes:
        sure: seconds in which a server that is neither gone nor well is given up.
        dying: the same, once its log says that it is ending.
    """

    server: Server
    log: Log
    client: Client
    sure: float = _SURE_S
    dying: float = _DYING_S

    def find(self) -> State:
        """Gone as soon as the process is, well as soon as `/health` says 200, else deaf."""
        start = time.monotonic()
        while True:
            if self.server.exit_code() is not None:
                settle(self.server, self.log)
                return State.GONE
            self.log.read()
            ending = self.log.seen(CHILD_GONE) is not None
            spent = time.monotonic() - start
            # One that says that it ends may answer a last time.
            if (not ending or spent >= _ENDING_S) and healthy(self.client):
                return State.WELL
            if time.monotonic() - start >= (self.dying if ending else self.sure):
                return State.DEAF
            time.sleep(_TICK_S)


def healthy(client: Client) -> bool:
    """Whether `/health`, which asks the model too, says 200."""
    return client.get("/health", timeout=_HEALTH_S).status == 200


def settle(server: Server, log: Log) -> None:
    """Read what the others of the family still write when the server itself has ended."""
    deadline = time.monotonic() + _SETTLE_S
    size, wrote = log.size, time.monotonic()
    while server.processes() and time.monotonic() < deadline:
        log.read()
        if log.size != size:
            size, wrote = log.size, time.monotonic()
        elif time.monotonic() - wrote >= _QUIET_S:
            break
        time.sleep(_TICK_S)
    log.finish()
