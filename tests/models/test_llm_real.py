"""The path to a real model, over HTTP in another process: tokens, limits, text. The model is too small to be right."""

import re
from collections.abc import Iterator

import pytest
from pydantic import BaseModel

from citewell.errors import ServiceRefused
from citewell.generation.answer import answer
from citewell.models.chat import Chat
from citewell.models.counted import CountedLLM
from citewell.models.llm import Prompt
from citewell.models.minilm import MiniLM
from citewell.models.openai_compatible import OpenAICompatible
from citewell.models.structured import complete_as
from citewell.settings import Settings
from citewell.types import Trace
from tests.generation.conftest import TIME_LIMITS
from tests.models.small_llm import served

TIMEOUT_S = 250

pytestmark = [pytest.mark.llm, pytest.mark.xdist_group("llm")]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served() as place:
        yield place


@pytest.fixture
def model(url: str, monkeypatch: pytest.MonkeyPatch) -> Chat:
    monkeypatch.delenv("CITEWELL_LLM_API_KEY", raising=False)
    assert url.startswith("http://127.0.0.1:"), "the server did not start"
    return Chat(OpenAICompatible("smollm2", url), TIMEOUT_S, max_retries=0)


def test_a_model_completes_and_counts(model: Chat) -> None:
    prompt = Prompt("You answer in one word.", "Which colour has the sky?", max_tokens=8)
    completion = model.complete(prompt)
    assert re.search(r"\w", completion.text)
    assert completion.prompt_tokens > 10
    assert 0 < completion.completion_tokens <= 8
    assert completion.finish_reason in {"stop", "length"}
    assert model.complete(prompt).text == completion.text, "at temperature 0 the answer is the same"


def test_a_limit_cuts_and_says_so(model: Chat) -> None:
    completion = model.complete(Prompt("You tell long stories.", "Tell the story of a long river.", max_tokens=5))
    assert (completion.completion_tokens, completion.finish_reason) == (5, "length")


def test_pieces_come_one_by_one_and_are_the_same_text(model: Chat) -> None:
    prompt = Prompt("You answer in one sentence.", "Which colour has the sky?", max_tokens=8)
    counted = CountedLLM(model)
    with counted.stream(prompt) as pieces:
        shown = list(pieces)
    assert len(shown) > 2
    assert pieces.completion.text == model.complete(prompt).text
    assert pieces.completion.prompt_tokens > 10
    assert (counted.usage.completion_tokens, counted.usage.calls) == (pieces.completion.completion_tokens, 1)


def test_a_schema_holds_even_the_smallest_model_to_a_form(model: Chat) -> None:
    class Seen(BaseModel):
        is_blue: bool

    read = complete_as(model, Prompt("You answer questions.", "Is the sky blue?", max_tokens=30), Seen)
    assert isinstance(read, Seen)


def test_more_than_the_model_reads_is_refused(model: Chat) -> None:
    with pytest.raises(ServiceRefused, match=r"too long|rejects"):
        model.complete(Prompt("Rules.", "many words " * 6000, max_tokens=5))


def test_an_answer_holds_only_what_cites_a_passage(model: Chat) -> None:
    settings = Settings.model_validate({"models": {"llm_max_tokens": 40}})
    counted = CountedLLM(model)
    draft = answer(
        "How many days does a customer have to dispute a card payment?",
        [TIME_LIMITS],
        llm=counted,
        embedder=MiniLM(threads=1),
        settings=settings,
        page_of=lambda _document, _offset: None,
        trace=Trace(),
    )
    assert counted.usage.prompt_tokens > 200
    assert counted.usage.completion_tokens > 0
    assert draft.abstained or all(sentence.citations for sentence in draft.sentences)
