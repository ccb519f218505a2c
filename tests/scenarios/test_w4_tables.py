"""W4: a table longer than a chunk, with a caption, two merged header rows and one row longer than the limit."""

from itertools import pairwise
from pathlib import Path

import pytest

from citewell import Index, Settings
from citewell.chunking import Chunked, chunk
from citewell.generation.prompt import build_prompt
from citewell.loading.parsed import Details, TextBuilder
from citewell.loading.tables import table_text
from citewell.models.minilm import MiniLM
from citewell.settings import Chunking, Generation, Loading
from citewell.types import Chunk, Document, ElementKind, EntryKind, Rights

LIMIT = 160
CAPTION = "Table 7: Chargeback fees"
HEADER = [["Card", "Fee", "", "Note"], ["", "Domestic", "Cross-border", ""]]
LONG = 33
NOTE = "The fee is waived where the merchant answers within ten days and the customer agrees to the refund. " * 9


def row_of(number: int) -> list[str]:
    if number == 20:
        return ["Business", "EUR 25", "EUR 40", "each case"]
    note = NOTE.strip() if number == LONG else "each case"
    return [f"Partner bank {number}", f"EUR {number}.50", f"EUR {number + 10}.50", note]


ROWS = [row_of(number) for number in range(60)]
LINES = [table_text([row]) for row in ROWS]


@pytest.fixture(scope="module")
def embedder() -> MiniLM:
    return MiniLM()


@pytest.fixture(scope="module")
def document() -> Document:
    builder = TextBuilder(Loading())
    builder.start_page(1, "iv")
    builder.add(ElementKind.HEADING, "4 Disputes")
    builder.add(ElementKind.HEADING, "4.5 Chargeback fees", level=2)
    builder.add(ElementKind.PARAGRAPH, "The bank charges a fee for each chargeback. The table lists it by card.")
    builder.add(ElementKind.CAPTION, CAPTION)
    builder.add(ElementKind.TABLE, table_text([*HEADER, *ROWS]), more=Details(header_rows=2))
    builder.add(ElementKind.PARAGRAPH, "Fees are collected at the end of the month.")
    parsed = builder.build("Fraud Policy Manual")
    everyone = Rights(frozenset({"everyone"}))
    return Document(
        *("manual", "0" * 64, parsed.title, "file:///manual.txt", "2026", parsed.text, parsed.elements),
        rights=everyone,
        pages=parsed.pages,
        own_title=parsed.title,
    )


@pytest.fixture(scope="module")
def chunked(document: Document, embedder: MiniLM) -> Chunked:
    return chunk(document, Chunking(size=LIMIT, overlap=20, table_rows=True), embedder)


def pieces_of(chunked: Chunked) -> list[Chunk]:
    entries = [entry.chunk_id for entry in chunked.entries if entry.kind is EntryKind.CHUNK]
    return [piece for piece in chunked.chunks if piece.id in entries]


def test_w4_every_piece_carries_caption_and_column_names(chunked: Chunked, embedder: MiniLM) -> None:
    texts = {entry.chunk_id: entry.text for entry in chunked.entries if entry.kind is EntryKind.CHUNK}
    names = "Card | Fee |  | Note\n | Domestic | Cross-border"
    pieces = [piece for piece in pieces_of(chunked) if "EUR" in piece.text]

    assert len(pieces) > 8
    assert all(
        CAPTION in texts[piece.id] and names in texts[piece.id] for piece in pieces if NOTE[:20] not in piece.text
    )
    assert {piece.preamble for piece in pieces[1:]} == {f"{CAPTION}\n{names}"}
    counts = [len(embedder.token_spans(text)) for text in texts.values()]
    assert sum(count > LIMIT for count in counts) == 1
    assert max(counts) <= embedder.identity.max_tokens - 2


def test_w4_no_row_is_cut_and_the_long_one_is_reported(document: Document, chunked: Chunked) -> None:
    pieces = pieces_of(chunked)

    lines = [line for piece in pieces for line in piece.text.split("\n") if "EUR" in line]
    assert lines == LINES
    assert all(earlier.end <= later.start for earlier, later in pairwise(pieces))
    assert [piece.text for piece in pieces if NOTE[:20] in piece.text] == [LINES[LONG]]
    start = document.text.index(LINES[LONG])
    (warning,) = chunked.warnings
    assert warning.startswith(f"Table row at character {start}, page iv: it has ")
    assert warning.endswith("of a chunk: it was kept whole.")


def test_w4_a_row_is_a_sentence_and_points_at_the_whole_table(document: Document, chunked: Chunked) -> None:
    rows = {entry.chunk_id: entry for entry in chunked.entries if entry.kind is EntryKind.ROW}
    found = {piece.id: piece for piece in chunked.chunks}

    assert [found[name].text for name in rows] == LINES
    business = next(entry for entry in rows.values() if "Business" in entry.text)
    assert business.text == (
        "Fraud Policy Manual › 4 Disputes › 4.5 Chargeback fees. Table 7: Chargeback fees. "
        "Card: Business; Fee Domestic: EUR 25; Fee Cross-border: EUR 40; Note: each case."
    )
    parent = found[found[business.chunk_id].parent_id or ""]
    assert parent.text.startswith("4 Disputes\n\n4.5 Chargeback fees\n\n")
    assert table_text([*HEADER, *ROWS]) in parent.text
    assert {found[name].parent_id for name in rows} == {piece.parent_id for piece in pieces_of(chunked)} == {parent.id}
    assert found[business.chunk_id].pages == ((1, "iv"),)
    assert document.text[parent.start : parent.end] == parent.text


def test_w4_a_row_is_found_and_the_prompt_gets_its_table(document: Document, tmp_path: Path) -> None:
    settings = Settings(chunking=Chunking(size=LIMIT, overlap=20, table_rows=True))
    with Index.create(tmp_path / "index", settings=settings) as index:
        index.add_documents([document])
        found, *others = index.search("chargeback fee for Business", k=5)
        answer = index.ask("What is the cross-border chargeback fee for Business?")
    assert found.chunk.text == LINES[20]
    assert found.chunk.preamble.startswith(CAPTION)
    assert all(line in found.passage.text for line in LINES)
    # The table is read once, however many of its rows were found.
    assert {hit.passage.id for hit in others}.isdisjoint({found.passage.id})
    built = build_prompt("What does it cost?", [found], settings)
    assert built.hits == (found,)
    assert all(line in built.prompt.user for line in LINES)
    assert answer.sentences[0].text.startswith("Business")
    assert "EUR 40" in answer.text
    assert answer.citations[0].quote == LINES[20]


def test_w4_a_table_too_large_for_the_prompt_gives_way_to_the_row(document: Document, tmp_path: Path) -> None:
    settings = Settings(
        chunking=Chunking(size=LIMIT, overlap=20, table_rows=True), generation=Generation(passage_tokens=200)
    )
    with Index.create(tmp_path / "index", settings=settings) as index:
        index.add_documents([document])
        (found,) = index.search("chargeback fee for Business", k=1)
    prompt = build_prompt("What does it cost?", [found], settings).prompt
    assert f"{found.chunk.preamble}\n{LINES[20]}" in prompt.user
    assert LINES[21] not in prompt.user
