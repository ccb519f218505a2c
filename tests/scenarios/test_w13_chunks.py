"""W13 in full: chunks with an overlap of 20 % and citations of the 40-page PDF that `test_w13_pages` draws.

What stands on which page is known from the drawing, not from the loader.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from citewell import Document, Index
from citewell.settings import Settings
from citewell.types import Chunk, ElementKind, FileState, PageState
from tests.scenarios.test_w13_pages import FIGURE_PAGE, FOOTNOTE_PAGE, TABLE_PAGE, Manual, draw_manual, label_of

SETTINGS = Settings(loading={"ocr": "off"}, chunking={"size": 240, "overlap": 48})
RULE = (27, "4.3.4", "Rule 4.3.4 asks the officer on duty to write down what the customer said")


@pytest.fixture(scope="module")
def manual() -> Manual:
    return draw_manual()


@pytest.fixture(scope="module")
def folder(manual: Manual, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the PDF and an index of it."""
    folder = tmp_path_factory.mktemp("w13")
    (folder / "manual.pdf").write_bytes(manual.data)
    with Index.create(folder / "index", settings=SETTINGS) as index:
        (report,) = index.add(folder / "manual.pdf").files
    assert report.state is FileState.PARTLY
    assert report.pages == {PageState.TEXT: 39, PageState.NEEDS_OCR: 1}
    return folder


@pytest.fixture
def index(folder: Path) -> Iterator[Index]:
    with Index.open(folder / "index", settings=SETTINGS) as index:
        yield index


def document_of(index: Index) -> Document:
    (document,) = index.documents()
    shown = index.show(document.source)
    assert isinstance(shown, Document)
    return shown


def chunks_of(index: Index) -> tuple[Chunk, ...]:
    return index.chunks(document_of(index).id)


def test_every_chunk_is_its_span_and_they_overlap_by_a_fifth_at_most(index: Index) -> None:
    document, chunks = document_of(index), chunks_of(index)
    assert all(chunk.text == document.text[chunk.start : chunk.end] for chunk in chunks)
    overlaps = [before.end - after.start for before, after in pairwise(chunks) if after.start < before.end]
    assert len(overlaps) >= 10
    # Signs, not tokens: an English one has four to six.
    assert max(overlaps) <= 48 * 7
    covered = {at for chunk in chunks for at in range(chunk.start, chunk.end)}
    assert all(at in covered for at, sign in enumerate(document.text) if not sign.isspace())


def test_every_chunk_names_the_pages_that_its_paragraphs_were_drawn_on(index: Index, manual: Manual) -> None:
    document = document_of(index)
    drawn = [(page, document.text.index(text), len(text)) for page, _, text in manual.paragraphs]
    spanning: set[int] = set()
    for chunk in chunks_of(index):
        assert all(label == label_of(number) for number, label in chunk.pages)
        numbers = [number for number, _ in chunk.pages]
        assert numbers == sorted(set(numbers))
        assert FIGURE_PAGE not in numbers
        touched = {page for page, begin, size in drawn if begin < chunk.end and chunk.start < begin + size}
        assert touched <= set(numbers)
        if chunk.kind is ElementKind.PARAGRAPH:
            # A heading or footnote at the chunk's end may be all that it has of a page.
            assert touched >= set(numbers[1:-1])
        spanning.update(numbers if len(numbers) > 1 else ())
    assert len(spanning) >= 20


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("The page called preface belongs to the front matter.", 2),
        ("Second | 02:00 | One", TABLE_PAGE),
        ("1 Hours are those of the clock in the hall.", FOOTNOTE_PAGE),
    ],
)
def test_what_is_no_paragraph_has_its_page_too(index: Index, text: str, page: int) -> None:
    holding = [chunk for chunk in chunks_of(index) if text in chunk.text]
    assert holding
    assert all((page, label_of(page)) in chunk.pages for chunk in holding)


def test_a_citation_names_the_page_by_label_and_opens_it_by_number(index: Index, manual: Manual) -> None:
    number, rule, begin = RULE
    assert any(page == number and text.startswith(begin) for page, _, text in manual.paragraphs)
    citation = index.ask(f"What does Rule {rule} ask of the officer on duty?").citations[0]
    document = document_of(index)
    assert citation.quote == document.text[citation.start : citation.end]
    assert citation.quote.startswith(begin)
    assert (citation.page_number, citation.page) == (number, label_of(number))
    assert citation.link.endswith(f"manual.pdf#page={number}")
    assert citation.heading_path == ("4 Duties of watch 4", "4.3 What is done at hour 3")


def test_a_second_ingest_changes_nothing_and_a_new_index_gives_the_same(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "index", tmp_path / "copy")
    with Index.open(tmp_path / "copy", settings=SETTINGS) as index:
        before = chunks_of(index)
        report = index.add(folder / "manual.pdf")
        assert report.embedded == 0
        assert chunks_of(index) == before
    with Index.create(tmp_path / "new", settings=SETTINGS) as index:
        index.add(folder / "manual.pdf")
        assert chunks_of(index) == before
