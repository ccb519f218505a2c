"""Sentences that what they cite supports, and those with a fault: what is said of it, and what it takes to see it."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from citewell.checking.reading import quotable
from citewell.checking.support import NOTHING_CITED, Standing, Support, support
from citewell.models.embedder import Embedder
from citewell.models.minilm import MiniLM
from tests.remembering_embedder import remembering

POLICY = """A customer may dispute a card payment within 120 days of the transaction date. Cash withdrawals cannot be \
disputed after 30 days. The chargeback fee is EUR 25 since 14 March 2026 and 3.5 % of the amount.

Alerts above a score of 85 are declined with code R-17 at once. Louise Brown signs the report on alerts. The desk \
answers from 08:00 to 18:00, in Northmoor by telephone. A subscription of 1,200 pounds is renewed every 12 months."""
OTHER = (
    "Martha Green keeps the list of code R-18. The old fee was USD 45 until 15 March 2025, and 90 days were allowed."
)
FEES = "Fee | Debit | Credit\nChargeback | 15 | 20\nCopy | 5 | 6"


class ScriptedNoEmbedder:
    """Fails if it is asked for anything: the words must decide."""

    @property
    def identity(self) -> object:
        raise AssertionError

    token_spans = embed_passages = embed_queries = identity


NO_EMBEDDER: Embedder = ScriptedNoEmbedder()  # type: ignore[assignment]  # that it is none is the point


EXAMPLES = settings(max_examples=50, deadline=None)


REAL = MiniLM(threads=1)


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return REAL


@pytest.mark.parametrize(
    "sentence",
    [
        "A customer may dispute a card payment within 120 days of the transaction date.",
        "Card payments can be disputed within 120 days.",
        "The fee for a chargeback is 25 €.",
        "The chargeback fee has been EUR 25 since 2026-03-14.",
        "Louise Brown signs the report, and alerts above 85 are declined with R 17.",
        "Yes, a card payment may be disputed within 120 days.",
        "- **Cash withdrawals** cannot be disputed after 30 days [2].",
        "The subscription of £1,200 is renewed every twelve months.",
        "On 14 March 2026.",
        "Is there more to say?",
    ],
)
def test_supported_without_the_embedder(sentence: str) -> None:
    assert support(sentence, [POLICY], NO_EMBEDDER) == Support(Standing.SUPPORTED)


@pytest.mark.parametrize(
    ("sentence", "missing", "reason"),
    [
        ("A card payment may be disputed within 60 days.", ("60 days",), "says 60 days; the passage says 120 days"),
        ("The chargeback fee is EUR 35.", ("EUR 35",), "says EUR 35; the passage says EUR 25"),
        ("The chargeback fee is 3.6 % of the amount.", ("3.6 %",), "says 3.6 %; the passage says 3.5 %"),
        (
            "The fee is EUR 25 since 15 March 2026.",
            ("15 March 2026",),
            "says 15 March 2026; the passage says 14 March 2026",
        ),
        ("Alerts above 85 are declined with code R-19.", ("R-19",), "says R-19; the passage says R-17"),
        ("The desk answers from 08:00 to 19:00.", ("19:00",), "says 19:00; the passage says 18:00"),
        ("Jane Doe signs the report on alerts.", ("Doe",), "says Doe; the passage says Brown"),
        ("A card payment may be disputed by fax within 120 hours.", ("120 hours",), "not in the passage: 120 hours"),
        ("Cash withdrawals can be disputed after 30 days.", (), "says what the passage negates"),
        ("Alerts above a score of 85 are not declined at once.", (), "negates what the passage says"),
        ("Alerts below a score of 85 are declined at once.", (), "says the opposite"),
        ("Does the fee of EUR 35 apply?", ("EUR 35",), "not in the passage: EUR 35"),
    ],
)
def test_unsupported_without_the_embedder(sentence: str, missing: tuple[str, ...], reason: str) -> None:
    assert support(sentence, [POLICY], NO_EMBEDDER) == Support(Standing.UNSUPPORTED, missing, reason)


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("A customer may dispute a card payment within 90 days.", "says 90 days; the passage says 120 days"),
        ("Alerts above a score of 85 are declined with code R-18.", "says R-18; the passage says R-17"),
        ("The chargeback fee is USD 25.", "says USD 25; the passage says EUR 25"),
        ("The chargeback fee is EUR 25 since 15 March 2025.", "says 15 March 2025; the passage says 14 March 2026"),
        (
            "Martha Green signs the report on alerts.",
            "says Green; the passage says Brown",
        ),
        ("Subscriptions of 1,200 pounds are renewed every 12 days.", "says 12 days; the passage says 12 months"),
    ],
)
def test_a_fact_that_is_cited_of_something_else(sentence: str, reason: str) -> None:
    cited = [POLICY, f"{OTHER} It takes 12 days, and USD 25."]
    assert support(sentence, cited, NO_EMBEDDER) == Support(Standing.UNSUPPORTED, reason=reason)


def test_of_two_editions_either_is_right() -> None:
    editions = ["The chargeback fee for a card is EUR 25.", "The chargeback fee for a card is EUR 30."]
    for fee, standing in ((25, Standing.SUPPORTED), (30, Standing.SUPPORTED), (35, Standing.UNSUPPORTED)):
        assert support(f"For a card the chargeback fee is EUR {fee}.", editions, NO_EMBEDDER).standing is standing


def test_texts_support_a_sentence_together() -> None:
    texts = ["Alerts above 85 are declined.", "Louise Brown signs the report."]
    sentence = "Alerts above 85 are declined, and Louise Brown signs the report."
    assert support(sentence, texts, NO_EMBEDDER).standing is Standing.SUPPORTED
    assert support(sentence, texts[:1], NO_EMBEDDER).missing == ("Louise", "Brown")


def test_the_question_explains_what_it_names() -> None:
    asked = "Which fee does Larkfield charge?"
    sentence = "Larkfield charges a chargeback fee of EUR 25."
    assert support(sentence, [POLICY], NO_EMBEDDER, asked).standing is not Standing.UNSUPPORTED


@pytest.mark.parametrize("cited", [[], ["", " \n"]])
def test_nothing_cited_supports_nothing(cited: list[str]) -> None:
    assert support("The fee is EUR 25.", cited, NO_EMBEDDER) == Support(Standing.UNSUPPORTED, reason=NOTHING_CITED)


def test_meaning_decides_where_words_do_not(embedder: Embedder) -> None:
    near = support("Payments by card may be contested by customers.", [POLICY], embedder)
    far = support("Bread is baked in our kitchen before dawn.", [POLICY], embedder)
    assert near.standing is not Standing.UNSUPPORTED
    assert far.standing is Standing.UNSUPPORTED


def test_what_is_left_of_a_negated_sentence_is_no_copy() -> None:
    assert support(
        "Card is blocked at once by the desk.", ["No card is blocked at once by the desk."], NO_EMBEDDER
    ) == (Support(Standing.UNSUPPORTED, reason="says what the passage negates"))


@pytest.mark.parametrize(
    ("sentence", "cited", "standing"),
    [
        ("Chargeback – Debit: 15; Credit: 20", FEES, Standing.SUPPORTED),
        ("Chargeback – Debit: 15; Credit: 6", FEES, Standing.UNSUPPORTED),
        ("Die Gebühr ist 25 EUR.", "Die Gebühr beträgt 25 Euro.", Standing.SUPPORTED),
        ("Die Gebühr ist 35 EUR.", "Die Gebühr beträgt 25 Euro.", Standing.UNSUPPORTED),
        ("Les frais sont de 35 €.", "Les frais sont de 25 €.", Standing.UNSUPPORTED),
        ("银行卡付款可以在90天内提出异议。", "客户可以在交易日起120天内对银行卡付款提出异议。", Standing.UNSUPPORTED),
    ],
)
def test_rows_and_other_languages(sentence: str, cited: str, standing: Standing, embedder: Embedder) -> None:
    assert support(sentence, [cited], embedder).standing is standing


SENTENCES = [POLICY[unit.start : unit.end] for unit in quotable(POLICY)]
DIGITS = [(sentence, at) for sentence in SENTENCES for at, sign in enumerate(sentence) if sign.isdigit()]


@EXAMPLES
@given(st.sampled_from(SENTENCES), st.lists(st.sampled_from([POLICY, OTHER, FEES]), max_size=3))
def test_a_copied_sentence_is_always_supported(sentence: str, beside: list[str]) -> None:
    assert support(sentence, [*beside, POLICY], NO_EMBEDDER) == Support(Standing.SUPPORTED)
    assert support(f"  {' '.join(sentence.split())}\n", [*beside, POLICY], NO_EMBEDDER).standing is Standing.SUPPORTED


WORDS = st.lists(
    st.text(st.characters(categories=["L", "Nd"], max_codepoint=0x24F), min_size=1, max_size=9), min_size=1
)


@EXAMPLES
@given(st.lists(WORDS, min_size=1, max_size=4))
def test_a_copied_sentence_of_any_words_is_supported(written: list[list[str]]) -> None:
    sentences = [f"{' '.join(words).capitalize()}." for words in written]
    passage = "\n\n".join(sentences)
    for sentence in sentences:
        assert support(sentence, [passage], NO_EMBEDDER).standing is Standing.SUPPORTED


@EXAMPLES
@given(st.sampled_from(DIGITS), st.integers(1, 9), st.sampled_from([[POLICY], [POLICY, OTHER], [OTHER, POLICY, FEES]]))
def test_another_digit_is_never_supported(place: tuple[str, int], more: int, cited: list[str]) -> None:
    sentence, at = place
    digit = (int(sentence[at]) + more) % 10
    changed = f"{sentence[:at]}{digit}{sentence[at + 1 :]}"
    found = support(changed, [sentence, *cited], NO_EMBEDDER)
    assert found.standing is Standing.UNSUPPORTED
    assert found.reason


@EXAMPLES
@given(
    st.integers(0, 10**6),
    st.integers(0, 10**6),
    st.sampled_from(["EUR {}", "{} days", "{} %", "{} points", "R-{}", "{}"]),
)
def test_another_figure_is_never_supported(said: int, cited: int, form: str) -> None:
    assume(said != cited)
    sentence, passage = (f"The limit of the desk for transfers is {form.format(each)}." for each in (said, cited))
    assert support(sentence, [passage], NO_EMBEDDER).standing is Standing.UNSUPPORTED


@EXAMPLES
@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=3))
def test_any_texts_are_checked_and_always_alike(sentence: str, cited: list[str]) -> None:
    first = support(sentence, cited, REAL)
    assert support(sentence, cited, REAL) == first


@pytest.mark.parametrize(
    "sentence", ["", "(((", "\x00", "\ud800 is", "9" * 5_000, "not " * 500, "15 March 2026 " * 200]
)
def test_hostile_sentences_are_checked(sentence: str, embedder: Embedder) -> None:
    assert support(sentence, [POLICY], embedder).standing in Standing


def test_a_yes_that_says_no_more_is_not_held_to_be_wrong() -> None:
    cited = ["Watches can be returned within 30 days."]
    for text in ("Yes.", "Yes, you can.", "No, it is not."):
        assert support(text, cited, remembering(), "Can I return a watch?").standing is Standing.UNSURE
    assert support("Yes, within 60 days.", cited, remembering()).standing is Standing.UNSUPPORTED
