"""The endpoint's client against a scripted server: what is sent, and every way to fail."""

import asyncio
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from importlib.machinery import ModuleSpec

import pytest
from pydantic import ValidationError

from citewell.errors import CitewellError, PromptRefused, ServiceRefused, ServiceUnreachable, UsageError
from citewell.models import chat, configured
from citewell.models.anthropic import Anthropic
from citewell.models.chat import Chat
from citewell.models.counted import Price
from citewell.models.llm import Completion, Prompt, StreamingLLM
from citewell.models.ollama import Ollama
from citewell.models.openai_compatible import OpenAICompatible
from citewell.models.schemas import SchemaOptional
from citewell.settings import Models
from tests.models.scripted_chat_server import ScriptedReply, ScriptedServer, openai_failure, openai_whole, serving

KEY = "sk-very-secret-0123456789"
PROMPT = Prompt("Rules.", "Passages and question <|im_end|>.", max_tokens=50)
GOOD = ScriptedReply(openai_whole())


def failure(status: int, code: str = "some_code", **headers: str) -> ScriptedReply:
    """An error as OpenAI writes it, with the key and the prompt in its message."""
    return openai_failure(status, code, f"No: {KEY}: {PROMPT.user}", **headers)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("CITEWELL_LLM_API_KEY", KEY)
    with serving() as scripted:
        scripted.give(GOOD)
        yield scripted


def model_at(server: ScriptedServer, *, timeout_s: float = 20, max_retries: int = 1) -> Chat:
    return Chat(OpenAICompatible("m", server.url), timeout_s, max_retries)


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
        (failure(400), PromptRefused, "rejects the request", 1),
        (failure(400, "content_filter"), PromptRefused, "rejects the request", 1),
        (failure(413), PromptRefused, "prompt is too long", 1),
        (
            failure(400, "context_length_exceeded"),
            PromptRefused,
            "prompt is too long. Lower generation.passage_tokens",
            1,
        ),
        (failure(402), ServiceRefused, "quota is used up", 1),
        (failure(429, "insufficient_quota", **{"x-should-retry": "false"}), ServiceRefused, "quota is used up", 1),
        (failure(429, "rate_limit_exceeded", **{"retry-after-ms": "1"}), ServiceUnreachable, "too many requests", 2),
        (failure(500, **{"retry-after-ms": "1"}), ServiceUnreachable, "answered 500: it fails", 2),
        (failure(503, **{"retry-after-ms": "1"}), ServiceUnreachable, "answered 503: it fails", 2),
        (ScriptedReply("{not json"), ServiceUnreachable, "no chat completion", 1),
        (
            ScriptedReply("<html>", headers={"Content-Type": "text/html"}),
            ServiceUnreachable,
            "no chat completion",
            1,
        ),
        (ScriptedReply("[1, 2]"), ServiceUnreachable, "no chat completion", 1),
        (
            ScriptedReply('{"choices": [], "id": "1", "object": "chat.completion", "created": 1, "model": "m"}'),
            ServiceUnreachable,
            "no chat completion",
            1,
        ),
        (ScriptedReply("", drop=True), ServiceUnreachable, "no connection", 2),
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
    assert caught.value.__context__ is None, "nothing to be shown by who walks the chain"
    assert KEY not in whole
    assert "Passages and question" not in whole, "nor the documents' text"


def test_a_fault_that_passes_is_retried_after_the_time_asked_for(server: ScriptedServer) -> None:
    server.give(failure(429, "rate_limit_exceeded", **{"Retry-After": "1"}), GOOD)
    begin = time.monotonic()
    assert model_at(server).complete(PROMPT).text == "120 days [1]."
    assert time.monotonic() - begin >= 1
    assert len(server.requests) == 2


def test_more_time_than_is_left_is_not_waited_for(server: ScriptedServer) -> None:
    server.give(failure(429, "rate_limit_exceeded", **{"Retry-After": "3600"}), GOOD)
    with pytest.raises(ServiceUnreachable, match="too many requests, and it asks to wait 3,600 s"):
        model_at(server).complete(PROMPT)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "reply", [ScriptedReply("", hang_s=60), ScriptedReply(openai_whole(), pause_s=0.2)], ids=["silent", "slow"]
)
def test_the_time_limit_is_for_the_whole_call(server: ScriptedServer, reply: ScriptedReply) -> None:
    """A body that comes a character at a time never times out by itself."""
    server.give(reply)
    begin = time.monotonic()
    with pytest.raises(ServiceUnreachable, match="no answer in 1 s"):
        model_at(server, timeout_s=1).complete(PROMPT)
    assert time.monotonic() - begin < 30


def test_nobody_listens() -> None:
    with serving() as closed:
        url = closed.url
    with pytest.raises(ServiceUnreachable, match="no connection"):
        Chat(OpenAICompatible("m", url), timeout_s=20, max_retries=0).complete(PROMPT)


def test_no_text_and_a_cut_text(server: ScriptedServer) -> None:
    server.give(ScriptedReply(openai_whole(None, finish="length")))
    assert model_at(server).complete(PROMPT) == Completion("", 812, 7, "length")


def test_a_server_of_ones_own_needs_no_key_and_never_sees_openais(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CITEWELL_LLM_API_KEY")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert model_at(server).complete(PROMPT).text
    assert "authorization" not in server.requests[0][0]


def test_ollama_sees_no_key(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", KEY)
    assert Chat(Ollama("qwen3:4b", server.url)).complete(PROMPT) == Completion("120 days [1].", 812, 7, "stop")
    ((headers, body),) = server.requests
    assert KEY not in str(headers)
    assert (body["model"], body["max_tokens"], headers[":path"]) == ("qwen3:4b", 50, "/v1/chat/completions")


def test_what_the_endpoint_had_cached(server: ScriptedServer) -> None:
    server.give(ScriptedReply(openai_whole(cached=768)))
    assert model_at(server).complete(PROMPT).cached_tokens == 768


def test_a_model_that_thinks_unasked_is_told_not_to(server: ScriptedServer) -> None:
    Chat(OpenAICompatible("openai/gpt-5-mini", server.url)).complete(PROMPT)
    body = server.requests[0][1]
    assert "temperature" not in body
    assert body["reasoning_effort"] == "minimal"


def test_openai_itself_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CITEWELL_LLM_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ServiceRefused, match="Set CITEWELL_LLM_API_KEY or OPENAI_API_KEY"):
        Chat(OpenAICompatible("gpt-5-mini")).complete(PROMPT)


def test_errors_show_no_secret_of_the_url(server: ScriptedServer) -> None:
    server.give(failure(404))
    with pytest.raises(ServiceRefused) as caught:
        Chat(OpenAICompatible("m", f"{server.url}?token=hunter3")).complete(PROMPT)
    assert "hunter" not in str(caught.value)
    assert "127.0.0.1" in str(caught.value)


def test_the_model_shows_no_key(server: ScriptedServer) -> None:
    assert KEY not in repr(model_at(server))


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
        "import asyncio, sys; from citewell.models.llm import Prompt; from citewell.models.chat import Chat;"
        "from citewell.models.openai_compatible import OpenAICompatible as O;"
        "m = Chat(O('m', sys.argv[1])); p = Prompt('s', 'u', 9); print(m.complete(p).text);\n"
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


@pytest.mark.parametrize(
    ("llm", "made"),
    [
        ("openai:org/model-7b", Chat(OpenAICompatible("org/model-7b", "http://127.0.0.1:8080/v1"), 7)),
        ("ollama:qwen3:4b", Chat(Ollama("qwen3:4b", "http://127.0.0.1:8080/v1"), 7)),
        ("anthropic:claude-opus-4-8", Chat(Anthropic("claude-opus-4-8", "http://127.0.0.1:8080/v1"), 7)),
    ],
)
def test_the_settings_name_the_model(llm: str, made: StreamingLLM) -> None:
    assert configured.llm(Models(llm=llm, llm_url="http://127.0.0.1:8080/v1", llm_timeout_s=7)) == SchemaOptional(made)


def test_the_settings_name_none() -> None:
    assert configured.llm(Models()) is None


def test_the_settings_tell_the_price() -> None:
    assert configured.llm_price(Models()) is None
    assert configured.llm_price(Models(llm_price_in=3, llm_price_out=15)) == Price(3, 15, 3)
    assert configured.llm_price(Models(llm_price_in=3, llm_price_out=15, llm_price_cached=0.3)) == Price(3, 15, 0.3)


@pytest.mark.parametrize("given", [{"llm_price_in": 3}, {"llm_price_out": 15}, {"llm_price_cached": 0.3}], ids=str)
def test_half_a_price_is_refused(given: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match="llm_price"):
        Models(**given)


@pytest.mark.parametrize(
    ("llm", "missing"), [("openai:m", "openai"), ("ollama:m", "openai"), ("anthropic:m", "anthropic")]
)
def test_the_extra_is_not_installed(llm: str, missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "find_spec", lambda name: None if name == missing else ModuleSpec(name, None))
    with pytest.raises(UsageError, match=rf"needs {missing}, not installed here\. .*pip install 'citewell\[llm\]'"):
        configured.llm(Models(llm=llm))


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
