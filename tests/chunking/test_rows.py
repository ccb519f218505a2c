"""Rows of tables as chunks and sentences of their own."""

import pytest

from citewell.chunking.rows import column_names
from citewell.loading.parsed import Details
from citewell.types import Chunk, ElementKind, EntryKind
from tests.chunking.conftest import Cut, Make

HEADING, TABLE, CAPTION = ElementKind.HEADING, ElementKind.TABLE, ElementKind.CAPTION


def rows_of(chunks: tuple[Chunk, ...]) -> list[Chunk]:
    return [piece for piece in chunks if "." in piece.id.rpartition("#")[2]]


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ([], []),
        (["Card | Fee"], ["Card", "Fee"]),
        (["Card | Fee |  | Note", " | Domestic | Cross-border"], ["Card", "Fee Domestic", "Fee Cross-border", "Note"]),
        (["Card | Fee", " | Domestic | Cross-border"], ["Card", "Fee Domestic", "Fee Cross-border"]),
        (["Card | Fee | Fee", "Card | Domestic | Cross-border"], ["Card", "Fee Domestic", "Fee Cross-border"]),
        (["| Fee", "Card | Domestic"], ["Card", "Fee Domestic"]),
        (["A |  |  | B", "C |  | D | ", "E | F | G | H"], ["A C E", "A C F", "A D G", "B H"]),
        (["Card |  | Fee", " | Type | EUR"], ["Card", "Type", "Fee EUR"]),
    ],
)
def test_names_of_merged_columns_are_joined(header: list[str], names: list[str]) -> None:
    assert column_names(header) == names


def test_a_row_says_by_itself_where_it_stands_and_what_its_cells_mean(make: Make, cut: Cut) -> None:
    table = "Card | Fee\n | Domestic | Cross-border\nDebit | EUR 15 | EUR 30\nBusiness |  | EUR 40\nOther"
    parts = [
        (HEADING, "4 Fees", 1),
        (HEADING, "4.5 Chargeback fees", 2),
        (CAPTION, "Table 7: Chargeback fees"),
        (TABLE, table, Details(header_rows=2)),
    ]
    document = make(parts, title="Fraud Policy Manual")

    chunked = cut(document, size=200, table_rows=True)

    place = "Fraud Policy Manual › 4 Fees › 4.5 Chargeback fees. Table 7: Chargeback fees."
    entries = [entry for entry in chunked.entries if entry.kind is EntryKind.ROW]
    assert [entry.text for entry in entries] == [
        f"{place} Card: Debit; Fee Domestic: EUR 15; Fee Cross-border: EUR 30.",
        f"{place} Card: Business; Fee Cross-border: EUR 40.",
        f"{place} Card: Other.",
    ]
    rows = rows_of(chunked.chunks)
    assert [row.id for row in rows] == [f"doc@1#0.{number}" for number in range(3)]
    assert [entry.id for entry in entries] == [f"{row.id}/row" for row in rows]
    assert [row.text for row in rows] == ["Debit | EUR 15 | EUR 30", "Business |  | EUR 40", "Other"]
    assert {row.preamble for row in rows} == {"Table 7: Chargeback fees\nCard | Fee\n | Domestic | Cross-border"}
    assert {(row.kind, row.heading_path) for row in rows} == {(TABLE, ("4 Fees", "4.5 Chargeback fees"))}
    assert {row.parent_id for row in rows} == {"doc@1#0"}


def test_rows_of_a_cut_table_belong_to_the_whole_of_it(make: Make, cut: Cut) -> None:
    table = "\n".join(["Card | Fee", *(f"Type {number} | {number} EUR" for number in range(30))])

    chunked = cut(make([(TABLE, table, Details(header_rows=1))]), table_rows=True)

    rows = rows_of(chunked.chunks)
    assert len(rows) == 30
    assert {row.parent_id for row in rows} == {"doc@1#p0"}
    assert rows[-1].id == "doc@1#3.2"


def test_without_column_names_the_cells_are_listed_and_names_may_come_from_above(make: Make, cut: Cut) -> None:
    parts = [(TABLE, "Debit | EUR 15"), (TABLE, "Credit | EUR 20", Details(preamble="Table 1\nCard | Fee"))]

    chunked = cut(make(parts), table_rows=True)

    assert [entry.text for entry in chunked.entries if entry.kind is EntryKind.ROW] == [
        "Manual. Debit, EUR 15.",
        "Manual. Card: Credit; Fee: EUR 20.",
    ]


def test_a_sentence_that_the_embedder_does_not_take_is_cut_at_its_end_and_reported_once(make: Make, cut: Cut) -> None:
    long = "Debit | " + "applies to cards of companies " * 60
    document = make([(TABLE, f"Card | Rule\n{long}\n{long}\nCredit | none", Details(header_rows=1))])

    chunked = cut(document, table_rows=True)

    said = [entry.text for entry in chunked.entries if entry.kind is EntryKind.ROW]
    assert said[0].startswith("Manual. Card: Debit; Rule: applies to cards")
    assert len(said[0].split()) > 200
    assert said[2] == "Manual. Card: Credit; Rule: none."
    assert [warning for warning in chunked.warnings if "column names" in warning] == [
        "2 table rows are longer, with the column names, than what the embedder takes: found by the first cells only."
    ]
