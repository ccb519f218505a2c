"""An endpoint without support of schemas, over real HTTP: how often it is asked."""

import json
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pydantic import BaseModel

from citewell.errors import PromptRefused, ServiceUnreachable
from citewell.models import configured
from citewell.models.llm import Completion, Prompt
from citewell.models.structured import complete_as
from citewell.settings import Models
from tests.models.scripted_chat_server import ScriptedReply, openai_failure, openai_whole


class Judged(BaseModel):
    verdict: str


class Graded(BaseModel):
    grade: int


GOOD = '{"verdict": "yes", "grade": 3}'
PROMPT = Prompt("Judge.", "The passage.", max_tokens=50)
REFUSES = openai_failure(400, "invalid_request_error", "response_format is not supported")


class ScriptedSchemaRefuser(ThreadingHTTPServer):
    """A chat endpoint: what has a response format gets the replies of `refusal` in turn, the rest those of `plain`."""

    daemon_threads = True

    def __init__(self, refusal: Sequence[ScriptedReply], plain: Sequence[ScriptedReply]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.refusal, self.plain = list(refusal), list(plain)
        self.requests: list[dict[str, Any]] = []
        self.lock = threading.Lock()

    @property
    def with_schema(self) -> int:
        return sum("response_format" in request for request in self.requests)

    def model(self, name: str = "m") -> Models:
        return Models(llm=f"openai:{name}", llm_url=f"http://127.0.0.1:{self.server_port}/v1", llm_timeout_s=5)


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedSchemaRefuser

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.requests.append(asked)
            replies = self.server.refusal if "response_format" in asked else self.server.plain
            reply = replies.pop(0) if len(replies) > 1 else replies[0]
        body = str(reply.body).encode()
        self.send_response(reply.status)
        for name, value in {**reply.headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def refuser(*plain: ScriptedReply, refusal: Sequence[ScriptedReply] = (REFUSES,)) -> Iterator[ScriptedSchemaRefuser]:
    with ScriptedSchemaRefuser(refusal, plain or (ScriptedReply(openai_whole(GOOD)),)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEWELL_LLM_API_KEY", "sk-secret")


def test_an_endpoint_that_refused_the_schema_is_asked_with_one_no_more() -> None:
    with refuser() as server:
        llm = configured.llm(server.model())
        assert llm is not None
        assert complete_as(llm, PROMPT, Judged) == Judged(verdict="yes")
        assert len(server.requests) == 2
        assert complete_as(llm, PROMPT, Judged) == Judged(verdict="yes")
        assert complete_as(llm, PROMPT, Graded) == Graded(grade=3)
        assert (len(server.requests), server.with_schema) == (4, 1)
        assert "JSON schema" in server.requests[-1]["messages"][0]["content"], "the form stays in the rules"


def test_that_is_remembered_of_one_model_and_for_one_client() -> None:
    with refuser() as server:
        for name in ("m", "other", "m"):
            llm = configured.llm(server.model(name))
            assert llm is not None
            complete_as(llm, PROMPT, Judged)
        assert (len(server.requests), server.with_schema) == (6, 3)


def test_a_reply_that_is_none_is_asked_for_again_without_a_schema() -> None:
    with refuser(ScriptedReply(openai_whole("perhaps")), ScriptedReply(openai_whole(GOOD))) as server:
        llm = configured.llm(server.model())
        assert llm is not None
        assert complete_as(llm, PROMPT, Judged) == Judged(verdict="yes")
        assert (len(server.requests), server.with_schema) == (3, 1)


@pytest.mark.parametrize("status", [429, 503])
def test_a_failure_that_passes_teaches_nothing(status: int) -> None:
    busy = openai_failure(status, "overloaded", "Later.", **{"Retry-After": "60"})
    with refuser(refusal=[busy, ScriptedReply(openai_whole(GOOD))]) as server:
        llm = configured.llm(server.model())
        assert llm is not None
        with pytest.raises(ServiceUnreachable):
            complete_as(llm, PROMPT, Judged)
        assert complete_as(llm, PROMPT, Judged) == Judged(verdict="yes")
        assert (len(server.requests), server.with_schema) == (2, 2)


def test_a_prompt_that_is_refused_either_way_teaches_nothing() -> None:
    words = openai_failure(400, "content_policy_violation", "No.")
    with refuser(
        words, ScriptedReply(openai_whole(GOOD)), refusal=[words, ScriptedReply(openai_whole(GOOD))]
    ) as server:
        llm = configured.llm(server.model())
        assert llm is not None
        with pytest.raises(PromptRefused):
            complete_as(llm, PROMPT, Judged)
        assert (len(server.requests), server.with_schema) == (2, 1)
        assert complete_as(llm, PROMPT, Judged) == Judged(verdict="yes")
        assert (len(server.requests), server.with_schema) == (3, 2)


def test_a_prompt_that_is_too_long_is_sent_once() -> None:
    long = openai_failure(400, "context_length_exceeded", "Too long.")
    with refuser(refusal=[long]) as server:
        llm = configured.llm(server.model())
        assert llm is not None
        with pytest.raises(PromptRefused):
            complete_as(llm, PROMPT, Judged)
        assert len(server.requests) == 1


def test_a_prompt_without_a_schema_is_put_once() -> None:
    with refuser(REFUSES) as server:
        llm = configured.llm(server.model())
        assert llm is not None
        with pytest.raises(PromptRefused):
            llm.complete(PROMPT)
        assert len(server.requests) == 1


def test_threads_share_what_one_has_learned() -> None:
    with refuser() as server:
        llm = configured.llm(server.model())
        assert llm is not None

        def ask(_: int) -> Judged | Completion | object:
            return complete_as(llm, PROMPT, Judged)

        with ThreadPoolExecutor(4) as pool:
            first = list(pool.map(ask, range(4)))
            before = server.with_schema
            assert list(pool.map(ask, range(8))) == [first[0]] * 8
        assert 1 <= before <= 4
        assert server.with_schema == before
