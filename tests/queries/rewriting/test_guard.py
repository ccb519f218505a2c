"""What no rewrite may change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.queries.marks import marks
from citewell.queries.rewrite import rewrite
from citewell.queries.rewriting.guard import keeps
from citewell.queries.rewriting.subjects import roots_of
from citewell.types import Turn

TURNS = (Turn("What does form R-17 say about 1,200 EUR?", "A customer may not pay more than 900 EUR in June."),)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who signs it?", "Who signs form R-17?"),
        ("Who signs r 17?", "Who signs form R-17?"),
        ("Is EUR 1,200 too much for it?", "Is 1200 EUR too much for form R-17?"),
        ("Is it not signed?", "Isn't form R-17 signed?"),
        ("Is it due in June?", "Is form R-17 due in June?"),
        ("Wer unterschreibt es?", "Wer unterschreibt R-17?"),
        ("Why?", "Why may a customer pay 900 EUR?"),
        ("What does it cost?", "What is the main cost of form R-17?"),
    ],
)
def test_what_says_the_same_may_be_searched(question: str, text: str) -> None:
    assert keeps(question, text, TURNS)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who signs R-18?", "Who signs R-17?"),  # a code lost
        ("Who signs it?", "Who signs R-18?"),  # and one made up
        ("Is 900 too much?", "Is this too much?"),
        ("Is it too much?", "Is 1,300 EUR too much?"),
        ("Does SEPA allow it?", "Does the transfer scheme allow it?"),
        ("Who signs it?", "Who signs it under the GDPR?"),
        ("Is it due in July?", "Is form R-17 due in June?"),
        ("Are two signatures needed?", "Are signatures needed?"),
        ("Can it not be paid?", "Can form R-17 be paid?"),
        ("Can it be paid?", "Can form R-17 not be paid?"),  # the "not" of an answer is not the user's
        ("Is it paid without a signature?", "Is form R-17 paid with a signature?"),
        ("Was an unauthorised payment made?", "Was an authorised payment made?"),
        ("Was the authorised customer paid?", "Was the unauthorised customer paid?"),
        ("Wer unterschreibt das Formular?", "Who signs the form?"),
        ("Who signs the form?", "Wer unterschreibt das Formular?"),
        ("Who signs the form?", "Кто подписывает form?"),
        ("Who signs the form?", "How long is a payment kept by a bank?"),
        ("Why?", "What soup does the canteen serve on Mondays?"),
        ("Why?", "Why is the main price so high?"),
        ("Who signs it?", "Who signs the soup?"),
    ],
)
def test_what_says_another_thing_is_not_searched(question: str, text: str) -> None:
    assert not keeps(question, text, TURNS)


def test_a_negation_comes_along_with_the_question_that_had_it() -> None:
    turns = (Turn("Can I not dispute R-17 after 60 days?", "No."),)
    assert rewrite("Why?", turns) == "Can I not dispute R-17 after 60 days? Why?"


ASKED = st.sampled_from(
    ("What is form R-17?", "Who signs it?", "And in 2024?", "Why not?", "Does SEPA allow 1,200 EUR?")
)


@given(st.lists(ASKED | st.text(max_size=80), max_size=4), ASKED | st.text(max_size=80))
def test_any_text_gives_a_rewrite_of_what_was_said_or_none(before: list[str], question: str) -> None:
    text = rewrite(question, tuple(map(Turn, before)))
    if text is not None:
        assert marks(question) <= marks(text) <= marks(" ".join([*before, question]))
        assert roots_of(text) <= roots_of(" ".join([*before, question]))
