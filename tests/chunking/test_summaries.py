"""Entries for documents and sections, made of headings and first sentences."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date

from citewell.models.embedder import TokenSpans
from citewell.types import ElementKind, Entry, EntryKind
from tests.chunking.conftest import Cut, Make, Part

HEADING, PARAGRAPH, TABLE = ElementKind.HEADING, ElementKind.PARAGRAPH, ElementKind.TABLE
PARTS: list[Part] = [
    (HEADING, "4 Fees", 1),
    (PARAGRAPH, "Fees are due at once. No fee is waived."),
    (HEADING, "4.1 Card", 2),
    (PARAGRAPH, "Cards cost ten euros. They last four years."),
    (HEADING, "4.2 Cash", 2),
    (TABLE, "Place | Fee\nBranch | none"),
    (HEADING, "5 Limits", 1),
    (PARAGRAPH, " ".join(f"Limit {number} is high." for number in range(20))),
]


def summaries(entries: tuple[Entry, ...]) -> list[Entry]:
    return [entry for entry in entries if entry.kind is EntryKind.SUMMARY]


def test_a_document_and_its_sections_are_told_by_headings_and_first_sentences(make: Make, cut: Cut) -> None:
    document = replace(make(PARTS), valid_to=date(2026, 12, 31))

    chunked = cut(document, summaries=True)

    whole, fees, limits = summaries(chunked.entries)
    assert whole.text == (
        "Manual\n4 Fees; 5 Limits; 4.1 Card; 4.2 Cash\n"
        "Fees are due at once. Cards cost ten euros. Place | Fee Limit 0 is high."
    )
    assert fees.text == "Manual › 4 Fees\n4.1 Card; 4.2 Cash\nFees are due at once. Cards cost ten euros. Place | Fee"
    assert limits.text == "Manual › 5 Limits\nLimit 0 is high. Limit 11 is high."
    assert [entry.id for entry in (whole, fees, limits)] == [
        "doc@1#0/summary-0",
        "doc@1#0/summary-1",
        "doc@1#3/summary-1",
    ]
    assert [entry.chunk_id for entry in (whole, fees, limits)] == [f"doc@1#{first}" for first in (0, 0, 3)]
    assert set(whole.derived_from) == {f"doc@1#{number}" for number in range(4)}
    assert set(fees.derived_from) == {f"doc@1#{number}" for number in range(3)}
    assert {entry.rights for entry in (whole, fees)} == {document.rights}


def test_what_has_one_chunk_needs_no_summary(make: Make, cut: Cut) -> None:
    assert summaries(cut(make(PARTS[:2]), summaries=True).entries) == []


def test_a_section_that_is_all_of_the_document_has_no_summary_of_its_own(make: Make, cut: Cut) -> None:
    (whole,) = summaries(cut(make(PARTS[:6], title="4 Fees"), summaries=True).entries)

    assert whole.text.startswith("4 Fees\n4.1 Card; 4.2 Cash\nFees are due at once.")


def test_a_summary_has_at_most_the_tokens_of_a_chunk(
    make: Make, cut: Cut, token_spans: Callable[[str], TokenSpans]
) -> None:
    parts: list[Part] = [
        part for number in range(60) for part in ((HEADING, f"{number} Topic"), (PARAGRAPH, f"Rule {number} holds."))
    ]

    (whole,) = summaries(cut(make(parts), size=100, summaries=True).entries)

    assert 80 <= len(token_spans(whole.text)) <= 100
    assert " Topic\nRule 0 holds. Rule 1 holds." in whole.text
