"""What of a chunk can be quoted: always the document's own text, at its place."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.generation.units import units
from citewell.types import ElementKind, Hit
from tests.generation.conftest import CODES, FEES, HITS, RULES, TIME_LIMITS, hit_of, quoted


def shown(hit: Hit) -> list[str]:
    return [unit.shown for unit in units(hit.chunk) if not unit.is_fragment]


def test_sentences_lose_line_breaks_and_keep_their_place() -> None:
    first = next(unit for unit in units(TIME_LIMITS.chunk) if not unit.is_fragment)
    assert first.shown == "A customer may dispute a card payment within 120 days of the transaction date."
    assert quoted(TIME_LIMITS, first.start, first.end) == (
        "A customer may dispute a card payment within 120 days\nof the transaction date."
    )
    assert first.context == "4 Disputes 4.2 Time limits"


def test_a_heading_is_a_fragment() -> None:
    heading = units(TIME_LIMITS.chunk)[0]
    assert (heading.shown, heading.is_fragment) == ("4.2 Time limits", True)


def test_a_caption_is_a_fragment_and_a_short_answer_is_not() -> None:
    text = (
        "Desks and extensions\n\nTable 4: Fees by kind of card\n\nSupport line 0800 123\n\nYes, always.\n\n- A passport"
    )
    kept = [unit.shown for unit in units(hit_of(text).chunk) if not unit.is_fragment]
    assert kept == ["Support line 0800 123", "Yes, always.", "A passport"]


def test_rows_are_read_under_their_columns_and_quoted_as_they_stand() -> None:
    caption_and_rows = units(FEES.chunk)
    row = caption_and_rows[1]
    assert row.shown == "First chargeback – Debit: £12.00; Credit: £18.00; Business: £25.00"
    assert quoted(FEES, row.start, row.end) == "First chargeback | £12.00 | £18.00 | £25.00"
    assert "Chargeback fees Stage Debit" in row.context


def test_the_row_of_column_names_is_no_answer() -> None:
    assert [unit.shown for unit in units(FEES.chunk) if unit.is_fragment] == ["Stage | Debit | Credit | Business"]


def test_an_empty_last_cell_is_left_out() -> None:
    assert shown(FEES)[-1] == "Arbitration – Debit: £310.00; Credit: £310.00"


def test_a_piece_that_begins_inside_a_table_has_no_column_names() -> None:
    piece = hit_of("Second chargeback | £14.50 | £21.00\nArbitration | £310.00 | £310.00", kind=ElementKind.TABLE)
    assert shown(piece) == ["Second chargeback | £14.50 | £21.00", "Arbitration | £310.00 | £310.00"]


def test_list_items_stand_alone_without_their_bullet() -> None:
    items = hit_of(
        "The agent asks three things:\n- whether the card is\n  still there\n- the amount", kind=ElementKind.LIST
    )
    assert shown(items) == ["whether the card is still there", "the amount"]
    assert [unit.shown for unit in units(items.chunk) if unit.is_fragment] == ["The agent asks three things:"]


def test_code_is_cut_at_its_top_level() -> None:
    assert [text.splitlines()[0] for text in shown(RULES)] == [
        "NIGHT_POINTS = 6",
        "def night_points(hour):",
        "def country_points(home, abroad):",
    ]


def test_long_code_is_cut_every_twelve_lines() -> None:
    long = hit_of("\n".join(f"line_{n} = {n}" for n in range(30)), kind=ElementKind.CODE)
    assert [len(text.splitlines()) for text in shown(long)] == [12, 12, 6]


def test_every_unit_of_every_kind_is_inside_its_chunk() -> None:
    for hit in (*HITS, CODES):
        for unit in units(hit.chunk):
            assert hit.chunk.start <= unit.start < unit.end <= hit.chunk.end


@settings(deadline=None, max_examples=60)
@given(
    st.text(st.sampled_from("ab1.!? \n|-#()\u3002\u0301"), min_size=1).filter(str.strip),
    st.sampled_from([ElementKind.PARAGRAPH, ElementKind.TABLE, ElementKind.CODE]),
)
def test_units_hold_text_in_order_without_overlap(text: str, kind: ElementKind) -> None:
    hit = hit_of(text, kind=kind)
    found = units(hit.chunk)
    assert found
    assert all(quoted(hit, unit.start, unit.end).strip() for unit in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


def test_a_line_of_blanks_costs_no_more_than_its_length() -> None:
    # Quadratic time would not end before the test's time limit.
    text = "Open at nine." + " " * 300_000 + "\n" + " " * 300_000 + "\nClosed at five."
    assert shown(hit_of(text)) == ["Open at nine.", "Closed at five."]
