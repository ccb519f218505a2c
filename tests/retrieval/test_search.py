"""The lists of a search: both legs, and what holds a code that is named."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from citewell.index import Index
from citewell.loading.given import from_text
from citewell.settings import Retrieval, Settings

TEXTS = {
    "r17": "R-17: the payment looks like fraud.",
    "r71": "R-71: the card has expired, and a new one is sent to the customer by post.",
    "declines": "Which decline code means what, and what the customer is told of it, is in the list of decline codes.",
    "codes": "A decline code is what the terminal shows where a payment is declined, with its meaning in words.",
    "soup": "The canteen serves soup on Mondays.",
}


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with Index.create(tmp_path_factory.mktemp("search") / "index") as index:
        index.add_documents([from_text(text, source=f"https://bank.example/{name}.md") for name, text in TEXTS.items()])
        yield index.location


def found(at: str, query: str, retrieval: Retrieval | None = None) -> dict[str, dict[str, int]]:
    """The lists of each document found, best first."""
    with Index.open(at, settings=Settings(retrieval=retrieval or Retrieval())) as index:
        hits = index.search(query, k=10)
    return {hit.chunk.source.rsplit("/", 1)[1].removesuffix(".md"): dict(hit.lists) for hit in hits}


@pytest.mark.parametrize(
    "query", ["What does the decline code R-17 mean?", "meaning of decline code r17", "Code (R 17)?"]
)
def test_what_holds_the_code_that_is_named_comes_first(at: str, query: str) -> None:
    lists = found(at, query)
    assert next(iter(lists)) == "r17"
    assert {name for name, ranks in lists.items() if "code" in ranks} <= {"r17"}


def test_each_of_several_codes_counts_the_same(at: str) -> None:
    lists = found(at, "Which is worse for a payment, R-17 or R-71?")
    assert {name for name, ranks in lists.items() if "code" in ranks} == {"r17", "r71"}
    assert set(list(lists)[:2]) == {"r17", "r71"}


@pytest.mark.parametrize("query", ["What does a decline code mean?", "What does decline code R-99 mean?", "at 9 am"])
def test_no_code_no_list(at: str, query: str) -> None:
    assert all("code" not in ranks for ranks in found(at, query).values())


def test_a_leg_alone_has_no_list_of_codes(at: str) -> None:
    by_words = Retrieval(legs=("keyword",), rerank=False)
    assert {tuple(ranks) for ranks in found(at, "decline code R-17", by_words).values()} == {("keyword",)}
