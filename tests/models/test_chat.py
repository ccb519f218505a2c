"""What all providers have in common: what goes to whom, and how a wait for any of them shows and ends."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from citewell.errors import ServiceError, SettingsError
from citewell.models.anthropic import ANTHROPIC, Anthropic
from citewell.models.chat import Chat, Provider
from citewell.models.llm import Prompt, stream
from citewell.models.ollama import Ollama
from citewell.models.openai_compatible import OPENAI, OpenAICompatible
from citewell.models.provider_keys import KeysOf
from citewell.models.waiting import waiting
from tests.models.scripted_chat_server import (
    EVENTS,
    ScriptedReply,
    ScriptedServer,
    anthropic_events,
    anthropic_whole,
    openai_events,
    openai_whole,
    serving,
)

KEY = "sk-very-secret-0123456789"
PROMPT = Prompt("Rules.", "Question.", max_tokens=50)
FOR_OTHERS = {
    "OPENAI_CUSTOM_HEADERS": "X-Tenant: hunter1\nauthorization: Bearer hunter2\nX-Stainless-Lang: hunter3",
    "OPENAI_ORG_ID": "hunter4",
    "OPENAI_PROJECT_ID": "hunter5",
    "OPENAI_ADMIN_KEY": "hunter6",
    "ANTHROPIC_CUSTOM_HEADERS": "X-Tenant: hunter7\nX-Api-Key: hunter8\nauthorization: hunter9",
    "ANTHROPIC_AUTH_TOKEN": "hunter10",
}
"""What the providers' libraries read from the environment, and would send to whoever is asked."""


@dataclass(frozen=True)
class Wire:
    """A provider, and how its endpoint answers."""

    at: Callable[[str], Provider]
    whole: Callable[[], str]
    events: Callable[[str], list[str]]


WIRES = {
    "openai": Wire(lambda root: OpenAICompatible("m", f"{root}/v1"), openai_whole, openai_events),
    "ollama": Wire(lambda root: Ollama("m", f"{root}/v1"), openai_whole, openai_events),
    "anthropic": Wire(lambda root: Anthropic("claude-opus-4-8", root), anthropic_whole, anthropic_events),
}


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> Wire:
    return WIRES[request.param]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.setenv("CITEWELL_LLM_API_KEY", KEY)
    with serving() as scripted:
        yield scripted


def test_what_the_environment_holds_for_others_is_not_sent(
    wire: Wire, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in FOR_OTHERS.items():
        monkeypatch.setenv(name, value)
    server.give(ScriptedReply(wire.whole()), ScriptedReply(wire.events("120 "), headers=EVENTS))
    provider = wire.at(server.root)
    assert Chat(provider).complete(PROMPT).text == "120 days [1]."
    assert list(stream(Chat(provider), PROMPT)) == ["120 "]
    key = None if isinstance(provider, Ollama) else f"Bearer {KEY}"
    for headers, _ in server.requests:
        assert "hunter" not in str(headers)
        assert headers.get("authorization") == key


def test_nothing_goes_to_where_an_answer_points(wire: Wire, server: ScriptedServer) -> None:
    with serving() as elsewhere:
        elsewhere.give(ScriptedReply(wire.whole()))
        server.give(ScriptedReply("", 307, {"Location": f"{elsewhere.url}/chat/completions"}))
        with pytest.raises(ServiceError):
            Chat(wire.at(server.root)).complete(PROMPT)
        assert elsewhere.requests == []


def test_a_proxy_does_not_see_what_stays_on_this_machine(
    wire: Wire, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    server.give(ScriptedReply(wire.whole()))
    with serving() as proxy:
        proxy.give(ScriptedReply(wire.whole()))
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.root)
        assert Chat(wire.at(server.root)).complete(PROMPT).text
        assert (len(proxy.requests), len(server.requests)) == (0, 1)


@pytest.mark.parametrize(
    "provider",
    [
        OpenAICompatible("m", "http://llm.example/v1"),
        OpenAICompatible("m", "http://llm.example:8443/v1"),
        OpenAICompatible("m", "http://localhost.example/v1"),
        Anthropic("m", "http://llm.example:443"),
    ],
)
def test_a_key_is_not_sent_over_an_open_connection(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEWELL_LLM_API_KEY", KEY)
    with pytest.raises(SettingsError, match=r"sent to http://l\S+\.example\S* over an open connection") as caught:
        Chat(provider).complete(PROMPT)
    assert "models.llm_url" in caught.value.remedy
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("keys", [OPENAI, ANTHROPIC], ids=["openai", "anthropic"])
def test_a_providers_own_key_goes_to_its_own_address_alone(keys: KeysOf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CITEWELL_LLM_API_KEY", raising=False)
    monkeypatch.setenv(keys.variable, KEY)
    host = keys.url.removeprefix("https://").partition("/")[0]
    for own in ("", keys.url, f"https://{host.upper()}:443/v1"):
        assert keys.key(own) == KEY
    for foreign in (f"http://{host}/v1", f"https://{host}:8443/v1", f"http://{host}:443/v1", f"https://{host}.example"):
        assert keys.key(foreign) == ""


@pytest.mark.parametrize(
    "url",
    [
        "http://[::1/v1",
        "http:///v1",
        "http://127.0.0.1:port/v1",
        "https://user:hunter2@llm.example/v1",
        "https://user:hunter2/@llm.example/v1",
        "https://user:hunter2@llm\u2100.example/v1",
    ],
)
def test_a_url_that_is_none(wire: Wire, url: str) -> None:
    with pytest.raises(SettingsError, match=r"models\.llm_url") as caught:
        Chat(wire.at(url))
    assert "hunter2" not in str(caught.value)


def test_a_wait_shows_that_it_is_alive_and_can_be_stopped(wire: Wire, server: ScriptedServer) -> None:
    server.give(ScriptedReply("", hang_s=60))
    signs = 0

    def on_wait() -> None:
        nonlocal signs
        signs += 1
        if signs == 3:
            raise InterruptedError("enough")

    with waiting(on_wait), pytest.raises(InterruptedError):
        Chat(wire.at(server.root)).complete(PROMPT)
    assert signs == 3
    assert "citewell-llm" not in [thread.name for thread in threading.enumerate()]


def test_control_c_ends_a_process_that_looks_a_name_up() -> None:
    """A name server that does not answer cannot be hung up on; it keeps nobody all the same."""
    script = (
        "import socket, sys, time; from citewell.models.llm import Prompt; from citewell.models.chat import Chat;"
        "from citewell.models.ollama import Ollama;\n"
        "def silent(*args, **named): print('looks up', flush=True); time.sleep(600)\n"
        "socket.getaddrinfo = silent\n"
        "Chat(Ollama('m', 'http://llm.example/v1')).complete(Prompt('s', 'u', 9))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "looks up\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
    assert said.rstrip().endswith("KeyboardInterrupt")
