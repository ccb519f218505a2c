"""What calls cost: counted whole, in pieces, and broken off."""

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor

import pytest

from citewell.errors import ServiceUnreachable
from citewell.models.chat import Chat
from citewell.models.counted import CountedLLM, Price
from citewell.models.llm import Completion, Prompt, Stream
from citewell.models.ollama import Ollama
from citewell.types import Usage
from tests.models.scripted_chat_server import EVENTS, ScriptedReply, openai_events, serving

PROMPT = Prompt("Rules.", "Question.", 50)
WHOLE = Completion("120 days [1].", 1_000, 10, "stop", cached_tokens=800)
PRICE = Price(prompt=3, completion=15, cached=0.3)
COST = (200 * 3 + 800 * 0.3 + 10 * 15) / 1_000_000


class ScriptedLLM:
    """Tells its prompt's tokens at once, and all of them at the end; with `fails_after`, ends in so many pieces."""

    def __init__(self, fails_after: int | None = None) -> None:
        self.fails_after = fails_after
        self.closed = False

    def complete(self, prompt: Prompt) -> Completion:
        if self.fails_after is not None:
            raise ServiceUnreachable("Gone.", remedy="Try again.")
        assert prompt == PROMPT
        return WHOLE

    def stream(self, prompt: Prompt) -> Stream:
        assert prompt == PROMPT
        return Stream(self._parts())

    def _parts(self) -> Generator[str | Completion, None, None]:
        try:
            for number, piece in enumerate(("120 ", "days ", "[1].")):
                if number == self.fails_after:
                    raise ServiceUnreachable("Gone.", remedy="Try again.")
                yield Completion("", 1_000, 1, cached_tokens=800)
                yield piece
            yield WHOLE
        finally:
            self.closed = True


def tokens(usage: Usage) -> tuple[int, int, int]:
    return usage.prompt_tokens, usage.completion_tokens, usage.calls


def test_calls_are_counted_in_tokens_and_money() -> None:
    counted = CountedLLM(ScriptedLLM(), PRICE)
    assert counted.complete(PROMPT) == WHOLE
    assert list(counted.stream(PROMPT)) == ["120 ", "days ", "[1]."]
    assert tokens(counted.usage) == (2_000, 20, 2)
    assert counted.usage.cost_usd == pytest.approx(2 * COST)


def test_a_price_of_nothing_is_known_and_none_is_not() -> None:
    free, unknown = CountedLLM(ScriptedLLM(), Price(0, 0, 0)), CountedLLM(ScriptedLLM())
    free.complete(PROMPT)
    unknown.complete(PROMPT)
    assert (free.usage.cost_usd, unknown.usage.cost_usd) == (0, None)


def test_pieces_pass_through_with_what_is_known_of_them() -> None:
    with CountedLLM(ScriptedLLM()).stream(PROMPT) as pieces:
        assert next(pieces) == "120 "
        assert pieces.completion == Completion("120 ", 1_000, 1, cached_tokens=800)
        assert list(pieces) == ["days ", "[1]."]
    assert pieces.completion == WHOLE


def test_a_stream_that_is_left_counts_what_was_told_and_is_closed() -> None:
    llm = ScriptedLLM()
    counted = CountedLLM(llm, PRICE)
    with counted.stream(PROMPT) as pieces:
        next(pieces)
        assert counted.usage == Usage()
    assert tokens(counted.usage) == (1_000, 1, 1)
    assert counted.usage.cost_usd == pytest.approx((200 * 3 + 800 * 0.3 + 15) / 1_000_000)
    assert llm.closed


def test_a_stream_that_is_left_before_its_counts_has_an_unknown_cost() -> None:
    """OpenAI's protocol tells them at the end."""
    with serving() as server:
        server.give(ScriptedReply(openai_events("120 ", "days ", "[1]."), headers=EVENTS))
        counted = CountedLLM(Chat(Ollama("m", server.url)), PRICE)
        assert list(counted.stream(PROMPT)) == ["120 ", "days ", "[1]."]
        assert counted.usage.cost_usd == pytest.approx((812 * 3 + 7 * 15) / 1_000_000)
        with counted.stream(PROMPT) as pieces:
            next(pieces)
    assert (tokens(counted.usage), counted.usage.cost_usd) == ((812, 7, 2), None)


def test_a_failure_counts_only_once_something_has_come() -> None:
    for fails_after, expected in ((0, Usage()), (1, Usage(1_000, 1, None, calls=1))):
        counted = CountedLLM(ScriptedLLM(fails_after))
        with pytest.raises(ServiceUnreachable):
            list(counted.stream(PROMPT))
        assert counted.usage == expected
    with pytest.raises(ServiceUnreachable):
        counted.complete(PROMPT)
    assert counted.usage.calls == 1


def test_a_stream_that_was_never_read_costs_nothing() -> None:
    counted = CountedLLM(ScriptedLLM())
    counted.stream(PROMPT).close()
    assert counted.usage == Usage()


def test_threads_share_it() -> None:
    counted = CountedLLM(ScriptedLLM(), PRICE)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(counted.complete, [PROMPT] * 40))
    assert tokens(counted.usage) == (40_000, 400, 40)
    assert counted.usage.cost_usd == pytest.approx(40 * COST)
