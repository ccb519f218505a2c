"""The words by which a follow-up asks of another subject."""

from __future__ import annotations

import pytest

from citewell.queries.rewriting.own_words import own_words, subject_words
from citewell.queries.rewriting.resolving import resolved
from citewell.types import Turn

BEFORE = "What is the daily limit for debit cards?"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("And for zeppelins?", ["zeppelins"]),
        ("What about zeppelin cards?", ["zeppelin"]),
        ("zeppelins?", ["zeppelins"]),
        ("Is that also true for zeppelins?", ["zeppelins"]),
        ("Does it apply to zeppelins too?", ["zeppelins"]),
        ("And for credit cards?", ["credit"]),
        ("And the debit cards?", ["debit", "cards"]),  # all of it was said: any of it will do
        ("Why?", []),
        ("How is it blocked when the holder has lost it?", []),  # asks something new, in words that no text must hold
    ],
)
def test_the_words_that_name_the_other_subject(asked: str, words: list[str]) -> None:
    alone = resolved(asked, [Turn(BEFORE, "500 euros.")])
    assert alone is not None
    assert own_words(asked, alone, BEFORE) == words


def test_a_question_that_stands_alone_has_none() -> None:
    assert own_words(BEFORE, BEFORE, "What is the fee?") == []
    assert subject_words(BEFORE) == ["debit", "cards"]
