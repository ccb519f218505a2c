"""The re-ranker's list, joined with those of the legs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from citewell import clock
from citewell.index import Index
from citewell.loading.given import from_text
from citewell.models.encoding import Encoders
from citewell.models.minilm import MiniLM
from citewell.models.reranker import Scores
from citewell.retrieval.query import Query
from citewell.retrieval.reranking import Reading, Rerank
from citewell.retrieval.search import search
from citewell.settings import Chunking, Models, Retrieval, Settings, Storage
from citewell.stores.store import Scope
from citewell.types import Hit, Principal, Rights, Scale, Trace
from tests.models.onnx_folders import classifier_in

TEXTS = {
    "disputes": "A customer may contest a charge on the card within 120 days of the booking.",
    "fees": "The yearly fee for the card is 40 euros, and none for customers below 26 years of age.",
    "loss": "Whoever loses the card blocks it by telephone at once, day and night.",
    "soup": "The canteen serves soup on Mondays and stew on Fridays.",
    "vault": "The vault of the bank opens at nine, and two people hold its keys.",
    "staff": "Members of staff pay half of the yearly fee for a card of their own.",
}
STAFF = Principal(groups=frozenset({"staff"}))
QUESTION = "Until when can a cardholder object to a payment?"


def made(path: Path, settings: Settings) -> Index:
    index = Index.create(path, settings=settings)
    documents = [from_text(text, source=f"https://bank.example/{name}.md") for name, text in TEXTS.items()]
    narrow = Rights(frozenset({"staff"}))
    index.add_documents([replace(one, rights=narrow) if "staff" in one.source else one for one in documents])
    return index


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with made(tmp_path_factory.mktemp("reranking") / "index", Settings()) as index:
        yield index


def with_settings(index: Index, retrieval: Retrieval) -> Index:
    return Index.open(index.location, settings=Settings(retrieval=retrieval))


def name_of(source: str) -> str:
    return source.removeprefix("https://bank.example/").removesuffix(".md")


def test_its_ranks_are_a_list_beside_those_of_the_legs(index: Index) -> None:
    hits = index.search(QUESTION, k=6)
    assert {name_of(hit.chunk.source) for hit in hits} == TEXTS.keys() - {"staff"}
    assert sorted(hit.lists["maxsim"] for hit in hits) == [1, 2, 3, 4, 5]
    assert {hit.scale for hit in hits} == {Scale.CONVEX}
    first = next(hit for hit in hits if hit.lists["maxsim"] == 1)
    assert name_of(first.chunk.source) == "disputes"


def test_it_reads_what_the_first_fusion_put_first(index: Index) -> None:
    with with_settings(index, Retrieval(rerank_candidates=2)) as two:
        hits = two.search(QUESTION, k=6)
        assert two.ask(QUESTION).searched == (QUESTION,)
        trace = {step.name: (step.count_in, step.count_out) for step in two.ask(QUESTION).trace}
    assert sorted(hit.lists["maxsim"] for hit in hits if "maxsim" in hit.lists) == [1, 2]
    assert len(hits) == 5
    assert trace["maxsim"] == (2, 2)


def test_it_may_be_off(index: Index) -> None:
    with with_settings(index, Retrieval(rerank=False)) as plain:
        assert all("maxsim" not in hit.lists for hit in plain.search(QUESTION, k=6))
        assert "maxsim" not in {step.name for step in plain.ask(QUESTION).trace}


def test_one_leg_and_the_re_ranker_are_joined(index: Index) -> None:
    with with_settings(index, Retrieval(legs=("dense",), fusion="rrf")) as dense:
        hits = dense.search(QUESTION, k=6)
    assert all(hit.lists.keys() == {"dense", "maxsim"} for hit in hits)
    assert {hit.scale for hit in hits} == {Scale.RRF}


def test_what_a_reader_may_not_read_takes_no_rank(index: Index) -> None:
    question = "What do members of staff pay?"
    assert all(name_of(hit.chunk.source) != "staff" for hit in index.search(question, k=6))
    staff = index.search(question, k=6, principal=STAFF)
    assert name_of(next(hit for hit in staff if hit.lists["maxsim"] == 1).chunk.source) == "staff"


def test_what_moves_comes_back_or_is_told_anew_keeps_its_token_vectors(tmp_path: Path) -> None:
    """Another version, other rights, another name, back again: nothing of it is embedded anew."""
    with Index.create(tmp_path / "index") as index:
        rate = from_text("The rate is two per cent.", source="https://bank.example/rate.md")
        index.add_documents([rate, from_text(TEXTS["soup"], source="https://bank.example/soup.md")])
        index.add_documents([replace(rate, rights=Rights(frozenset({"staff"})), title="Rates")])
        later = from_text("The rate is three per cent.", source="https://bank.example/rate.md")
        index.add_documents([replace(later, valid_from=clock.today() + timedelta(days=9))])
        index.delete("https://bank.example/soup.md")
        index.rollback("https://bank.example/soup.md")
        for day in (None, clock.today() + timedelta(days=10)):
            hits = index.search("What is the rate?", k=5, principal=STAFF, as_of=day)
            assert sorted(hit.lists["maxsim"] for hit in hits) == [1, 2]
            assert hits[0].chunk.text.startswith("The rate is")


def test_a_cross_encoder_reads_what_the_asker_may_read(index: Index, tmp_path: Path) -> None:
    """One that knows two words, and likes the first of them alone."""
    folder = classifier_in(tmp_path / "ce", {"telephone": (9.0,), "canteen": (-9.0,)})
    settings = Settings(models=Models(reranker=f"onnx:{folder}"), retrieval=Retrieval(rerank_candidates=50))
    with Index.open(index.location, settings=settings) as reading:
        hits = reading.search(QUESTION, k=6)
    ranks = {name_of(hit.chunk.source): hit.lists["cross-encoder"] for hit in hits}
    assert (len(ranks), ranks["loss"], ranks["soup"]) == (5, 1, 5)
    assert "maxsim" not in {name for hit in hits for name in hit.lists}


class ScriptedReranker:
    """Scores by length, but for every second text no time is left. Keeps what it was shown."""

    name = "scripted"

    def __init__(self) -> None:
        self.shown: list[list[str]] = []

    def scores(self, _query: str, texts: Sequence[str], until: float | None = None) -> Scores:
        assert until is not None
        self.shown.append(list(texts))
        values = [float(len(text)) if place % 2 == 0 else np.nan for place, text in enumerate(texts)]
        return np.array(values, dtype=np.float32)


def searched(index: Index, query: str, k: int, rerank: Rerank, settings: Retrieval) -> tuple[Hit, ...]:
    scope = Scope(Principal().readable, clock.today())
    given = {"store": index._store.reader(), "encoders": Encoders(MiniLM()), "settings": settings, "trace": Trace()}
    return search(Query(query), k, scope, rerank=rerank, **given)  # type: ignore[arg-type]  # of the test


def test_what_there_was_no_time_for_counts_by_its_legs(index: Index) -> None:
    scripted = ScriptedReranker()
    hits = searched(index, QUESTION, 6, Reading(scripted, 5), Retrieval())
    assert len(hits) == 5
    assert [len(texts) for texts in scripted.shown] == [5]
    assert sorted(hit.lists["scripted"] for hit in hits if "scripted" in hit.lists) == [1, 2, 3]
    assert not any("staff" in text for texts in scripted.shown for text in texts), "which everyone may not read"


def test_a_re_ranker_is_asked_once_however_deep_the_legs_search(tmp_path: Path) -> None:
    """Two hundred small chunks lie in a few passages: there are not two among the first candidates."""
    text = "# Fees\n\n" + "\n\n".join(f"The fee for card number {number} is {number} euros." for number in range(200))
    settings = Settings(chunking=Chunking(size=16, overlap=0, parents=4_000), retrieval=Retrieval(candidates=20))
    with Index.create(tmp_path / "index", settings=settings) as index:
        index.add_documents([from_text(text, source="https://bank.example/fees.md")])
        index.add_documents([from_text("Soup is served on Mondays.", source="https://bank.example/soup.md")])
        scripted = ScriptedReranker()
        hits = searched(index, "What is the fee for card number 7?", 2, Reading(scripted, 5), settings.retrieval)
    assert len(hits) == 2
    assert len(scripted.shown) == 1


def test_words_that_only_ask_are_left_out(index: Index) -> None:
    asked, bare = (index.search(query, k=6) for query in ("What is the soup of the canteen?", "soup canteen"))
    assert asked[0].lists["maxsim"] == bare[0].lists["maxsim"] == 1
    assert index.search("what is it", k=6)[0].lists["maxsim"], "of nothing else, they are what is asked for"


@pytest.mark.parametrize("change", [{"storage": Storage(token_vectors=False)}, {"models": Models(dimensions=128)}])
def test_without_token_vectors_nothing_is_re_ranked(tmp_path: Path, change: dict[str, Storage | Models]) -> None:
    """None are kept, or the embedder gives none."""
    with made(tmp_path / "index", Settings.model_validate(change)) as bare:
        hits = bare.search(QUESTION, k=6)
        assert len(hits) == 5
        assert all(hit.lists.keys() <= {"dense", "keyword"} for hit in hits)
