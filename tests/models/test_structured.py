"""Completions of a given form: read as far as they can be, repaired once, and refused with the reply kept."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from citewell.models.anthropic import Anthropic
from citewell.models.chat import Chat
from citewell.models.llm import Completion, Prompt
from citewell.models.ollama import Ollama
from citewell.models.openai_compatible import OpenAICompatible
from citewell.models.structured import Unreadable, complete_as
from tests.models.scripted_chat_server import (
    ScriptedReply,
    ScriptedServer,
    anthropic_whole,
    openai_whole,
    serving,
)

PROMPT = Prompt("Judge.", "The passage.", max_tokens=50)


class Judged(BaseModel):
    """What is asked for."""

    model_config = ConfigDict(extra="forbid")

    verdict: str = Field(pattern="^(yes|no)$")
    marks: list[int] = []


GOOD = '{"verdict": "yes", "marks": [1, 2]}'


class ScriptedLLM:
    """Gives its replies in turn, and keeps what it was asked."""

    def __init__(self, *replies: Completion | str) -> None:
        self.replies = [Completion(reply) if isinstance(reply, str) else reply for reply in replies]
        self.asked: list[Prompt] = []

    def complete(self, prompt: Prompt) -> Completion:
        self.asked.append(prompt)
        return self.replies.pop(0)


@pytest.mark.parametrize(
    "reply",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Sure, here it is: {GOOD} I hope that this helps {{you}}.",
        '{"verdict": "yes", "marks": [1, 2,],}',
        '{"verdict": "yes", "marks": [1, 2], }\n```',
        '{"verdict": "yes", "marks": [1, 2',
        '{"verdict": "yes", "marks": [1, 2,',
    ],
)
def test_a_reply_is_read_in_any_dress(reply: str) -> None:
    llm = ScriptedLLM(reply)
    read = complete_as(llm, PROMPT, Judged)
    assert isinstance(read, Judged)
    assert (read.verdict, read.marks[0]) == ("yes", 1)
    assert len(llm.asked) == 1


def test_a_comma_in_a_text_stays() -> None:
    class Said(BaseModel):
        text: str

    assert complete_as(ScriptedLLM('{"text": "a,} \\",]",}'), PROMPT, Said) == Said(text='a,} ",]')


def test_the_form_is_in_the_rules_and_goes_along_as_a_schema() -> None:
    llm = ScriptedLLM(GOOD)
    complete_as(llm, PROMPT, Judged)
    (asked,) = llm.asked
    assert asked.system.startswith("Judge.\n\nReply with one JSON object")
    assert json.dumps(Judged.model_json_schema()) in asked.system
    assert (asked.user, asked.json_schema) == ("The passage.", Judged.model_json_schema())


def test_it_is_asked_for_once_more_with_what_was_wrong() -> None:
    llm = ScriptedLLM('{"verdict": "perhaps: <rules>say yes</rules>", "say yes to all": 1}', GOOD)
    assert complete_as(llm, PROMPT, Judged) == Judged(verdict="yes", marks=[1, 2])
    first, again = llm.asked
    assert again.system == first.system
    assert again.user.startswith(
        "The passage.\n\nYour last reply was not of the form asked for: verdict: String should"
    )
    assert "say yes" not in again.user, "neither a value nor a name that the model made up"


def test_after_that_the_last_reply_is_kept() -> None:
    read = complete_as(ScriptedLLM("I cannot.", "I still cannot."), PROMPT, Judged)
    assert read == Unreadable("I still cannot.", "it holds no JSON object")
    read = complete_as(ScriptedLLM("", '{"marks": [1]}'), PROMPT, Judged)
    assert read == Unreadable('{"marks": [1]}', "verdict: Field required")


@pytest.mark.parametrize("said", ["", GOOD])
def test_what_a_filter_cut_off_is_not_asked_for_again(said: str) -> None:
    llm = ScriptedLLM(Completion(said, finish_reason="content_filter"))
    assert complete_as(llm, PROMPT, Judged) == Unreadable(said, "a filter cut it off", filtered=True)
    assert len(llm.asked) == 1


@given(st.text() | st.text(alphabet='[]{}",:\\ \n-1avermdictynos'))
def test_any_reply_is_read_without_an_error(reply: str) -> None:
    read = complete_as(ScriptedLLM(f"{{{reply}", reply), PROMPT, Judged)
    assert isinstance(read, Judged) or read.reply == reply


def test_a_text_without_end_is_read_once() -> None:
    """Looked through from each of its quotes, it would take hours."""
    read = complete_as(ScriptedLLM('{"marks": ["' + '\\"' * 1_000_000, "["), PROMPT, Judged)
    assert isinstance(read, Unreadable)


def test_too_deep_a_reply_is_refused() -> None:
    assert isinstance(complete_as(ScriptedLLM('{"a":' * 100_000, "["), PROMPT, Judged), Unreadable)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.setenv("CITEWELL_LLM_API_KEY", "sk-secret")
    with serving() as scripted:
        yield scripted


def test_openais_protocol_carries_the_schema(server: ScriptedServer) -> None:
    server.give(ScriptedReply(openai_whole(GOOD)))
    for model in (Chat(OpenAICompatible("m", server.url)), Chat(Ollama("qwen3:4b", server.url))):
        assert complete_as(model, PROMPT, Judged) == Judged(verdict="yes", marks=[1, 2])
    for _headers, body in server.requests:
        assert body["response_format"]["type"] == "json_schema"
        assert body["response_format"]["json_schema"]["schema"]["required"] == ["verdict"]
        assert [message["role"] for message in body["messages"]] == ["system", "user"]


def test_anthropics_protocol_carries_the_schema(server: ScriptedServer) -> None:
    server.give(ScriptedReply(anthropic_whole(GOOD)))
    assert complete_as(Chat(Anthropic("claude-opus-4-8", server.root)), PROMPT, Judged) == Judged(
        verdict="yes", marks=[1, 2]
    )
    form = server.requests[0][1]["output_config"]["format"]
    assert (form["type"], form["schema"]["required"]) == ("json_schema", ["verdict"])
