"""Long tables: pieces that carry caption and column names, and the whole table as their parent."""

from collections.abc import Callable

import pytest

from citewell.chunking import Chunked
from citewell.chunking.tables import TABLE_PARENT_TOKENS
from citewell.loading.parsed import Details
from citewell.models.embedder import TokenSpans
from citewell.types import Document, ElementKind
from tests.chunking.conftest import Cut, Make, Part, small

HEADING, PARAGRAPH = ElementKind.HEADING, ElementKind.PARAGRAPH
TABLE, CAPTION = ElementKind.TABLE, ElementKind.CAPTION
NAMED = Details(header_rows=1)


def table_of(rows: int, header: str = "Card | Fee") -> str:
    return "\n".join([header, *(f"Type {number} | {number}.50 EUR" for number in range(rows))])


def embedded(chunked: Chunked) -> list[str]:
    return [entry.text for entry in chunked.entries]


def test_every_piece_but_the_first_has_the_caption_and_the_column_names_above_it(make: Make, cut: Cut) -> None:
    document = make([(HEADING, "4.5 Fees"), (CAPTION, "Table 1: Fees"), (TABLE, table_of(30), NAMED)])

    chunked = cut(document)

    first, *others = small(chunked)
    assert first.text.startswith("4.5 Fees\n\nTable 1: Fees\n\nCard | Fee\nType 0 | 0.50 EUR\n")
    assert first.preamble == ""
    assert len(others) >= 4
    assert {piece.preamble for piece in others} == {"Table 1: Fees\nCard | Fee"}
    assert embedded(chunked)[1].startswith("Manual › 4.5 Fees\nTable 1: Fees\nCard | Fee\nType ")
    rows = [line for piece in small(chunked) for line in piece.text.split("\n") if line.startswith("Type")]
    assert rows == table_of(30).split("\n")[1:]


def test_a_caption_below_its_table_stands_above_all_pieces_that_do_not_show_it(make: Make, cut: Cut) -> None:
    parts: list[Part] = [(TABLE, table_of(20), NAMED), (CAPTION, "Table 1: Fees"), (PARAGRAPH, "The end.")]

    pieces = small(cut(make(parts)))

    assert [piece.preamble for piece in pieces[:2]] == ["Table 1: Fees", "Table 1: Fees\nCard | Fee"]
    assert pieces[-1].text.endswith("19.50 EUR\n\nTable 1: Fees\n\nThe end.")
    assert pieces[-1].preamble == "Card | Fee"


def test_a_caption_between_two_tables_is_the_one_of_the_second(make: Make, cut: Cut) -> None:
    parts: list[Part] = [(TABLE, table_of(12), NAMED), (CAPTION, "Table 2: Limits"), (TABLE, table_of(12), NAMED)]

    pieces = small(cut(make(parts)))

    assert [piece.preamble for piece in pieces if piece.text.startswith("Type") and "Limits" not in piece.text] == [
        "Card | Fee",
        "Table 2: Limits\nCard | Fee",
    ]


def test_a_whole_table_needs_nothing_above_it(make: Make, cut: Cut) -> None:
    chunked = cut(make([(PARAGRAPH, "Text."), (CAPTION, "Table 1"), (TABLE, table_of(5), NAMED)]))

    assert [(piece.preamble, piece.parent_id) for piece in chunked.chunks] == [("", None)]


def test_a_table_that_goes_on_has_its_preamble_above_each_piece(make: Make, cut: Cut) -> None:
    rows = table_of(20).partition("\n")[2]
    document = make([(PARAGRAPH, "[1] A note."), (TABLE, rows, Details(preamble="Card | Fee"))])

    chunked = cut(document)

    assert len(small(chunked)) > 2
    assert {piece.preamble for piece in small(chunked)} == {"Card | Fee"}
    assert embedded(chunked)[0].startswith("Manual\nCard | Fee\n[1] A note.\n\nType 0 | 0.50 EUR\n")


def test_column_names_over_a_third_of_a_chunk_are_shortened_from_the_middle_and_reported(
    make: Make, cut: Cut, token_spans: Callable[[str], TokenSpans]
) -> None:
    names = [f"name {number}" for number in range(20)]
    rows = [" | ".join(str(number) for number in range(20)) for _ in range(6)]
    document = make([(CAPTION, "Table 1"), (TABLE, "\n".join([" | ".join(names), *rows]), NAMED)], pages=[0])

    chunked = cut(document, size=120)

    above = " | ".join([*names[:7], "…", *names[14:]])
    assert {piece.preamble for piece in small(chunked)[2:]} == {f"Table 1\n{above}"}
    assert len(token_spans(above)) <= 40 < len(token_spans(" | ".join(names)))
    (warning,) = chunked.warnings
    assert warning == (
        "Table at character 9, page A-1: its caption and column names have 61 tokens, "
        "too many to stand above each of its pieces: shortened there."
    )


def test_a_row_is_not_cut_for_what_stands_above_it(
    make: Make, cut: Cut, token_spans: Callable[[str], TokenSpans]
) -> None:
    """60 tokens: 1 for the title, 14 for the column names, 55 for a row."""
    row = "Business | " + "any " * 52 + "| 5"
    names = "Card | Rule of the bank for its customers | Fee in EUR"
    document = make([(TABLE, "\n".join([names, *[row] * 4]), NAMED)])

    chunked = cut(document, size=60)

    rows = [(piece, entry) for piece, entry in zip(small(chunked), chunked.entries, strict=True) if piece.preamble]
    assert [piece.text for piece, _ in rows] == [row] * 4
    assert {piece.preamble for piece, _ in rows} == {names}
    assert {len(token_spans(entry.text)) for _, entry in rows} == {60}
    assert {entry.text for _, entry in rows} == {f"Manual\nCard | Rule\n{row}"}
    assert chunked.warnings == ()


def test_a_cut_table_is_the_parent_of_its_pieces(make: Make, cut: Cut) -> None:
    parts: list[Part] = [
        (HEADING, "4.5 Fees"),
        (PARAGRAPH, "See below."),
        (CAPTION, "Table 1"),
        (TABLE, table_of(30), NAMED),
        (PARAGRAPH, "It ends here."),
        (HEADING, "4.6 Limits"),
        (PARAGRAPH, "None."),
    ]
    document = make(parts)

    chunked = cut(document)

    *pieces, limits = small(chunked)
    parents = [piece for piece in chunked.chunks if "#p" in piece.id]
    assert [parent.id for parent in parents] == ["doc@1#p0"]
    assert parents[0].text == document.text[: document.text.index("\n\n4.6 Limits")]
    assert parents[0].heading_path == ("4.5 Fees",)
    assert {piece.parent_id for piece in pieces} == {"doc@1#p0"}
    assert limits.parent_id is None
    assert parents[0].id not in {entry.chunk_id for entry in chunked.entries}


@pytest.mark.parametrize("method", ["structure", "semantic", "fixed"])
def test_a_table_over_the_limit_and_a_fixed_window_have_no_table_as_parent(make: Make, cut: Cut, method: str) -> None:
    rows = 400 if method != "fixed" else 30
    document: Document = make([(TABLE, table_of(rows), NAMED)])

    chunked = cut(document, method=method)

    assert rows < 400 or len(document.text.split()) > TABLE_PARENT_TOKENS
    assert {piece.parent_id for piece in chunked.chunks} == {None}


def test_of_very_many_warnings_the_first_are_given(make: Make, cut: Cut) -> None:
    long = "Business | " + "any " * 70
    chunked = cut(make([(TABLE, "\n".join(f"{number} | {long}" for number in range(50)))]))

    assert len(chunked.warnings) == 21
    assert chunked.warnings[0].startswith("Table row at character 0: it has ")
    assert chunked.warnings[-1] == "There are 30 more warnings of this kind."
