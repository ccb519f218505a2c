"""BM25 as the embedded store really scores it: 229 texts of one length, of which 120, 40 and 2 hold a word."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from citewell.settings import Storage
from citewell.stores.lance import LanceStore
from citewell.stores.store import OWNER, IndexedDocument
from tests.stores.corpus import commit, indexed, made_with

LENGTH = 40
Score = Callable[[str, str], float]


def padded(name: str, words: list[str], length: int = LENGTH) -> IndexedDocument:
    fillers = [f"{name}-filler-{place}" for place in range(length - len(words))]
    return indexed(name, [" ".join(words + fillers)])


@pytest.fixture(scope="module")
def score(worked: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Score]:
    """The score of a word in a document. Each word stands once in a text, `often` 1, 2, 5 or 10 times."""
    example = worked["bm25"]
    texts: list[list[str]] = [[] for _ in range(example["N"])]
    for word, about in example["idf"].items():
        for text in texts[: about["n"]]:
            text.append(word.lower())
    for text, times in zip(texts, example["tf_weight_at_average_length"], strict=False):
        text += ["often"] * int(times)
    store = LanceStore.create(tmp_path_factory.mktemp("bm25"), made_with(), Storage())
    commit(store, [padded(f"d{number}", words) for number, words in enumerate(texts)])
    reader = store.reader()

    def score_of(word: str, document: str) -> float:
        matches = {match.chunk_id: match.score for match in reader.keyword([word], example["N"], OWNER)}
        return matches[f"{document}/0000"]

    yield score_of
    store.close()


def test_idf_is_the_examples(worked: dict[str, Any], score: Score) -> None:
    # At the average length a word that stands once has the weight 1, so its score is its IDF.
    example = worked["bm25"]
    assert example["tf_weight_at_average_length"]["1"] == 1.0
    for word, about in example["idf"].items():
        assert score(word.lower(), "d0") == pytest.approx(about["idf"], abs=5e-5)


def test_weights_of_repetition_are_the_examples(worked: dict[str, Any], score: Score) -> None:
    weights = worked["bm25"]["tf_weight_at_average_length"]
    once = score("often", "d0")
    for number, (times, weight) in enumerate(weights.items()):
        assert score("often", f"d{number}") / once == pytest.approx(weight, abs=5e-5), times


def test_repetition_never_weighs_more_than_the_limit(worked: dict[str, Any], tmp_path: Path) -> None:
    limit = worked["bm25"]["tf_weight_limit"]
    store = LanceStore.create(tmp_path, made_with(), Storage())
    length = 5_000
    commit(store, [padded("once", ["word"], length), padded("always", ["word"] * length, length)])
    always, once = store.reader().keyword(["word"], 2, OWNER)
    assert always.chunk_id == "always/0000"
    assert limit - 0.001 < always.score / once.score < limit
    store.close()
