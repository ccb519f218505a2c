"""An answer's sentences against what they cite: kept, mended, flagged, struck."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pytest

from citewell.checking.verified import NOTHING_SUPPORTED, verified
from citewell.generation.answer import Draft, answer
from citewell.models.embedder import Embedder
from citewell.models.llm import Completion, Prompt
from citewell.settings import Settings
from citewell.types import Chunk, Trace
from tests.generation.conftest import CODES, HITS, TIME_LIMITS
from tests.remembering_embedder import remembering

QUESTION = "How many days does a customer have to dispute a card payment?"
RIGHT = "A customer may dispute a card payment within 120 days of the transaction date [1]."
WRONG = "A customer may dispute a card payment within 60 days of the transaction date [1]."
CODE = "Code R-17 means suspected fraud [2]."


class ScriptedLLM:
    """Replies in turn; one call more fails the test."""

    def __init__(self, *replies: str) -> None:
        self.prompts: list[Prompt] = []
        self._replies = list(replies)

    def complete(self, prompt: Prompt) -> Completion:
        self.prompts.append(prompt)
        return Completion(self._replies.pop(0), 10, 2, "stop")


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return remembering()


def page_of(_passage: Chunk, _offset: int) -> tuple[int, str] | None:
    return 3, "1"


def checked(
    embedder: Embedder, written: str, *replies: str, way: Literal["flag", "strike"] = "strike"
) -> tuple[Draft, ScriptedLLM, Trace]:
    llm, trace = ScriptedLLM(written, *replies), Trace()
    draft = answer(QUESTION, HITS, llm=llm, embedder=embedder, settings=Settings(), page_of=page_of, trace=Trace())
    return verified(QUESTION, draft, HITS, way, llm=llm, embedder=embedder, trace=trace), llm, trace


def texts(draft: Draft) -> Sequence[str]:
    return [sentence.text for sentence in draft.sentences]


def test_what_is_supported_goes_out_as_it_is(embedder: Embedder) -> None:
    draft, llm, trace = checked(embedder, f"{RIGHT} {CODE}")
    assert draft.text == f"{RIGHT[:-5]}. [1] {CODE[:-5]}. [2]"
    assert (draft.warnings, len(llm.prompts)) == ((), 1), "no second call"
    assert [(step.name, step.count_in, step.count_out) for step in trace.steps] == [("verify", 2, 2)]


def test_a_wrong_figure_is_written_once_more(embedder: Embedder) -> None:
    mended = "A customer may dispute a card payment within 120 days of the transaction date."
    draft, llm, _ = checked(embedder, f"{WRONG} {CODE}", f"1. {mended}")
    assert texts(draft) == [mended, "Code R-17 means suspected fraud."]
    assert draft.warnings == ()
    (_, repair) = llm.prompts
    assert "60 days" in repair.user
    assert TIME_LIMITS.passage.text.split(".")[0] in repair.user
    assert CODES.passage.text not in repair.user, "only what that sentence cites"


def test_what_stays_wrong_is_struck_and_the_others_are_numbered_anew(embedder: Embedder) -> None:
    draft, _, _ = checked(embedder, f"{WRONG}\n{CODE}", WRONG)
    assert draft.text == "Code R-17 means suspected fraud. [1]"
    assert [(citation.n, citation.chunk_id) for citation in draft.citations] == [(1, CODES.passage.id)]
    (warning,) = draft.warnings
    assert warning.startswith("A sentence was struck: ")
    assert "60 days" in warning


def test_what_stays_wrong_is_flagged(embedder: Embedder) -> None:
    draft, _, _ = checked(embedder, f"{CODE} {WRONG}", "NOTHING", way="flag")
    assert texts(draft) == ["Code R-17 means suspected fraud.", WRONG.removesuffix(" [1].") + "."]
    (warning,) = draft.warnings
    assert warning.startswith("Sentence 2 is not certain: ")


def test_where_nothing_is_supported_nothing_is_said(embedder: Embedder) -> None:
    draft, _, trace = checked(embedder, WRONG, "The passage does not say.")
    assert (draft.abstained, draft.reason, draft.sentences) == (True, NOTHING_SUPPORTED, ())
    assert trace.steps[0].count_out == 0


def test_an_abstention_has_nothing_to_verify(embedder: Embedder) -> None:
    draft, llm, trace = checked(embedder, "I don't know.")
    assert (draft.abstained, len(llm.prompts), trace.steps) == (True, 1, [])
