"""Evidence found in passages, and rankings of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from citewell.evaluation.placing import holds, judged
from citewell.evaluation.testset import Evidence, Question
from citewell.types import Chunk, ElementKind, Rights, Trust

CHUNK = Chunk(
    id="d@1#1",
    document_id="d",
    title="Policy",
    source="file:///srv/docs/manual/policy%202026.pdf",
    version="1",
    text="Fee | Amount\nCHARGEBACK | 25\u00a0EUR\nﬁnal decision",
    start=0,
    end=40,
    heading_path=("4 Disputes", "4.5 Fees", "Amounts > 100 EUR"),
    pages=(),
    kind=ElementKind.TABLE,
    rights=Rights(frozenset({"everyone"})),
    trust=Trust.APPROVED,
)


@pytest.mark.parametrize("document", ["policy 2026.pdf", "manual/policy 2026.pdf", "docs/manual/policy 2026.pdf"])
def test_a_document_is_named_by_the_end_of_its_path(document: str) -> None:
    assert holds(CHUNK, Evidence(document=document, quote="Amount"))


@pytest.mark.parametrize("document", ["2026.pdf", "policy.pdf", "olicy 2026.pdf"])
def test_another_document_is_not_it(document: str) -> None:
    assert not holds(CHUNK, Evidence(document=document, quote="Amount"))


@pytest.mark.parametrize("quote", ["chargeback 25 EUR", "Chargeback | 25 eur", "final\n decision"])
def test_a_quote_is_compared_without_bars_blanks_capitals_and_forms(quote: str) -> None:
    assert holds(CHUNK, Evidence(document="policy 2026.pdf", quote=quote))


def test_another_figure_is_another_quote() -> None:
    assert not holds(CHUNK, Evidence(document="policy 2026.pdf", quote="chargeback 26 EUR"))


@pytest.mark.parametrize(
    ("section", "is_in"),
    [
        ("4.5 Fees", True),
        ("4 Disputes > 4.5 Fees", True),
        ("4 disputes", True),
        ("4.5", False),
        ("Amounts > 100 EUR", True),
        ("4.5 Fees > 4 Disputes", False),
    ],
)
def test_a_section_is_a_heading_that_it_stands_under(section: str, is_in: bool) -> None:
    assert holds(CHUNK, Evidence(document="policy 2026.pdf", section=section)) == is_in


def test_a_quote_is_looked_for_also_where_the_section_has_been_renamed() -> None:
    assert holds(
        replace(CHUNK, heading_path=("5 Fees",)), Evidence(document="policy 2026.pdf", quote="25 EUR", section="4.5")
    )


def test_a_ranking_counts_each_evidence_once_and_a_repetition_not_at_all() -> None:
    items = [Evidence(document="d", quote=quote, grade=grade) for quote, grade in (("a", 1), ("b", 3), ("c", 1))]
    found = (frozenset[int](), frozenset({1}), frozenset({1}), frozenset({0, 1}), frozenset[int]())
    ranking, grades = judged(Question(question="?", evidence=tuple(items)), found)
    assert ranking == ["other-1", "evidence-1", "evidence-0", "other-5"]
    # Found together, the better one comes first: no ranking is better than such a passage at its head.
    assert judged(Question(question="?", evidence=tuple(items)), (frozenset({0, 1, 2}),))[0][0] == "evidence-1"
    assert grades == {"evidence-0": 1, "evidence-1": 3, "evidence-2": 1}
