"""W1: a code is found by the keyword leg in every spelling, and its near neighbours stay below it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import pytest

from citewell.retrieval.analyser import analyse, analyse_query

POLICY = (
    "Decline codes: R-17 suspected fraud, card blocked.",
    "Decline codes: R-71 expired card.",
    "Section 17 R applies to refunds.",
    "Branches open 9 to 17.",
    "Customers may dispute within 120 days.",
)
# A chunk to find, then its near neighbours; next to each, what a reader may type for it.
SUITABLE = (
    (
        ("Evidence is listed in § 4.2(b) of the manual.", "Evidence is listed in § 4.2(c) of the manual."),
        ("§ 4.2(b)", "§4.2 (b)", "section 4.2 (b)", "Section 4.2(b)", "4.2(b)", "4.2b", "what does § 4.2(b) say?"),
    ),
    (
        (
            "The fee for a chargeback is €25 for debit cards.",
            "The fee for a chargeback is €250 for credit cards.",
            "The fee for a chargeback is $25 for travel cards.",
            "A chargeback is decided within 25 days.",
            "Fees are charged in EUR, and in euros only.",
        ),
        ("€25", "€ 25", "EUR 25", "eur 25", "25 euros", "25 €", "25.00 €", "25,00 EUR", "a fee of €25"),
    ),
    (
        ("The limit is $1,200.50 a day.", "The limit is $1,200 a day.", "The limit is €1,200.50 a day."),
        ("$1,200.50", "$1200.50", "1,200.50 USD", "1200.50 dollars", "1.200,50 $"),
    ),
    (
        ("Interest is 3.5% a year.", "Interest is 35% a year.", "Interest is paid on $3.50 and more."),
        ("3.5%", "3.5 %", "3,5 %", "3.50 percent", "3.5 per cent"),
    ),
    (
        (
            "The scorer is written in C++ by us.",
            "The scorer is written in C# by us.",
            "The scorer is written in C by us.",
        ),
        ("C++", "c++", "C++?", "is it written in C++"),
    ),
    (
        (
            "The scorer is written in C by us.",
            "The scorer is written in C++ by us.",
            "The scorer is written in C# by us.",
        ),
        ("C", "language C"),
    ),
    (
        (
            "Certified to ISO/IEC 27001:2022 in March.",
            "Certified to ISO 9001:2015 in March 2022.",
            "Certified by IEC in 2022 for 27 branches.",
        ),
        ("ISO/IEC 27001:2022", "iso/iec 27001:2022", "ISO 27001", "iso 27001", "ISO/IEC 27001", "ISO-27001"),
    ),
    (
        ("Ticket T-88231 was closed.", "Ticket T-88213 was closed.", "Ticket 88231 T was closed."),
        ("T-88231", "t-88231", "T88231", "T 88231", "ticket T – 88231"),
    ),
    (
        ("Fixed in v1.2.3 of the client.", "Fixed in v1.23 of the client.", "Fixed in v12.3 of the client."),
        ("v1.2.3", "V1.2.3", "version 1.2.3", "v 1.2.3"),
    ),
    (
        ("Order O-RING-9/B for the pump.", "Order O-RING-9/A for the pump.", "Order ring 9 for the B pump."),
        ("O-RING-9/B", "o-ring-9/b", "O-RING 9/B", "oring9b"),
    ),
    (
        ("It returns error_code_42 at once.", "It returns error_code_24 at once.", "Error: 42 calls have no code."),
        ("error_code_42", "ERROR_CODE_42", "error-code-42", "errorCode42"),
    ),
    (
        ("Write to dispute.desk@bank.example today.", "Write to claims.desk@bank.example today."),
        ("dispute.desk@bank.example", "Dispute.Desk@Bank.example", "dispute.desk"),
    ),
    (
        ("Valid from 2026-01-31 on.", "Valid from 2026-01-30 on.", "Valid from 2025-01-31 on."),
        ("2026-01-31", "2026‑01‑31"),
    ),
)


@pytest.mark.parametrize(
    "query",
    [
        "R-17",
        "r-17",
        "code R 17",
        "code r 17",
        "R17",
        "R – 17",
        "R\u00a017",
        "R\u201117",
        "(R-17)",
        "R-17?",
        "Ｒ－１７",
        "Can a customer dispute a payment declined with code R-17?",
        "can a customer dispute a payment declined with code r 17",
    ],
)
def test_the_chunk_with_the_code_is_first_and_its_neighbour_never_above_it(query: str) -> None:
    scores = bm25(POLICY, query)
    assert scores[0] > max(scores[1:])


@pytest.mark.parametrize(("chunks", "query"), [(chunks, query) for chunks, queries in SUITABLE for query in queries])
def test_every_spelling_finds_its_chunk_first(chunks: Sequence[str], query: str) -> None:
    everything = [*chunks, *POLICY, *(other for others, _ in SUITABLE for other in others if other not in chunks)]
    scores = bm25(everything, query)
    assert scores[0] > max(scores[1:])


@pytest.mark.parametrize("written", ["R-17", "R17", "R 17", "R – 17", "r-17", "R_17", "R/17", "R.17"])
def test_every_spelling_in_a_document_is_found_too(written: str) -> None:
    chunks = [f"Decline codes: {written} suspected fraud.", *POLICY[1:]]
    for query in ("R-17", "R17", "code r 17"):
        scores = bm25(chunks, query)
        assert scores[0] > max(scores[1:])


def bm25(chunks: Sequence[str], query: str, k1: float = 1.2, b: float = 0.75) -> list[float]:
    """Textbook BM25 (Robertson and Zaragoza 2009, with Lucene's IDF) of each chunk."""
    documents = [Counter(analyse(chunk)) for chunk in chunks]
    mean = sum(document.total() for document in documents) / len(documents)
    scores = [0.0] * len(documents)
    for token in analyse_query(query):
        frequency = sum(token in document for document in documents)
        idf = math.log(1 + (len(documents) - frequency + 0.5) / (frequency + 0.5))
        for number, document in enumerate(documents):
            saturation = document[token] + k1 * (1 - b + b * document.total() / mean)
            scores[number] += idf * document[token] * (k1 + 1) / saturation
    return scores
