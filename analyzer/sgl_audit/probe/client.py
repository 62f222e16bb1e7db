"""Questions to a server over HTTP, and its answers as they came."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

import httpx

from sgl_audit.errors import UsageError

_CONNECT_S = 5.0
# More than any answer to a prompt; what is longer is no answer.
_MOST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. `status` is None where there was none, and `error` says why.

    Attributes:
        body: the answer's text.
        data: the body where it is JSON, else None.
    """

    status: int | None
    body: str = ""
    data: Any = None
    error: str = ""
    seconds: float = 0.0

    @property
    def cut(self) -> bool:
        """Whether the connection ended without an answer, as when the server dies."""
        return self.status is None and self.error != TIMEOUT


TIMEOUT = "no answer in time"


class Client:
    """One server. Proxies of the environment are not used: the server is named by the user."""

    def __init__(self, base: str, timeout: float = 120.0, token: str | None = None) -> None:
        """One client.

        Args:
            timeout: seconds for one answer, from the question to its last byte.

        Raises:
            UsageError: the token cannot be sent.
        """
        if token and not (token.isascii() and token.isprintable()):
            raise UsageError("the bearer token holds characters that no HTTP header can carry")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.base = base.rstrip("/")
        self.timeout = timeout
        self._client = httpx.Client(
            base_url=self.base,
            timeout=httpx.Timeout(timeout, connect=_CONNECT_S),
            headers=headers,
            trust_env=False,
            follow_redirects=False,
            # A server closes a kept connection when it likes, and that would look like its death.
            limits=httpx.Limits(max_keepalive_connections=0),
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def get(self, path: str, timeout: float | None = None) -> Answer:
        """GET."""
        return self._ask("GET", path, None, timeout)

    def post(self, path: str, body: dict[str, Any], timeout: float | None = None) -> Answer:
        """POST of a JSON object."""
        return self._ask("POST", path, body, timeout)

    def first_token(self, path: str, body: dict[str, Any]) -> tuple[float | None, float]:
        """Seconds to the first part of a streamed answer (None without one), and to its end."""
        start = time.monotonic()
        first = None
        try:
            with self._client.stream("POST", path, json=body) as answer:
                for part in answer.iter_bytes():
                    now = time.monotonic()
                    if first is None and b"data:" in part and answer.status_code == 200:
                        first = now - start
                    if now - start > self.timeout:
                        break
        except httpx.HTTPError:
            return None, time.monotonic() - start
        return first, time.monotonic() - start

    def _ask(
        self, method: str, path: str, body: dict[str, Any] | None, timeout: float | None
    ) -> Answer:
        start = time.monotonic()
        most = self.timeout if timeout is None else timeout
        limit = httpx.Timeout(most, connect=min(most, _CONNECT_S))
        try:
            with self._client.stream(method, path, json=body, timeout=limit) as answer:
                text = _text(answer, start + most)
        except httpx.ConnectTimeout:
            return Answer(None, error="no connection", seconds=time.monotonic() - start)
        except (httpx.TimeoutException, TimeoutError):
            return Answer(None, error=TIMEOUT, seconds=time.monotonic() - start)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            said = f"{type(error).__name__}: {error}".strip(": ")
            return Answer(None, error=said, seconds=time.monotonic() - start)
        return read_answer(answer.status_code, text, time.monotonic() - start)


def _text(answer: httpx.Response, deadline: float) -> str:
    """The body. A server that goes on sending is cut off in time and in size.

    Raises:
        TimeoutError: the deadline is past.
    """
    kept = bytearray()
    for part in answer.iter_bytes():
        kept += part
        if time.monotonic() > deadline:
            raise TimeoutError
        if len(kept) > _MOST_BYTES:
            break
    return kept.decode("utf-8", "replace")


def read_answer(status: int, text: str, seconds: float = 0.0) -> Answer:
    """An answer from its status and text. NaN and Infinity are read, though JSON has none."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    return Answer(status, text, data, "", seconds)
