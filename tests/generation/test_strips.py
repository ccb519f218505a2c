"""What of a passage is shown: the document's own text, and nothing torn from what it needs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.generation.strips import excerpt, quoted_with, with_what_belongs
from citewell.generation.units import units
from citewell.types import Hit
from tests.generation.conftest import CODES, FEES, HITS, RULES, TIME_LIMITS, hit_of


def shown_with(hit: Hit, *texts: str) -> str:
    """What is shown of a passage of which the units with these texts are chosen."""
    found = units(hit.passage)
    chosen = {place for place, unit in enumerate(found) if any(text in unit.shown for text in texts)}
    assert len(chosen) == len(texts)
    kept = with_what_belongs(hit.passage, found, chosen)
    return excerpt(hit.passage, [found[place] for place in sorted(kept)])


def test_a_sentence_is_shown_under_its_heading_with_its_line_break() -> None:
    assert shown_with(TIME_LIMITS, "within 120 days") == (
        "4.2 Time limits\n\nA customer may dispute a card payment within 120 days\nof the transaction date. …"
    )


def test_a_gap_is_marked() -> None:
    text = shown_with(CODES, "R-17 means", "Section 17")
    assert text == "Code R-17 means suspected fraud: the card is blocked. … Section 17 applies to refunds."


def test_a_row_is_shown_under_its_columns() -> None:
    assert shown_with(FEES, "Second chargeback") == (
        "Chargeback fees\nStage | Debit | Credit | Business …\nSecond chargeback | £14.50 | £21.00 | £30.00 …"
    )


def test_the_names_of_columns_are_not_shown_above_another_paragraph() -> None:
    hit = hit_of(f"{FEES.chunk.text}\n\nRefunds are free of charge. They are made on the same day.")
    assert "Stage" not in shown_with(hit, "Refunds are free")
    assert "Stage" in shown_with(hit, "First chargeback")


def test_a_sentence_that_leans_brings_those_before_it() -> None:
    text = "The limit is £500. It is raised on request. This takes two days. Forms are blue."
    assert shown_with(hit_of(text), "This takes") == text.replace(" Forms are blue.", " …")


@pytest.mark.parametrize(
    "exception",
    [
        "This does not apply to youth accounts.",
        "However, youth accounts are never refunded.",
        "Except for youth accounts, nothing is deducted.",
        "Not so for youth accounts.",
        "Unless the account is closed.",
        "Dies gilt nicht für Jugendkonten.",
        "Sauf pour les comptes jeunes.",
    ],
)
def test_an_exception_stays_with_what_it_limits(exception: str) -> None:
    text = f"Refunds are paid within five days. {exception} Forms are blue."
    assert shown_with(hit_of(text), "Refunds are paid") == text.replace(" Forms are blue.", " …")


def test_exceptions_stay_together() -> None:
    text = "Refunds are paid within five days. This does not apply to gifts. Nor to loans. Forms are blue."
    assert shown_with(hit_of(text), "Refunds are paid") == text.replace(" Forms are blue.", " …")


def test_a_lead_in_brings_its_list_and_no_more() -> None:
    text = "A claim needs three things:\n\n• the card\n• the form. It is signed.\n• a receipt\n\nClerks wear blue."
    assert shown_with(hit_of(text), "A claim needs") == text.removesuffix("\n\nClerks wear blue.") + " …"


def test_a_lead_in_brings_its_table() -> None:
    text = f"The fees are as follows:\n\n{FEES.chunk.text}\n\nClerks wear blue."
    assert shown_with(hit_of(text), "as follows") == text.removesuffix("\n\nClerks wear blue.") + " …"


def test_a_term_and_its_definition_stay_together() -> None:
    text = "Refund. The merchant gives money back.\n\nRecall. The bank asks for it."
    assert shown_with(hit_of(text), "Refund.") == "Refund. The merchant gives money back. …"
    assert shown_with(hit_of(text), "The merchant gives") == "Refund. The merchant gives money back. …"


def test_code_is_shown_by_the_block() -> None:
    text = shown_with(RULES, "def country_points")
    assert text == "…\n\n\ndef country_points(home, abroad):\n    return 28 if home != abroad else 0"


def test_everything_chosen_is_the_whole_passage() -> None:
    for hit in HITS:
        assert excerpt(hit.passage, units(hit.passage)) == hit.passage.text.strip()


LINES = st.sampled_from(
    [
        "A fee is due.",
        "It is £5.",
        "This does not apply abroad.",
        "You need:",
        "• a card",
        "1. Ring the bank.",
        "Fee | Debit | Credit",
        "Late | £1.00 | £2.00",
        "Notes",
        "No.",
        "",
        "費用は五ポンドです。",
    ]
)


@settings(deadline=None, max_examples=150)
@given(st.lists(LINES, min_size=1, max_size=10).map("\n".join).filter(str.strip), st.data())
def test_what_is_shown_is_of_the_passage_and_holds_all_that_was_chosen(text: str, data: st.DataObject) -> None:
    chunk = hit_of(text).chunk
    found = units(chunk)
    chosen = data.draw(st.sets(st.integers(0, len(found) - 1), min_size=1))
    kept = with_what_belongs(chunk, found, chosen)
    assert chosen <= kept <= set(range(len(found)))
    shown = excerpt(chunk, [found[place] for place in sorted(kept)])
    for place in kept:
        assert text[found[place].start - chunk.start : found[place].end - chunk.start] in shown
    assert all(stretch.strip() in text for stretch in shown.split("…"))


CASH = (
    "Cash may be drawn abroad. It costs 5 euros for each withdrawal. This also holds in the evening. However, not at "
    "night.\n\nIt is a paragraph of its own. Receipts are printed.\n\n- Motorbikes park in yard C.\n- They pay nothing."
)


@pytest.mark.parametrize(
    ("quoted", "beside"),
    [
        ("Cash may be", []),
        ("It costs 5", ["Cash may be drawn abroad."]),
        ("This also", ["It costs 5 euros for each withdrawal.", "Cash may be drawn abroad.", "However, not at night."]),
        ("However", ["This also holds in the evening.", "It costs 5 euros for each withdrawal."]),
        ("It is a paragraph", []),
        ("They pay", ["Motorbikes park in yard C."]),
    ],
)
def test_a_sentence_is_quoted_with_what_it_leans_on_and_what_takes_it_back(quoted: str, beside: list[str]) -> None:
    hit = hit_of(CASH)
    found = units(hit.passage)
    (place,) = (place for place, unit in enumerate(found) if unit.shown.startswith(quoted))
    before, after = quoted_with(hit.passage, found, place)
    assert [found[at].shown for at in (*before, *after)] == beside


def test_rows_terms_and_code_are_quoted_alone() -> None:
    for hit in (FEES, RULES, hit_of("Case type: ATO. It is rare.\n\nOwner: it is the desk.")):
        found = units(hit.passage)
        assert all(quoted_with(hit.passage, found, place) == ([], []) for place in range(len(found)))
