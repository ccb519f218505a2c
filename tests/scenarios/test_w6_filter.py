"""W6: a filter that leaves little. Of 20,000 chunks 300 may be read, spread at random; 12 of those answer the question,
and 3,000 that may not be read are nearer to it in every leg. The answers are found all the same; nothing else shows.

By default other engines than the embedded one have 2,000 chunks; `CITEWELL_W6=full` gives each 20,000 in all its forms.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from citewell import Index, Principal, Settings
from citewell.errors import CitewellError, UnknownId
from citewell.models.embedder import Vectors, unit_rows
from citewell.models.encoding import Encoders
from citewell.models.fingerprint import canaries
from citewell.retrieval.analyser import ANALYSER_VERSION, analyse_query
from citewell.settings import Storage
from citewell.shapes import ask_shape, search_shape
from citewell.stores.beside.engines import PACKAGES
from citewell.stores.home import Home
from citewell.stores.homes import home_at
from citewell.stores.store import OWNER, IndexedDocument, MadeWith, Scope
from tests.scripted_embedder import ScriptedEmbedder
from tests.stores import postgres_engine
from tests.stores.corpus import indexed

FULL = os.environ.get("CITEWELL_W6") == "full"
DIMENSIONS = 384
READABLE = 300
ANSWERS = 12
K = 10
QUESTION = "Which penalty follows a breached confidentiality covenant?"
LEGAL = Principal("counsel", frozenset({"legal"}))
FILLING = ("loan", "branch", "teller", "ledger", "coupon", "invoice", "deposit", "voucher", "clerk", "audit")
LEGS = (("dense",), ("keyword",), ("dense", "keyword"))


class ScriptedQuestion(ScriptedEmbedder):
    """The question's vector is the first axis; all other texts have drawn ones."""

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        vectors = self._vectors(texts)
        vectors[[text == QUESTION for text in texts]] = np.eye(1, DIMENSIONS, dtype=np.float32)
        return vectors


@dataclass(frozen=True, slots=True)
class Corpus:
    """`answers` and `readable` are ids of chunks; `nearer` counts what is nearer than the answers and not readable."""

    documents: list[IndexedDocument]
    answers: frozenset[str]
    readable: frozenset[str]
    nearer: int


@cache
def corpus(size: int) -> Corpus:
    """A document of ten chunks or one, each document of one cluster; every chunk has its name as its last word."""
    draws, nearer = np.random.default_rng(6), size * 3 // 20
    hidden = _documents("hidden", size - READABLE, nearer, draws, (0.62, 0.9), times=3, groups=("treasury", "board"))
    legal = _documents("legal", READABLE, ANSWERS, draws, (0.5, 0.6), times=1, groups=("legal",), each=1)
    documents = [*hidden, *legal]
    draws.shuffle(documents)
    return Corpus(
        documents,
        frozenset(f"legal-{n:04d}/0000" for n in range(ANSWERS)),
        frozenset(f"legal-{n:04d}/0000" for n in range(READABLE)),
        nearer,
    )


def _documents(
    name: str,
    count: int,
    telling: int,
    draws: np.random.Generator,
    near: tuple[float, float],
    *,
    times: int,
    groups: Sequence[str],
    each: int = 10,
) -> list[IndexedDocument]:
    """`count` chunks, the first `telling` with cosines between `near` to the question and its words `times` times."""
    centres = draws.standard_normal((60, DIMENSIONS))
    rows = centres[draws.integers(len(centres), size=count // each).repeat(each)]
    rows = rows + 0.6 * draws.standard_normal((count, DIMENSIONS))
    rows[:, 0] = 0
    cosines = np.concatenate([draws.uniform(*near, telling), draws.uniform(-0.3, 0.4, count - telling)])
    vectors = unit_rows(rows) * np.sqrt(1 - cosines[:, None] ** 2)
    vectors[:, 0] = cosines
    words = analyse_query(QUESTION)
    texts = []
    for place in range(count):
        filled = list(draws.choice(FILLING, 20 - 4 * times))
        asked = list(draws.permutation(words[:4] * times)) if place < telling else []
        texts.append(" ".join([*filled, *asked]))
    return [
        indexed(
            f"{name}-{start // each:04d}",
            texts[start : start + each],
            vectors=vectors[start : start + each].astype(np.float32),
            groups=(groups[start // each % len(groups)],),
        )
        for start in range(0, count, each)
    ]


@contextmanager
def filled(location: str | Path, storage: Storage, given: Corpus) -> Iterator[Home]:
    embedder = ScriptedQuestion("scripted", DIMENSIONS)
    home = home_at(location, storage)
    home.create(MadeWith(embedder.identity, canaries(embedder), ANALYSER_VERSION))
    with home.writing(), home.open(1).writing():
        for start in range(0, len(given.documents), 1_000):
            home.open(1).commit(given.documents[start : start + 1_000])
    yield home
    home.close()


def asking(home: Home, legs: tuple[str, ...]) -> Index:
    tree = Settings.model_validate({"retrieval": {"legs": legs, "keep": K, "candidates": 50, "floor": "off"}})
    return Index(home, Encoders(ScriptedQuestion("scripted", DIMENSIONS)), tree)


def only_the_answers_are_found(home: Home, given: Corpus, caplog: pytest.LogCaptureFixture) -> list[int]:
    """Returns how many of the answers were found, by `LEGS`."""
    found = []
    with caplog.at_level(logging.DEBUG):
        for legs in LEGS:
            index = asking(home, legs)
            hits = index.search(QUESTION, k=K, principal=LEGAL)
            found.append(len({hit.chunk.id for hit in hits} & given.answers))
            deep = index.search(QUESTION, k=1_000, principal=LEGAL)
            expected = given.readable if "dense" in legs else given.answers
            assert {hit.chunk.id for hit in deep} == expected
            answer = index.ask(QUESTION, principal=LEGAL)
            counted = {step.name: (step.count_in, step.count_out) for step in answer.trace}
            assert counted[legs[0]] in ((1, 50), (1, ANSWERS))
            for told in (repr(hits), repr(deep), repr(answer), json.dumps(ask_shape(answer))):
                assert "hidden" not in told
            assert "hidden" not in json.dumps(search_shape(QUESTION, hits))
    reader, scope = home.open(1).reader(), Scope(LEGAL.readable)
    every = [chunk.id for document in given.documents for chunk in document.chunks]
    hidden = [chunk for chunk in every if chunk not in given.readable][:500]
    assert reader.chunks(hidden, scope) == {}
    assert reader.vectors([f"{chunk}/e" for chunk in hidden], scope) == {}
    assert reader.counts(scope).entries == READABLE
    assert "hidden" not in caplog.text
    for error in refusals(asking(home, LEGS[0])):
        assert "hidden" not in str(error).replace("hidden-0001", "")
        assert "hidden" not in str(error.__context__)
    return found


def refusals(index: Index) -> Iterator[CitewellError]:
    for name in ("hidden-0001", "hidden-0001/0003"):
        with pytest.raises(UnknownId) as told:
            index.show(name, principal=LEGAL)
        yield told.value


def question() -> Vectors:
    vector: Vectors = np.eye(1, DIMENSIONS, dtype=np.float32)[0]
    return vector


def test_the_corpus_is_as_the_scenario_says(tmp_path: Path) -> None:
    """In each leg the answers come after all that is nearer, for the owner."""
    given = corpus(20_000)
    assert sum(len(document.chunks) for document in given.documents) == 20_000
    with filled(tmp_path / "index", Storage(), given) as home:
        reader = home.open(1).reader()
        near = reader.dense(question(), 3_100, OWNER)
        words = reader.keyword(analyse_query(QUESTION), 3_100, OWNER)
    for leg in (near, words):
        places = [place for place, match in enumerate(leg, start=1) if match.chunk_id in given.answers]
        assert (len(places), places[0], places[-1]) == (ANSWERS, given.nearer + 1, given.nearer + ANSWERS)


def lance(**storage: object) -> Callable[[Path], tuple[str | Path, Storage]]:
    return lambda path: (path / "index", Storage.model_validate(storage))


def postgres(**storage: object) -> Callable[[Path], tuple[str | Path, Storage]]:
    return lambda path: (
        postgres_engine.server().url(postgres_engine.schema_for(path)),
        Storage.model_validate(storage),
    )


PLACES = {
    "lance exact": lance(quantise="none"),
    **{f"lance {codes}": lance(exact_up_to=0, quantise=codes) for codes in ("none", "int8", "binary")},
    "postgres exact": postgres(quantise="none"),
    **{f"postgres {codes}": postgres(exact_up_to=0, quantise=codes) for codes in ("none", "int8", "binary")},
    **{
        f"{engine} {codes}": lance(vectors=engine, exact_up_to=0, quantise=codes)
        for engine, package in PACKAGES.items()
        if find_spec(package)
        for codes in (("none", "int8", "binary") if FULL or engine == "faiss" else ("binary",))
    },
}
IN_FULL = ("lance exact", "lance binary")


@pytest.mark.filterwarnings("ignore:Local mode is not recommended:UserWarning")  # Qdrant's, which is slow
@pytest.mark.parametrize("place", PLACES)
def test_ten_of_the_twelve_are_found(place: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    given = corpus(20_000 if FULL or place in IN_FULL else 2_000)
    location, storage = PLACES[place](tmp_path)
    with filled(location, storage, given) as home:
        assert only_the_answers_are_found(home, given, caplog) == [K, K, K]
