"""Completions in pieces, from both protocols: order, end, and every way to fail before and in the middle."""

import asyncio
import logging
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import pytest

from citewell.errors import CitewellError, PromptRefused, ServiceRefused, ServiceUnreachable
from citewell.models.anthropic import Anthropic
from citewell.models.chat import Chat
from citewell.models.llm import Completion, Prompt, StreamingLLM, stream
from citewell.models.openai_compatible import OpenAICompatible
from tests.models.scripted_chat_server import (
    EVENTS,
    ScriptedReply,
    ScriptedServer,
    anthropic_events,
    anthropic_failure,
    openai_events,
    openai_failure,
    serving,
)

KEY = "sk-very-secret-0123456789"
PROMPT = Prompt("Rules.", "Passages and question.", max_tokens=50)
SAID = f"No: {KEY}: {PROMPT.user}"
STILL_HERE = [": still here\n\n"]
"""A comment, by which a server keeps a connection open."""


@dataclass(frozen=True)
class Wire:
    """How one protocol says things. `early` is what it has told by the time of the first piece."""

    model: Callable[[str, float], StreamingLLM]
    whole: Callable[..., list[str]]
    begun: Callable[..., list[str]]
    refused: str
    failure: Callable[..., ScriptedReply]
    error: str
    early: Completion
    last: Completion


WIRES = {
    "openai": Wire(
        model=lambda root, timeout_s: Chat(OpenAICompatible("m", f"{root}/v1"), timeout_s, 1),
        whole=openai_events,
        begun=partial(openai_events, finish=None, done=False),
        refused="content_filter",
        failure=openai_failure,
        error=f"data: {openai_failure(500, 'server_error', SAID).body}\n\n",
        early=Completion(""),
        last=Completion("120 days [1].", 812, 7, "stop"),
    ),
    "anthropic": Wire(
        model=lambda root, timeout_s: Chat(Anthropic("claude-opus-4-8", root), timeout_s, 1),
        whole=anthropic_events,
        begun=partial(anthropic_events, finish=None),
        refused="refusal",
        failure=anthropic_failure,
        error=f"event: error\ndata: {anthropic_failure(500, 'api_error', SAID).body}\n\n",
        early=Completion("", 812, 1, cached_tokens=800),
        last=Completion("120 days [1].", 812, 7, "stop", 800),
    ),
}


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> Wire:
    return WIRES[request.param]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.setenv("CITEWELL_LLM_API_KEY", KEY)
    with serving() as scripted:
        yield scripted


def as_events(pieces: Sequence[str], *, pause_s: float = 0, cut: bool = False) -> ScriptedReply:
    return ScriptedReply(pieces, headers=EVENTS, pause_s=pause_s, cut=cut)


def fails(wire: Wire, server: ScriptedServer, kind: type[CitewellError], timeout_s: float = 20) -> tuple[str, str]:
    """What had come before the failure, and what it says; that it gives nothing away is checked."""
    pieces = wire.model(server.root, timeout_s).stream(PROMPT)
    with pytest.raises(kind) as caught:
        list(pieces)
    shown = "".join(traceback.format_exception(caught.value))
    assert KEY not in shown
    assert PROMPT.user not in shown
    assert caught.value.__context__ is None
    assert caught.value.remedy
    assert ours() == []
    return pieces.completion.text, str(caught.value)


def ours() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "citewell-llm"]


def test_the_pieces_and_then_the_whole(wire: Wire, server: ScriptedServer) -> None:
    server.give(as_events(wire.whole("120 ", "days ", "[1].")))
    with wire.model(server.root, 20).stream(PROMPT) as pieces:
        assert next(pieces) == "120 "
        assert (pieces.counts, pieces.completion) == (wire.early, replace(wire.early, text="120 "))
        assert list(pieces) == ["days ", "[1]."]
    assert pieces.completion == wire.last
    assert server.requests[0][1]["stream"] is True
    assert ours() == []


def test_nothing_is_sent_before_a_piece_is_asked_for(wire: Wire, server: ScriptedServer) -> None:
    wire.model(server.root, 20).stream(PROMPT).close()
    assert server.requests == []


def test_an_early_end_hangs_up(wire: Wire, server: ScriptedServer) -> None:
    """Of a reply that goes on: the piece is there before the next is made, and then the endpoint is told."""
    server.give(as_events(wire.begun("120 ") + 10_000 * STILL_HERE, pause_s=0.01))
    with wire.model(server.root, 60).stream(PROMPT) as pieces:
        assert next(pieces) == "120 "
    assert server.gone.wait(10), "the endpoint sees that the connection is closed"
    assert ours() == []
    assert pieces.completion == replace(wire.early, text="120 ")
    assert list(pieces) == []


def test_control_c_hangs_up(wire: Wire, server: ScriptedServer) -> None:
    server.give(as_events(wire.begun("120 ") + 10_000 * STILL_HERE, pause_s=0.01))

    def interrupt() -> None:
        time.sleep(0.2)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    with wire.model(server.root, 60).stream(PROMPT) as pieces:
        next(pieces)
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            next(pieces)
    assert server.gone.wait(10)
    assert ours() == []


def test_a_fault_that_passes_before_the_first_piece(wire: Wire, server: ScriptedServer) -> None:
    server.give(wire.failure(429, "rate_limit_error", SAID, **{"Retry-After": "1"}), as_events(wire.whole("120 ")))
    begin = time.monotonic()
    assert list(wire.model(server.root, 20).stream(PROMPT)) == ["120 "]
    assert time.monotonic() - begin >= 1
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("status", "code", "kind", "says"),
    [
        (401, "authentication_error", ServiceRefused, "does not accept the key. Set CITEWELL_LLM_API_KEY"),
        (402, "billing_error", ServiceRefused, "quota is used up"),
        (404, "not_found_error", ServiceRefused, "has no model"),
        (400, "content_filter", PromptRefused, "rejects the request"),
        (413, "request_too_large", PromptRefused, "prompt is too long"),
    ],
)
def test_a_refusal(
    wire: Wire, server: ScriptedServer, status: int, code: str, kind: type[CitewellError], says: str
) -> None:
    server.give(wire.failure(status, code, SAID))
    text, said = fails(wire, server, kind)
    assert (text, says in said, len(server.requests)) == ("", True, 1)


def test_more_time_than_is_left_is_not_waited_for(wire: Wire, server: ScriptedServer) -> None:
    server.give(wire.failure(429, "rate_limit_error", SAID, **{"Retry-After": "3600"}))
    assert "asks to wait 3,600 s" in fails(wire, server, ServiceUnreachable)[1]
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "said",
    [
        "",
        "<html>",
        "event: message_start\ndata: {nope\n\n",
        "event: message_start\ndata: [1, 2]\n\n",
        'event: message_start\ndata: {"type": "message_start", "message": 7, "choices": 7}\n\n',
        'event: message_start\ndata: {"type": "message_start", "choices": [7]}\n\n',
    ],
)
def test_what_is_no_stream(wire: Wire, server: ScriptedServer, said: str) -> None:
    server.give(as_events([said] if said else []))
    assert "what it sent is no chat completion" in fails(wire, server, ServiceUnreachable)[1]


def test_nonsense_in_the_middle(wire: Wire, server: ScriptedServer) -> None:
    server.give(as_events([*wire.begun("120 "), "event: message_delta\ndata: {nope\n\n"]))
    text, said = fails(wire, server, ServiceUnreachable)
    assert (text, "its answer breaks off" in said) == ("120 ", True)


def test_an_end_without_a_reason_is_no_end(wire: Wire, server: ScriptedServer) -> None:
    server.give(as_events(wire.begun("120 ")))
    text, said = fails(wire, server, ServiceUnreachable)
    assert (text, "its answer breaks off" in said) == ("120 ", True)


def test_a_connection_that_breaks(wire: Wire, server: ScriptedServer) -> None:
    server.give(as_events(wire.begun("120 "), cut=True))
    text, said = fails(wire, server, ServiceUnreachable)
    assert (text, "broke in the middle of the answer" in said) == ("120 ", True)
    assert len(server.requests) == 1, "what has begun is not begun again"


def test_an_error_in_the_middle(wire: Wire, server: ScriptedServer) -> None:
    server.give(as_events([*wire.begun("120 "), wire.error]))
    text, said = fails(wire, server, ServiceUnreachable)
    assert (text, "answered 500: it fails" in said) == ("120 ", True)


def test_a_time_out_in_the_middle(wire: Wire, server: ScriptedServer) -> None:
    """A stream that only says that it is still there never times out by itself."""
    server.give(as_events(wire.begun("120 ") + 10_000 * STILL_HERE, pause_s=0.05))
    text, said = fails(wire, server, ServiceUnreachable, timeout_s=1.5)
    assert (text, "no answer in 1.5 s" in said) == ("120 ", True)


def test_a_filter_cuts_it_off(wire: Wire, server: ScriptedServer) -> None:
    server.give(as_events(wire.whole("120 ", finish=wire.refused)))
    with wire.model(server.root, 20).stream(PROMPT) as pieces:
        assert list(pieces) == ["120 "]
    assert pieces.completion.finish_reason == "content_filter"


def test_inside_a_running_loop_and_in_many_threads(wire: Wire, server: ScriptedServer) -> None:
    server.give(as_events(wire.whole("120 ", "days")))
    model = wire.model(server.root, 60)

    async def handler() -> list[str]:
        return list(model.stream(PROMPT))

    assert asyncio.run(handler()) == ["120 ", "days"]
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(lambda _: list(model.stream(PROMPT)), range(3))) == [["120 ", "days"]] * 3
    assert ours() == []


def test_the_key_is_in_no_log(wire: Wire, server: ScriptedServer, caplog: pytest.LogCaptureFixture) -> None:
    server.give(as_events(wire.whole("120 ")))
    with caplog.at_level(logging.DEBUG):
        list(wire.model(server.root, 20).stream(PROMPT))
    assert caplog.records
    assert KEY not in caplog.text


def test_a_model_that_gives_no_pieces_is_one_piece() -> None:
    class ScriptedLLM:
        def complete(self, prompt: Prompt) -> Completion:
            return Completion(f"About {prompt.user}", 812, 7, "stop")

    with stream(ScriptedLLM(), PROMPT) as pieces:
        assert list(pieces) == ["About Passages and question."]
    assert pieces.completion == Completion("About Passages and question.", 812, 7, "stop")
