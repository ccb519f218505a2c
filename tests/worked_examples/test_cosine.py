"""`cosine`: the scores and rankings of the embedded store's dense leg, and the question that nothing answers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from citewell.models.embedder import Vectors
from citewell.settings import Storage
from citewell.stores.lance import LanceStore
from citewell.stores.store import OWNER, Match
from tests.stores.corpus import commit, indexed, made_with


def unit(rows: list[list[float]]) -> Vectors:
    vectors = np.array(rows, dtype=np.float32)
    scaled: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled


def ranked(example: dict[str, Any], path: Path) -> list[Match]:
    store = LanceStore.create(path, made_with(len(example["query"])), Storage())
    names, about = list(example["chunks"]), list(example["chunks"].values())
    vectors = unit([each["vector"] for each in about])
    commit(store, [indexed(name, [name], vectors=vectors[place : place + 1]) for place, name in enumerate(names)])
    matches = store.reader().dense(unit([example["query"]])[0], len(names), OWNER)
    store.close()
    return matches


@pytest.mark.parametrize("case", [0, 1, 2])
def test_cosine(worked: dict[str, Any], tmp_path: Path, case: int) -> None:
    example = worked["cosine"][case]
    found = {match.chunk_id.partition("/")[0]: match.score for match in ranked(example, tmp_path)}
    assert list(found) == example["ranking"]
    for name, score in found.items():
        assert score == pytest.approx(example["chunks"][name]["cosine"], abs=6e-5)


def test_the_best_of_the_unanswered_question_is_below_the_answered_ones(worked: dict[str, Any], tmp_path: Path) -> None:
    answered = [ranked(worked["cosine"][case], tmp_path / str(case))[0].score for case in (0, 1)]
    unanswered = ranked(worked["cosine"][2], tmp_path / "2")[0].score
    assert unanswered < 0.4
    assert min(answered) > 0.9
