"""The endpoint's client against a scripted server: what is sent, and every way to fail."""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.machinery import ModuleSpec
from typing import Any

import pytest

from citewell.errors import CitewellError, ServiceRefused, ServiceUnreachable, UsageError
from citewell.models import configured, openai_compatible
from citewell.models.llm import Completion, Prompt
from citewell.models.openai_compatible import OpenAICompatible
from citewell.settings import Models

KEY = "sk-very-secret-0123456789"
PROMPT = Prompt("Rules.", "Passages and question <|im_end|>.", max_tokens=50)
GOOD = {
    "id": "1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "120 days [1]."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 812, "completion_tokens": 7, "total_tokens": 819},
}


@dataclass
class ScriptedReply:
    """One HTTP reply: a body as text, sent whole or, with `pause_s`, a character at a time."""

    status: int = 200
    body: str = json.dumps(GOOD)
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    pause_s: float = 0
    hang_s: float = 0
    drop: bool = False


def failure(status: int, code: str = "some_code", **headers: str) -> ScriptedReply:
    """An error as OpenAI writes it, with the key and the prompt in its message."""
    error = {"message": f"No: {KEY}: {PROMPT.user}", "type": code, "code": code}
    return ScriptedReply(status, json.dumps({"error": error}), {"Content-Type": "application/json", **headers})


class ScriptedServer(ThreadingHTTPServer):
    """Gives its replies in turn, the last one again and again, and keeps what it was asked."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies: list[ScriptedReply] = []
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def give(self, *replies: ScriptedReply) -> None:
        self.replies = list(replies)


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedServer

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(({name.lower(): value for name, value in self.headers.items()}, body))
        replies = self.server.replies
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        time.sleep(reply.hang_s)
        if reply.drop:
            return
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            for piece in reply.body if reply.pause_s else [reply.body]:
                self.wfile.write(piece.encode())
                time.sleep(reply.pause_s)
        except OSError:
            return  # the client has given up, as the test wants it to


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("CITEWELL_LLM_API_KEY", KEY)
    with ScriptedServer() as scripted:
        scripted.give(ScriptedReply())
        threading.Thread(target=scripted.serve_forever, daemon=True).start()
        yield scripted
        scripted.shutdown()


def model_at(server: ScriptedServer, *, timeout_s: float = 20, max_retries: int = 1) -> OpenAICompatible:
    return OpenAICompatible("m", server.url, timeout_s, max_retries)


def test_what_is_sent_and_what_comes_back(server: ScriptedServer) -> None:
    assert model_at(server).complete(PROMPT) == Completion("120 days [1].", 812, 7, "stop")
    ((headers, body),) = server.requests
    assert headers["authorization"] == f"Bearer {KEY}"
    assert (body["model"], body["temperature"], body["max_tokens"], body["stream"]) == ("m", 0, 50, False)
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["messages"][0]["content"] == "Rules."


def test_a_chat_template_token_in_a_document_is_broken_for_an_open_model(server: ScriptedServer) -> None:
    model_at(server).complete(PROMPT)
    content = server.requests[0][1]["messages"][1]["content"]
    assert "<|im_end|>" not in content
    assert content.startswith("Passages and question <")


@pytest.mark.parametrize(
    ("reply", "kind", "says", "requests"),
    [
        (failure(401), ServiceRefused, "does not accept the key. Set CITEWELL_LLM_API_KEY", 1),
        (failure(403), ServiceRefused, "does not accept the key", 1),
        (failure(404), ServiceRefused, "has no model 'm'", 1),
        (failure(400), ServiceRefused, "rejects the request", 1),
        (
            failure(400, "context_length_exceeded"),
            ServiceRefused,
            "prompt is too long. Lower generation.passage_tokens",
            1,
        ),
        (failure(402), ServiceRefused, "quota is used up", 1),
        (failure(429, "insufficient_quota", **{"x-should-retry": "false"}), ServiceRefused, "quota is used up", 1),
        (failure(429, "rate_limit_exceeded", **{"retry-after-ms": "1"}), ServiceUnreachable, "too many requests", 2),
        (failure(500, **{"retry-after-ms": "1"}), ServiceUnreachable, "answered 500: it fails", 2),
        (failure(503, **{"retry-after-ms": "1"}), ServiceUnreachable, "answered 503: it fails", 2),
        (ScriptedReply(body="{not json"), ServiceUnreachable, "no chat completion", 1),
        (
            ScriptedReply(body="<html>", headers={"Content-Type": "text/html"}),
            ServiceUnreachable,
            "no chat completion",
            1,
        ),
        (ScriptedReply(body="[1, 2]"), ServiceUnreachable, "no chat completion", 1),
        (ScriptedReply(body=json.dumps({**GOOD, "choices": []})), ServiceUnreachable, "no chat completion", 1),
        (ScriptedReply(drop=True), ServiceUnreachable, "no connection", 2),
    ],
    ids=lambda value: value.status if isinstance(value, ScriptedReply) else None,
)
def test_failures(
    server: ScriptedServer, reply: ScriptedReply, kind: type[CitewellError], says: str, requests: int
) -> None:
    server.give(reply)
    with pytest.raises(kind) as caught:
        model_at(server).complete(PROMPT)
    assert says in str(caught.value)
    assert caught.value.remedy
    assert len(server.requests) == requests
    whole = "".join(traceback.format_exception(caught.value))
    assert KEY not in whole
    assert "Passages and question" not in whole, "nor the documents' text"


def test_a_fault_that_passes_is_retried_after_the_time_asked_for(server: ScriptedServer) -> None:
    server.give(failure(429, "rate_limit_exceeded", **{"Retry-After": "1"}), ScriptedReply())
    begin = time.monotonic()
    assert model_at(server).complete(PROMPT).text == "120 days [1]."
    assert time.monotonic() - begin >= 1
    assert len(server.requests) == 2


@pytest.mark.parametrize("reply", [ScriptedReply(hang_s=60), ScriptedReply(pause_s=0.2)], ids=["silent", "slow"])
def test_the_time_limit_is_for_the_whole_call(server: ScriptedServer, reply: ScriptedReply) -> None:
    """A body that comes a character at a time never times out by itself."""
    server.give(reply)
    begin = time.monotonic()
    with pytest.raises(ServiceUnreachable, match="no answer in 1 s"):
        model_at(server, timeout_s=1).complete(PROMPT)
    assert time.monotonic() - begin < 30


def test_nobody_listens() -> None:
    with ScriptedServer() as closed:
        url = closed.url
    with pytest.raises(ServiceUnreachable, match="no connection"):
        OpenAICompatible("m", url, timeout_s=20, max_retries=0).complete(PROMPT)


def test_no_text_and_a_cut_text(server: ScriptedServer) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": None}, "finish_reason": "length"}
    server.give(
        ScriptedReply(
            body=json.dumps({"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})
        )
    )
    assert model_at(server).complete(PROMPT) == Completion("", 0, 0, "length")


def test_a_server_of_ones_own_needs_no_key_and_never_sees_openais(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CITEWELL_LLM_API_KEY")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert model_at(server).complete(PROMPT).text
    assert KEY not in server.requests[0][0]["authorization"]


def test_openai_itself_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CITEWELL_LLM_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ServiceRefused, match="Set CITEWELL_LLM_API_KEY or OPENAI_API_KEY"):
        OpenAICompatible("gpt-5-mini").complete(PROMPT)


def test_errors_show_no_secret_of_the_url(server: ScriptedServer) -> None:
    server.give(failure(404))
    url = server.url.replace("http://", "http://user:hunter2@") + "?token=hunter3"
    with pytest.raises(ServiceRefused) as caught:
        OpenAICompatible("m", url).complete(PROMPT)
    assert "hunter" not in str(caught.value)
    assert "127.0.0.1" in str(caught.value)


def test_the_model_shows_no_key(server: ScriptedServer) -> None:
    assert KEY not in repr(model_at(server))


def test_a_url_that_is_none() -> None:
    with pytest.raises(UsageError, match="not a URL"):
        OpenAICompatible("m", "http://[::1/v1")


def test_inside_a_running_loop_in_threads_and_again(server: ScriptedServer) -> None:
    model = model_at(server)

    async def handler() -> Completion:
        return model.complete(PROMPT)

    async def many() -> list[Completion]:
        return await asyncio.gather(*(asyncio.to_thread(model.complete, PROMPT) for _ in range(4)))

    assert asyncio.run(handler()).text == "120 days [1]."
    assert len(asyncio.run(many())) == 4
    assert model.complete(PROMPT).text == "120 days [1]."


def test_a_process_ends_cleanly_after_two_calls(server: ScriptedServer) -> None:
    script = (
        "import asyncio, sys; from citewell.models.llm import Prompt;"
        "from citewell.models.openai_compatible import OpenAICompatible as O;"
        "m = O('m', sys.argv[1]); p = Prompt('s', 'u', 9); print(m.complete(p).text);\n"
        "async def main(): print(m.complete(p).text)\n"
        "asyncio.run(main())"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, server.url],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "120 days [1].\n" * 2, "")


def test_the_settings_name_the_model() -> None:
    assert configured.llm(Models()) is None
    named = Models(llm="openai:org/model-7b", llm_url="http://127.0.0.1:8080/v1", llm_timeout_s=7)
    assert configured.llm(named) == OpenAICompatible("org/model-7b", "http://127.0.0.1:8080/v1", 7)


def test_the_extra_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        openai_compatible, "find_spec", lambda name: None if name == "openai" else ModuleSpec(name, None)
    )
    with pytest.raises(
        UsageError, match=r"needs openai, not installed here. Install it: pip install 'citewell\[llm\]'"
    ):
        configured.llm(Models(llm="openai:m"))


def test_the_extra_is_installed_but_broken(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai.direct", None)
    with pytest.raises(UsageError, match="is installed, but broken"):
        model_at(server).complete(PROMPT)


def test_importing_costs_nothing_until_the_first_call() -> None:
    script = (
        "import sys, citewell.models.openai_compatible; print('pydantic_ai' in sys.modules, 'openai' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert done.stdout.split() == ["False", "False"]
