"""What of a model's reply stays: sentences that cite what was shown."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.generation.citations import Citations
from citewell.generation.reply import Checked, check, says_dont_know
from citewell.types import Citation
from tests.generation.conftest import HITS


def checked(reply: str) -> tuple[Checked, tuple[Citation, ...]]:
    citations = Citations(lambda _document, offset: (offset // 500 + 1, str(offset // 500 + 1)))
    return check(reply, HITS, citations), citations.made


def test_each_sentence_quotes_the_part_that_supports_it() -> None:
    result, citations = checked("You have 120 days from the transaction date [1]. R-71 is an expired card [2].")
    assert result.text == "You have 120 days from the transaction date. [1] R-71 is an expired card. [2]"
    assert [sentence.citations for sentence in result.sentences] == [(1,), (2,)]
    assert citations[0].quote.startswith("A customer may dispute a card payment within 120 days")
    assert citations[1].quote == "Code R-71 means that the card has expired."
    assert result.warnings == ()


def test_a_row_supports_a_sentence_about_its_figures() -> None:
    _, citations = checked("The second chargeback costs a business £30.00 [3].")
    assert citations[0].quote == "Second chargeback | £14.50 | £21.00 | £30.00"


@pytest.mark.parametrize(
    "written",
    [
        "It is blocked [1][2].",
        "It is blocked. [1, 2]",
        "It is blocked [1], [2].",
        "It is blocked【1】【2】.",
        "It is blocked 【1†source】【2†lines 3-5】.",
        "It is blocked [passages 1, 2].",
        "It is blocked   ［1、2］.",
        "It is [1] blocked [2].",
    ],
)
def test_every_form_of_marker(written: str) -> None:
    result, citations = checked(written)
    assert [len(sentence.citations) for sentence in result.sentences] == [2]
    assert "[1][2]" in result.text
    assert {citation.chunk_id for citation in citations} == {"manual-2026:1000", "manual-2026:9000"}


def test_numbers_are_given_anew_in_order_of_use() -> None:
    result, citations = checked("A card is blocked [2]. It takes 120 days [1].")
    assert [sentence.citations for sentence in result.sentences] == [(1,), (2,)]
    assert [citation.chunk_id for citation in citations] == ["manual-2026:9000", "manual-2026:1000"]


def test_a_number_that_was_not_shown_is_dropped() -> None:
    result, citations = checked("The card is blocked [2][9]. It is blue [0].")
    assert result.text == "The card is blocked. [1]"
    assert len(citations) == 1
    assert result.warnings == (
        "The model cited [9], which it was not shown; dropped.",
        "The model cited [0], which it was not shown; dropped.",
        "The model wrote a sentence that cites no passage; struck.",
    )


def test_a_sentence_without_citation_is_struck() -> None:
    result, _ = checked("Good question! The card is blocked [2]. I hope this helps.")
    assert result.text == "The card is blocked. [1]"
    assert result.warnings == ("The model wrote a sentence that cites no passage; struck.",)


def test_a_list_keeps_its_lines_and_its_lead_in() -> None:
    result, _ = checked("The fees are:\n- first: £12.00 [3]\n- second: £14.50 [3]")
    assert result.text.splitlines() == ["The fees are: [1]", "- first: £12.00 [1]", "- second: £14.50 [2]"]


def test_a_year_in_brackets_is_no_citation() -> None:
    result, _ = checked("The edition [2026] allows 120 days [1].")
    assert result.text == "The edition [2026] allows 120 days. [1]"


@pytest.mark.parametrize(
    "reply", ["I don't know.", "I don\u2019t know", "  i don't know. [1]", "I don't know.\nSorry."]
)
def test_the_honest_answer_is_known(reply: str) -> None:
    assert says_dont_know(reply)


@pytest.mark.parametrize("reply", ["", "I don't know why, but it is 120 days [1].", "You have 120 days [1]."])
def test_anything_else_is_an_answer(reply: str) -> None:
    assert not says_dont_know(reply)


@settings(deadline=None, max_examples=60)
@given(st.text(st.sampled_from("aB 1.29[]【】,:\n-€")))
def test_every_sentence_that_stays_cites_what_is_quoted(reply: str) -> None:
    result, citations = checked(reply)
    numbers = {citation.n for citation in citations}
    assert all(sentence.citations and set(sentence.citations) <= numbers for sentence in result.sentences)
    assert numbers == {n for sentence in result.sentences for n in sentence.citations}
    assert bool(result.text) == bool(result.sentences)
