"""The lists of a search: both legs, and what holds a code that is named."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from citewell.errors import FingerprintMismatch
from citewell.index import Index
from citewell.loading.given import from_text
from citewell.models.encoding import Encoders
from citewell.models.fingerprint import canaries
from citewell.retrieval.analyser import ANALYSER_VERSION
from citewell.settings import Retrieval, Settings
from citewell.stores.folder import FolderHome
from citewell.stores.store import MadeWith, Scope
from citewell.types import Scale
from tests.remembering_embedder import remembering
from tests.scripted_sparse import scripted_sparse

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


@pytest.mark.parametrize("fusion", ["convex", "rrf", "distribution"])
def test_a_leg_alone_keeps_its_own_scores(at: str, fusion: Any) -> None:
    query = "What does the customer get sent by post?"
    by_meaning = Retrieval(legs=("dense",), rerank=False, fusion=fusion)
    with Index.open(at, settings=Settings(retrieval=by_meaning)) as index:
        hits = index.search(query, k=10)
    assert {hit.scale for hit in hits} == {Scale.COSINE}
    assert [hit.score for hit in hits] == [hit.cosine for hit in hits]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    by_words = Retrieval(legs=("keyword",), rerank=False, fusion=fusion)
    with Index.open(at, settings=Settings(retrieval=by_words)) as index:
        first = index.search(query, k=10)[0]
        (match, *_) = index._store.reader().keyword(["sent", "post", "customer"], 5, Scope(None))
    assert (first.scale, first.chunk.id) == (Scale.BM25, match.chunk_id)
    assert first.score > 1


def test_one_leg_ranked_by_itself(at: str) -> None:
    query = "What does decline code R-17 mean?"
    with Index.open(at) as index:
        joined = {hit.chunk.id: hit.lists for hit in index.search(query, k=10)}
        for leg in ("dense", "keyword"):
            alone = index.ranked(query, leg, 10)
            assert {tuple(hit.lists) for hit in alone} == {(leg,)}
            assert {hit.chunk.id: hit.rank for hit in alone} == {
                chunk: ranks[leg] for chunk, ranks in joined.items() if leg in ranks
            }


def test_a_leg_alone_has_no_list_of_codes(at: str) -> None:
    by_words = Retrieval(legs=("keyword",), rerank=False)
    assert {tuple(ranks) for ranks in found(at, "decline code R-17", by_words).values()} == {("keyword",)}


def test_a_passage_that_says_the_same_is_shown_once_with_the_better_one(tmp_path: Path) -> None:
    rule = "A customer of the bank may dispute a payment by card within 120 days of the day on which it was made"
    texts = {
        "one": f"{rule}.",
        "copy": f"{rule}!",
        "other": rule.replace("120", "90") + ".",
        "soup": "The canteen serves soup.",
    }
    with Index.create(tmp_path / "index") as index:
        index.add_documents([from_text(text, source=f"bank:{name}") for name, text in texts.items()])
    shown = {}
    for near in ("all", "first"):
        tree = Settings.model_validate({"retrieval": {"near_duplicates": near}})
        with Index.open(tmp_path / "index", settings=tree) as index:
            shown[near] = index.search("Within how many days can a card payment be disputed?", k=3)
    assert {hit.chunk.source for hit in shown["all"]} == {"bank:one", "bank:copy", "bank:other"}
    assert all(hit.alike == () for hit in shown["all"])
    first, alike = next((hit, hit.alike) for hit in shown["first"] if hit.alike)
    assert {first.chunk.source, *(chunk.source for chunk in alike)} == {"bank:one", "bank:copy"}
    assert {hit.chunk.source for hit in shown["first"]} == {first.chunk.source, "bank:other", "bank:soup"}
    assert [hit.rank for hit in shown["first"]] == [1, 2, 3]


def test_with_difference_wanted_a_passage_like_the_first_gives_way(tmp_path: Path) -> None:
    texts = {
        "a": "A lost credit card is blocked by telephone.",
        "b": "A lost credit card is blocked by telephone at once.",
        "c": "A stolen card must be reported to the police.",
    }
    with Index.create(tmp_path / "index") as index:
        index.add_documents([from_text(text, source=f"bank:{name}") for name, text in texts.items()])
    orders = {}
    for share in (0, 0.8):
        tree = Settings.model_validate({"retrieval": {"diversity": share}})
        with Index.open(tmp_path / "index", settings=tree) as index:
            hits = index.search("What if a credit card is lost?", k=3)
            orders[share] = [hit.chunk.source for hit in hits]
            assert [hit.rank for hit in hits] == [1, 2, 3]
    assert set(orders[0][:2]) == {"bank:a", "bank:b"}
    assert orders[0.8] == [orders[0][0], "bank:c", orders[0][1]]


def test_the_sparse_leg_finds_and_says_what_it_searched_for(tmp_path: Path) -> None:
    tree = Settings.model_validate(
        {"models": {"sparse": "onnx:scripted"}, "retrieval": {"legs": ["dense", "sparse"], "rerank": False}}
    )
    home = FolderHome(tmp_path / "index", tree.storage)
    encoders = Encoders(remembering(), scripted_sparse())
    made_with = MadeWith(remembering().identity, canaries(remembering()), ANALYSER_VERSION, "", "scripted")
    home.create(made_with)
    with Index(home, encoders, tree) as index:
        index.add_documents([from_text(text, source=f"bank:{name}") for name, text in TEXTS.items()])
        (first, *_) = index.search("Is soup on the menu?", k=5)
        (alone,) = index.ranked("soup", "sparse", 5)
        expanded = index.expanded("soup")
    assert (first.chunk.source, first.lists["sparse"]) == ("bank:soup", 1)
    assert (alone.chunk.source, alone.scale) == ("bank:soup", Scale.DOT_PRODUCT)
    assert [word for word, _ in expanded] == ["soup", "sou..."]
    assert expanded[0][1] == pytest.approx(math.log1p(2))
    without = Settings(retrieval=Retrieval(legs=("dense",)))
    with Index(FolderHome(tmp_path / "index", tree.storage), Encoders(remembering()), without) as index:
        assert index.search("soup")[0].chunk.source == "bank:soup", "reading without the leg needs no encoder"
        with pytest.raises(FingerprintMismatch, match="was made with the sparse encoder scripted"):
            index.add_documents([from_text("More soup.", source="bank:more")])
