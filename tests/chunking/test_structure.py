import random
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from citewell.chunking import chunk
from citewell.models.embedder import TokenSpans
from citewell.models.minilm import MiniLM
from citewell.settings import Chunking
from citewell.types import Document, ElementKind, Rights, Trust
from tests.chunking.conftest import Cut, Make, small

HEADING, PARAGRAPH, LIST = ElementKind.HEADING, ElementKind.PARAGRAPH, ElementKind.LIST
TABLE, CODE, CAPTION = ElementKind.TABLE, ElementKind.CODE, ElementKind.CAPTION

# Ten tokens, counted with the full stop.
SENTENCE = "The bank must answer the customer within {} days."


def sentence_of(number: int) -> str:
    return SENTENCE.format(number)


def text_of(*numbers: int) -> str:
    return " ".join(sentence_of(number) for number in numbers)


def test_a_heading_and_its_text_are_one_chunk(make: Make, cut: Cut) -> None:
    document = make(
        [(HEADING, "4 Disputes"), (PARAGRAPH, text_of(1)), (LIST, "- card\n- cash"), (PARAGRAPH, text_of(2))]
    )

    chunks = cut(document).chunks

    assert [chunk.text for chunk in chunks] == [document.text]
    assert chunks[0].heading_path == ("4 Disputes",)


def test_sections_are_not_mixed(make: Make, cut: Cut) -> None:
    document = make(
        [(HEADING, "4.1 Fees"), (PARAGRAPH, "Ten euros."), (HEADING, "4.2 Limits"), (PARAGRAPH, "120 days.")]
    )

    chunks = cut(document, overlap=30).chunks

    assert [chunk.text for chunk in chunks] == ["4.1 Fees\n\nTen euros.", "4.2 Limits\n\n120 days."]
    assert [chunk.heading_path for chunk in chunks] == [("4.1 Fees",), ("4.2 Limits",)]


def test_the_heading_of_a_section_without_text_goes_with_its_first_subsection(make: Make, cut: Cut) -> None:
    document = make(
        [
            (HEADING, "4 Disputes"),
            (HEADING, "4.2 Limits", 2),
            (PARAGRAPH, "120 days."),
            (HEADING, "5 Reserved"),
            (HEADING, "6 End"),
        ]
    )

    chunked = cut(document)

    assert [chunk.text for chunk in chunked.chunks] == ["4 Disputes\n\n4.2 Limits\n\n120 days.", "5 Reserved", "6 End"]
    assert chunked.chunks[0].heading_path == ("4 Disputes", "4.2 Limits")
    assert [chunk.kind for chunk in chunked.chunks] == [PARAGRAPH, HEADING, HEADING]


def test_text_before_the_first_heading_and_text_without_elements(make: Make, cut: Cut) -> None:
    document = make([(PARAGRAPH, "Preface."), (HEADING, "1 Start"), (PARAGRAPH, "Text.")])
    assert [chunk.text for chunk in cut(document).chunks] == ["Preface.", "1 Start\n\nText."]

    bare = replace(document, text=" \n Preface.\n\nText. \n", elements=())
    assert [(chunk.text, chunk.start) for chunk in cut(bare).chunks] == [("Preface.\n\nText.", 3)]
    assert cut(replace(document, text=" \n ", elements=())).chunks == ()


def test_cut_between_elements_where_that_fills_a_third_else_between_sentences(make: Make, cut: Cut) -> None:
    """60 tokens less the title: five sentences."""
    halves = make([(PARAGRAPH, text_of(1, 2, 3)), (PARAGRAPH, text_of(4, 5, 6)), (PARAGRAPH, text_of(7))])
    assert [chunk.text for chunk in cut(halves).chunks] == [text_of(1, 2, 3), f"{text_of(4, 5, 6)}\n\n{text_of(7)}"]

    short_first = make([(PARAGRAPH, text_of(1)), (PARAGRAPH, text_of(2, 3, 4, 5, 6))])
    assert [chunk.text for chunk in cut(short_first).chunks] == [f"{text_of(1)}\n\n{text_of(2, 3, 4, 5)}", text_of(6)]


def test_overlap_is_whole_sentences_of_running_text(make: Make, cut: Cut) -> None:
    document = make([(HEADING, "1 A"), (PARAGRAPH, text_of(*range(1, 10))), (HEADING, "2 B"), (PARAGRAPH, text_of(20))])

    chunks = cut(document, overlap=25).chunks

    assert [chunk.text for chunk in chunks] == [
        f"1 A\n\n{text_of(1, 2, 3, 4, 5)}",
        text_of(4, 5, 6, 7, 8),
        text_of(7, 8, 9),
        f"2 B\n\n{text_of(20)}",
    ]


def test_overlap_gives_way_to_a_long_sentence(make: Make, cut: Cut) -> None:
    long = "Refunds of fees " + "and of other fees " * 12 + "end here."
    chunks = cut(make([(PARAGRAPH, f"{text_of(1, 2, 3)} {long} {text_of(4)}")]), overlap=25).chunks

    assert [chunk.text for chunk in chunks] == [text_of(1, 2, 3), long, text_of(4)]


def test_a_sentence_longer_than_a_chunk_is_cut_at_clauses_and_words(make: Make, cut: Cut) -> None:
    clauses = ", ".join(f"and the fee number {number} is refunded" for number in range(20))
    words = "fee " * 200
    chunks = cut(make([(PARAGRAPH, f"{clauses}.")])).chunks
    assert all(chunk.text.endswith(",") for chunk in chunks[:-1])
    assert "".join(f"{chunk.text} " for chunk in chunks).strip() == f"{clauses}."

    assert {chunk.text.strip("fe ") for chunk in cut(make([(PARAGRAPH, words)])).chunks} == {""}


def test_a_table_is_cut_between_rows_and_not_overlapped(make: Make, cut: Cut) -> None:
    rows = ["Card | Fee"] + [f"Type {number} | {number}.50 EUR" for number in range(30)]
    document = make([(HEADING, "4.5 Fees"), (CAPTION, "Table 1"), (TABLE, "\n".join(rows)), (PARAGRAPH, text_of(1, 2))])

    chunked = cut(document, overlap=30)

    *tables, last = small(chunked)
    assert "\n".join(chunk.text for chunk in tables).split("\n")[4:] == rows
    assert tables[0].text.startswith("4.5 Fees\n\nTable 1\n\nCard | Fee\n")
    assert last.text.endswith(text_of(1, 2))
    assert {chunk.kind for chunk in tables} == {TABLE}
    assert chunked.warnings == ()


def test_a_table_that_fits_a_chunk_is_kept_whole_with_its_caption(make: Make, cut: Cut) -> None:
    table = "\n".join(["Card | Fee", *(f"Type {number} | {number} EUR" for number in range(8))])
    document = make([(PARAGRAPH, text_of(1)), (CAPTION, "Table 1"), (TABLE, table), (PARAGRAPH, text_of(2, 3))])

    chunks = cut(document, overlap=20).chunks

    assert [chunk.text for chunk in chunks] == [text_of(1), f"Table 1\n\n{table}", text_of(2, 3)]


def test_a_row_longer_than_a_chunk_is_kept_whole_and_reported(make: Make, cut: Cut) -> None:
    row = "Business | " + "applies to cards of companies " * 15 + "| 35 EUR"
    document = make([(HEADING, "Fees"), (TABLE, f"Card | Rule | Fee\n{row}\nDebit | none | 15 EUR")], pages=[0])

    chunked = cut(document)

    assert [chunk.text for chunk in small(chunked)] == [
        "Fees\n\nCard | Rule | Fee",
        row,
        "Debit | none | 15 EUR",
    ]
    start = document.text.index("Business")
    assert chunked.warnings == (
        f"Table row at character {start}, page A-1: it has 81 tokens, more than the 57 of a chunk: it was kept whole.",
    )


def test_a_row_longer_than_the_embedder_takes_is_cut_between_cells_and_reported(
    make: Make, cut: Cut, token_spans: Callable[[str], TokenSpans]
) -> None:
    cells = [f"rule {number} applies to cards of companies. It is new" for number in range(30)]
    document = make([(TABLE, f"Card | Rule\n{' | '.join(cells)}\nDebit | none")])

    chunked = cut(document, size=60, max_tokens=64)

    pieces = small(chunked)[1:]
    assert len(pieces) > 5
    assert max(len(token_spans(f"Manual\n{chunk.text}")) for chunk in pieces) <= 60
    assert all(chunk.text.endswith("It is new |") for chunk in pieces[:-1])
    assert len(chunked.warnings) == 1
    assert chunked.warnings[0].endswith("of which the embedder takes 61 at a time: it was cut.")


def test_code_is_cut_at_blank_lines_then_at_lines(make: Make, cut: Cut) -> None:
    functions = [f"def rule_{number}(amount):\n    if amount > {number}:\n        return True" for number in range(6)]
    chunks = cut(make([(CODE, "\n\n".join(functions))]), overlap=30).chunks
    assert "\n\n".join(chunk.text for chunk in chunks) == "\n\n".join(functions)
    assert all(chunk.text.startswith("def rule_") for chunk in chunks)
    assert {chunk.kind for chunk in chunks} == {CODE}

    lines = [f"    total_{number} = amount * {number}" for number in range(30)]
    chunks = cut(make([(CODE, "\n".join(lines))]), overlap=30).chunks
    assert "\n".join(chunk.text for chunk in chunks) == "\n".join(lines)
    assert chunks[1].text.startswith("    total_")


def test_a_list_is_cut_between_items(make: Make, cut: Cut) -> None:
    items = [f"- {text_of(number, number)}" for number in range(6)]
    chunks = cut(make([(LIST, "\n".join(items))])).chunks

    assert "\n".join(chunk.text for chunk in chunks) == "\n".join(items)
    assert all(chunk.text.startswith("- ") for chunk in chunks)
    assert {chunk.kind for chunk in chunks} == {LIST}


def test_a_chunk_knows_its_pages(make: Make, cut: Cut) -> None:
    parts = [(PARAGRAPH, text_of(1)), (PARAGRAPH, text_of(2)), (PARAGRAPH, text_of(3, 4, 5, 6))]
    chunks = cut(make(parts, pages=[0, 1, 2])).chunks

    assert [chunk.text for chunk in chunks] == [
        f"{text_of(1)}\n\n{text_of(2)}",
        text_of(3, 4, 5, 6),
    ]
    assert [chunk.pages for chunk in chunks] == [((1, "A-1"), (2, "A-2")), ((3, "A-3"),)]


def test_a_chunk_carries_what_its_document_says(make: Make, cut: Cut) -> None:
    document = make([(PARAGRAPH, text_of(*range(12)))])

    chunks = cut(document).chunks

    assert [chunk.id for chunk in chunks] == ["doc@1#0", "doc@1#1", "doc@1#2"]
    assert {(chunk.document_id, chunk.title, chunk.source, chunk.version) for chunk in chunks} == {
        ("doc", "Manual", "file:///manual.txt", "2")
    }
    assert {chunk.rights for chunk in chunks} == {Rights(frozenset({"fraud_team"}))}
    assert {chunk.trust for chunk in chunks} == {Trust.APPROVED}
    assert {chunk.parent_id for chunk in chunks} == {None}
    assert {chunk.pages for chunk in chunks} == {()}


@pytest.mark.parametrize("hostile", ["x" + "\u200b" * 20_000, "ab1X" * 5_000, "\u0301" * 20_000, "👩\u200d" * 5_000])
def test_hostile_text_is_cut_to_size(
    hostile: str, make: Make, cut: Cut, token_spans: Callable[[str], TokenSpans]
) -> None:
    chunks = cut(make([(PARAGRAPH, hostile)])).chunks

    assert "".join(chunk.text for chunk in chunks) == hostile
    assert max(len(token_spans(f"Manual\n{chunk.text}")) for chunk in chunks) <= 60
    assert max(len(chunk.text) for chunk in chunks) <= 60 * 64


class Timed(MiniLM):
    """The default embedder, which sums up the time that counting takes."""

    counting = 0.0

    def token_spans(self, text: str) -> TokenSpans:
        begin = time.process_time()
        spans = super().token_spans(text)
        self.counting += time.process_time() - begin
        return spans


def test_a_document_of_60_000_words_takes_well_under_a_second_beyond_its_tokens(make: Make) -> None:
    draw = random.Random(4)
    words = ["the", "customer", "bank", "must", "report", "disputed", "payments", "within", "days", "of", "fees"]
    paragraph = ". ".join(" ".join(draw.choices(words, k=20)).capitalize() for _ in range(10)) + "."
    parts = [part for number in range(300) for part in ((HEADING, f"{number} Topic"), (PARAGRAPH, paragraph))]
    document: Document = make(parts)
    embedder = Timed()
    embedder.token_spans("")  # loads the tokenizer
    embedder.counting = 0.0

    begin = time.process_time()
    chunked = chunk(document, Chunking(), embedder)
    elapsed = time.process_time() - begin

    assert len(document.text.split()) > 60_000
    assert len(chunked.chunks) == 300
    assert elapsed - embedder.counting < 1
