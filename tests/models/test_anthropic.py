"""Anthropic's Messages API: what is sent, what comes back, which key goes where. Its streams: test_llm_streaming.py."""

import traceback
from collections.abc import Iterator

import pytest

from citewell.errors import CitewellError, PromptRefused, ServiceRefused, ServiceUnreachable
from citewell.models.anthropic import Anthropic
from citewell.models.chat import Chat
from citewell.models.llm import Completion, Prompt
from tests.models.scripted_chat_server import (
    ScriptedReply,
    ScriptedServer,
    anthropic_failure,
    anthropic_whole,
    serving,
)

KEY = "sk-ant-very-secret-0123456789"
PROMPT = Prompt("Rules.", "Passages and question.", max_tokens=50)
SAID = f"No: {KEY}: {PROMPT.user}"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv("CITEWELL_LLM_API_KEY", KEY)
    with serving() as scripted:
        scripted.give(ScriptedReply(anthropic_whole()))
        yield scripted


def model_at(server: ScriptedServer, name: str = "claude-haiku-4-5") -> Chat:
    return Chat(Anthropic(name, server.root), timeout_s=20, max_retries=1)


def test_what_is_sent_and_what_comes_back(server: ScriptedServer) -> None:
    assert model_at(server).complete(PROMPT) == Completion("120 days [1].", 812, 7, "stop", cached_tokens=800)
    ((headers, body),) = server.requests
    assert headers[":path"] == "/v1/messages"
    assert KEY in headers.get("authorization", "") + headers.get("x-api-key", "")
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("claude-haiku-4-5", 0, 50)
    assert [message["role"] for message in body["messages"]] == ["user"]


def test_the_rules_are_marked_for_the_cache_and_the_question_is_not(server: ScriptedServer) -> None:
    model_at(server).complete(PROMPT)
    body = server.requests[0][1]
    (rules,) = body["system"]
    assert (rules["text"], rules["cache_control"]["type"]) == ("Rules.", "ephemeral")
    assert "cache_control" not in str(body["messages"])


@pytest.mark.parametrize(
    ("name", "thinking"), [("claude-opus-4-8", None), ("claude-sonnet-5", {"type": "disabled"})], ids=str
)
def test_a_model_that_takes_no_temperature_gets_none(
    server: ScriptedServer, name: str, thinking: dict[str, str] | None
) -> None:
    """And no thoughts where it can be told: they would count against the answer's tokens."""
    model_at(server, name).complete(PROMPT)
    body = server.requests[0][1]
    assert "temperature" not in body
    assert body.get("thinking") == thinking


@pytest.mark.parametrize(
    ("reply", "kind", "says", "requests"),
    [
        (anthropic_failure(401, "authentication_error", SAID), ServiceRefused, "does not accept the key", 1),
        (anthropic_failure(403, "permission_error", SAID), ServiceRefused, "does not accept the key", 1),
        (anthropic_failure(404, "not_found_error", SAID), ServiceRefused, "has no model 'claude-haiku-4-5'", 1),
        (anthropic_failure(400, "invalid_request_error", SAID), PromptRefused, "rejects the request", 1),
        (
            anthropic_failure(400, "invalid_request_error", "prompt is too long: 900 tokens"),
            PromptRefused,
            "the prompt is too long. Lower generation.passage_tokens",
            1,
        ),
        (
            anthropic_failure(400, "invalid_request_error", "Your credit balance is too low"),
            ServiceRefused,
            "quota is used up",
            1,
        ),
        (anthropic_failure(413, "request_too_large", SAID), PromptRefused, "the prompt is too long", 1),
        (
            anthropic_failure(429, "rate_limit_error", SAID, **{"retry-after-ms": "1"}),
            ServiceUnreachable,
            "too many requests",
            2,
        ),
        (
            anthropic_failure(529, "overloaded_error", SAID, **{"retry-after-ms": "1"}),
            ServiceUnreachable,
            "answered 529: it fails",
            2,
        ),
        (ScriptedReply("[1, 2]"), ServiceUnreachable, 'Check models.llm_url, to which "/v1/messages" is added', 1),
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
    assert len(server.requests) == requests
    shown = "".join(traceback.format_exception(caught.value))
    assert KEY not in shown
    assert PROMPT.user not in shown


def test_a_refusal_to_answer_is_told(server: ScriptedServer) -> None:
    server.give(ScriptedReply(anthropic_whole("", finish="refusal")))
    assert model_at(server).complete(PROMPT) == Completion("", 812, 7, "content_filter", 800)


def test_another_server_never_sees_anthropics_key(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CITEWELL_LLM_API_KEY")
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", KEY)
    assert model_at(server).complete(PROMPT).text
    assert KEY not in str(server.requests[0][0])


def test_anthropic_itself_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CITEWELL_LLM_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ServiceRefused, match="Set CITEWELL_LLM_API_KEY or ANTHROPIC_API_KEY"):
        Chat(Anthropic("claude-haiku-4-5")).complete(PROMPT)


def test_the_model_shows_no_key(server: ScriptedServer) -> None:
    assert KEY not in repr(model_at(server))
