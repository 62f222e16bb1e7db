"""Questions over HTTP to a server that treats its connections as it likes."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from sgl_audit.probe.client import Client

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}"
# Close with a reset, as a server does that has given up a kept connection.
RESET = struct.pack("ii", 1, 0)


@pytest.fixture
def closing() -> Iterator[str]:
    """Says that it keeps each connection, and resets it as soon as it is used again."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)
                connection.sendall(ANSWER)
                connection.recv(65536)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    listening.close()


def test_a_connection_that_the_server_gave_up_is_not_its_death(closing: str) -> None:
    client = Client(closing, 5)
    answers = [client.post("/generate", {"n": n}) for n in range(4)]
    client.close()
    assert [answer.status for answer in answers] == [200] * 4
