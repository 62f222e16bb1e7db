"""Gone, well or deaf: what is said of a server whose answer did not come."""

from __future__ import annotations

import time
from typing import Any

import pytest

from sgl_audit.model.evidence import FailureClass, Phase
from sgl_audit.probe import aftermath, smoke
from sgl_audit.probe.aftermath import Aftermath, State
from sgl_audit.probe.classify import End
from sgl_audit.probe.client import TIMEOUT, Answer, read_answer
from sgl_audit.probe.logs import Log, from_lines
from sgl_audit.probe.prompts import Prompt
from sgl_audit.probe.weighing import Seen, weigh

ASK = Prompt("capital", "generate", "The capital of France is", (r"\bParis\b",))
CUT = Answer(None, error="RemoteProtocolError: closed")
GONE = "Received sigquit from a child process."


class Process:
    """A server that ends after some looks, or never."""

    def __init__(self, looks: int | None = None) -> None:
        self.left = looks

    def exit_code(self) -> int | None:
        if self.left is None:
            return None
        self.left -= 1
        return -9 if self.left < 0 else None

    def processes(self) -> list[Any]:
        return []


class Health:
    """Answers `/health` with one status after the other; the last one for ever."""

    def __init__(self, *statuses: int | None) -> None:
        self.statuses = list(statuses)

    def get(self, path: str, timeout: float | None = None) -> Answer:
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        return Answer(status)


class Lines(Log):
    """A log that is not read from a file."""

    def __init__(self, *lines: str) -> None:
        super().__init__(from_lines([]).path)
        self.lines = list(lines)

    def read(self) -> list[str]:
        return []


def found(process: Process, health: Health, *lines: str, sure: float = 0.5) -> State:
    at: Any = Aftermath(process, Lines(*lines), health, sure, sure)  # type: ignore[arg-type]
    state: State = at.find()
    return state


def test_a_process_that_ends_late_is_gone() -> None:
    assert found(Process(2), Health(None)) is State.GONE


def test_a_server_that_comes_to_itself_is_well() -> None:
    assert found(Process(), Health(503, 200)) is State.WELL


def test_a_process_that_neither_ends_nor_answers_is_deaf() -> None:
    assert found(Process(), Health(503)) is State.DEAF


def test_one_that_says_that_it_ends_is_not_well_because_it_still_answers() -> None:
    start = time.monotonic()
    assert found(Process(2), Health(200), GONE) is State.GONE
    assert time.monotonic() - start < aftermath._ENDING_S


def good(text: str = " Paris.") -> Answer:
    meta = '{"finish_reason": {"type": "stop"}}'
    return read_answer(200, f'{{"text": "{text}", "output_ids": [1, 2], "meta_info": {meta}}}')


def weighed(
    state: State, *answers: Answer, log: Log | None = None, code: int | None = None, since: int = 0
) -> tuple[FailureClass | None, str]:
    asked = [smoke.judged(ASK, answer, 512) for answer in answers]
    end = End(code, Phase.SMOKE)
    seen = Seen(asked, log or from_lines([]), state, end, 0, since, len(asked))
    failure, _ = weigh(seen)
    return (None, "") if failure is None else (failure.failure, failure.summary)


def test_a_cut_connection_alone_is_no_death() -> None:
    kind, text = weighed(State.WELL, good(), CUT)
    assert kind is FailureClass.UNKNOWN
    assert "although the server is well" in text


def test_no_answer_in_time_is_slow_or_a_hang_as_the_server_is() -> None:
    late = Answer(None, error=TIMEOUT)
    assert weighed(State.WELL, good(), late)[0] is FailureClass.SLOW
    assert weighed(State.DEAF, good(), late)[0] is FailureClass.HANG
    assert "'capital'" in weighed(State.DEAF, good(), late)[1]


def raised(text: str, gone: bool = False) -> list[str]:
    frame = '  File "/v/site-packages/sglang/srt/a.py", line 1, in b'
    lines = ["Traceback (most recent call last):", frame, "    c()", text, ""]
    return [*lines, GONE] if gone else lines


NOT_JSON = raised("ValueError: Out of range float values are not JSON compliant")


def test_nan_that_could_not_be_written_is_nan_whatever_comes_after() -> None:
    """One answer is HTTP 500, and a later connection is cut: by the server's end, or by nothing."""
    fault = read_answer(500, "Internal Server Error")
    end = raised("RuntimeError: shapes do not fit", gone=True)
    for state, log, code in (
        (State.WELL, NOT_JSON, None),
        (State.GONE, [*NOT_JSON, *end], -9),
        (State.DEAF, NOT_JSON, None),
    ):
        kind, text = weighed(state, fault, good(), CUT, log=from_lines(log), code=code)
        assert kind is FailureClass.NAN
        assert "1 of 3" in text


def test_a_fault_that_was_survived_is_not_what_the_server_died_of() -> None:
    """The first exception answered HTTP 400 or 500; the death came without a word."""
    log = from_lines([*NOT_JSON, "all is well", "and then nothing"])
    kind, text = weighed(State.GONE, good(), CUT, log=log, code=-9, since=len(NOT_JSON))
    assert kind is FailureClass.DIED_PROMPT
    assert "JSON" not in text


def test_prompts_that_were_not_asked_are_no_pass() -> None:
    asked = [smoke.judged(ASK, good(), 512)]
    seen = Seen(asked, from_lines([]), State.WELL, End(None, Phase.SMOKE), wanted=5)
    failure, _ = weigh(seen)
    assert failure is not None
    assert (failure.failure, failure.summary[:9]) == (FailureClass.SLOW, "only 1 of")


@pytest.mark.parametrize(("well", "posts"), [(True, 2), (False, 1)])
def test_a_cut_connection_is_asked_over_once_where_the_server_is_well(
    well: bool, posts: int
) -> None:
    class Cutting:
        count = 0

        def post(self, path: str, body: dict[str, Any]) -> Answer:
            self.count += 1
            return CUT

    client: Any = Cutting()
    asked = smoke.ask_all(client, [ASK, ASK], None, lambda cut: well, lambda done: None)
    assert (client.count, len(asked)) == (posts, 1)
