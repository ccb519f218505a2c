from collections.abc import Callable

from citewell.chunking.prefix import prefix
from citewell.models.embedder import TokenSpans
from citewell.types import ElementKind, EntryKind, Rights
from tests.chunking.conftest import Cut, Make

HEADING, PARAGRAPH = ElementKind.HEADING, ElementKind.PARAGRAPH
LONG = " ".join(f"Sentence number {number} is about fees." for number in range(12))


def test_an_entry_is_the_chunk_below_the_place_where_it_stands(make: Make, cut: Cut) -> None:
    parts = [(HEADING, "4 Disputes", 1), (PARAGRAPH, "Intro."), (HEADING, "4.2 Time limits", 2), (PARAGRAPH, LONG)]
    document = make(parts, title="Fraud Policy Manual 2026")

    texts = [entry.text for entry in cut(document).entries]

    assert texts[0] == "Fraud Policy Manual 2026\n4 Disputes\n\nIntro."
    assert texts[1].startswith("Fraud Policy Manual 2026 › 4 Disputes\n4.2 Time limits\n\nSentence number 0")
    assert texts[2].startswith("Fraud Policy Manual 2026 › 4 Disputes › 4.2 Time limits\nSentence number ")


def test_a_title_that_is_the_first_heading_is_said_once(make: Make, cut: Cut) -> None:
    parts = [(HEADING, "Branch hours", 1), (PARAGRAPH, "All."), (HEADING, "North", 2), (PARAGRAPH, LONG)]
    document = make(parts, title="Branch  hours")

    texts = [entry.text for entry in cut(document).entries]

    assert texts[0] == "Branch hours\n\nAll."
    assert texts[1].startswith("Branch hours\nNorth\n\n")
    assert texts[2].startswith("Branch hours › North\nSentence")


def test_an_entry_carries_rights_and_source(make: Make, cut: Cut) -> None:
    document = make([(PARAGRAPH, LONG)])
    chunked = cut(document)

    assert len(chunked.entries) == len(chunked.chunks) == 2
    for entry, chunk in zip(chunked.entries, chunked.chunks, strict=True):
        assert (entry.id, entry.chunk_id, entry.document_id) == (f"{chunk.id}/chunk", chunk.id, "doc")
        assert (entry.kind, entry.derived_from) == (EntryKind.CHUNK, (chunk.id,))
        assert entry.rights == Rights(frozenset({"fraud_team"}))


def test_a_long_prefix_loses_its_middle_then_all_but_the_last_heading_then_the_end_of_that(
    token_spans: Callable[[str], TokenSpans],
) -> None:
    headings = ["Part one of the manual", "Chapter two of the part", "Section three of the chapter"]
    # 4 tokens, 5 a heading, 1 for each sign between.
    assert prefix("The manual 2026", headings, token_spans, 22) == (
        "The manual 2026 › Part one of the manual › Chapter two of the part › Section three of the chapter\n"
    )
    assert prefix("The manual 2026", headings, token_spans, 20) == (
        "The manual 2026 › Part one of the manual › … › Section three of the chapter\n"
    )
    assert prefix("The manual 2026", headings, token_spans, 15) == (
        "The manual 2026 › … › Section three of the chapter\n"
    )
    assert prefix("The manual 2026", headings, token_spans, 9) == "Section three of the chapter\n"
    assert prefix("The manual 2026", headings, token_spans, 3) == "Section three of\n"
    assert prefix("", [], token_spans, 48) == ""
    family = "👩\u200d" * 20
    assert prefix(family, [], token_spans, 4) == ""
    assert len(token_spans(prefix("q" * 5_000, [], token_spans, 12))) <= 12


def test_shortened_heading_paths_are_reported_once(make: Make, cut: Cut) -> None:
    deep = [(HEADING, f"Level {level} of the manual of fees", level) for level in range(1, 6)]
    sections = [[*deep, (HEADING, f"{number} Topic", 6), (PARAGRAPH, LONG)] for number in range(3)]
    document = make([part for section in sections for part in section])

    chunked = cut(document)

    assert chunked.warnings == (
        "3 heading paths were shortened to fit above the text; the longest: Manual › "
        + " › ".join(f"Level {level} of the manual of fees" for level in range(1, 6))
        + " › 0 Topic",
    )
    assert chunked.entries[1].text.startswith("Manual › Level 1 of the manual of fees › … › 0 Topic\nSentence")


def test_the_prefix_of_a_small_chunk_takes_a_quarter_at_most(
    make: Make, cut: Cut, token_spans: Callable[[str], TokenSpans]
) -> None:
    chunked = cut(make([(PARAGRAPH, LONG)], title="A very long title of a manual about fees and their limits"), size=16)

    assert {len(token_spans(entry.text.partition("\n")[0])) for entry in chunked.entries} == {4}
