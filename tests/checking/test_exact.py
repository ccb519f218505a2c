"""Facts of a claim that its source holds, or does not."""

from __future__ import annotations

import pytest

from citewell.checking.exact import facts_of, missing_figures, missing_words, source_of


def lacking(claim: str, *source: str) -> list[str]:
    facts, held = facts_of(claim), source_of(source)
    return [*map(str, missing_figures(facts, held)), *missing_words(facts, held)]


@pytest.mark.parametrize(
    ("claim", "source", "missing"),
    [
        ("It takes 120 days.", "within 120 days", []),
        ("It takes 120 hours.", "within 120 days", ["120 hour"]),
        ("It costs 25 €.", "the fee is EUR 25.00", []),
        ("It costs 25 €.", "the fee is 45", ["25 eur"]),
        ("It takes twelve days.", "within 12 days", []),
        ("It takes a day.", "within three days", []),
        ("Since 14 March 2026.", "from 2026-03-14", []),
        ("Since 14 March 2026.", "In 2026 it began on 14 March.", []),
        ("Since 14 March 2026.", "from 2026-03-15", ["2026-03-14"]),
        ("It shows R-17.", "code R 17", []),
        ("It shows R-17.", "code R17", []),
        ("It shows R-17.", "code R-18", ["R-17"]),
        ("See 4.2(b) of ISO 27001:2022.", "ISO 27001:2022, 4.2 (b)", []),
        ("It was Louise Brown.", "signed by L. Brown and Louise", []),
        ("It was Martha Green.", "signed by Louise Brown", ["Martha", "Green"]),
        ("It was Michael Sheen.", "Robert Michael Sheehan", ["Sheen"]),
        ("It is an American bank.", "a bank of America", []),
        ("The rule of the FTC holds.", "the Federal Trade Commission", []),
        ("Its blood pressure (BP) rises.", "blood pressure rises", []),
        ("Tech Support Scams: they call.", "they call", []),
        ("It is Berlin-based.", "based in Bonn", ["Berlin"]),
        ("Der Kunde zahlt die Gebühr und die Steuer.", "nichts", []),  # German writes every noun so
        ("Ask in May or on Monday.", "ask", []),
    ],
)
def test_missing(claim: str, source: str, missing: list[str]) -> None:
    assert lacking(claim, source) == missing


def test_a_footnote_is_no_digit_of_its_number() -> None:
    assert lacking("It takes 120 days.", "within 120² days") == []


def test_facts_may_stand_in_several_texts() -> None:
    assert lacking("R-17 lasts 20 minutes.", "code R-17", "20 minutes") == []
