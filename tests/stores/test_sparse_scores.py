"""Dot products of packed sparse vectors, against numpy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from citewell.models.sparse import PACKED, SparseVector
from citewell.stores.sparse_scores import dot_products, highest
from tests.stores.corpus import sparse

terms = st.integers(0, 9) | st.sampled_from([65_535, 65_536, 65_541, 131_077, 2**32 - 1])
vectors = st.dictionaries(terms, st.floats(2**-10, 64, width=16), max_size=8).map(sparse)


def scored(stored: list[SparseVector], query: SparseVector) -> list[float]:
    packed = [vector.pack() for vector in stored]
    ends = np.cumsum([len(one) // PACKED.itemsize for one in packed], dtype=np.int64)
    scores: list[float] = dot_products(np.frombuffer(b"".join(packed), PACKED), ends, query).tolist()
    return scores


@given(st.lists(vectors, max_size=9), vectors)
def test_products_are_those_of_numpy(stored: list[SparseVector], query: SparseVector) -> None:
    expected = []
    for vector in stored:
        _, left, right = np.intersect1d(vector.terms, query.terms, return_indices=True)
        expected.append(float(vector.weights[left].astype(float) @ query.weights[right].astype(float)))
    np.testing.assert_allclose(scored(stored, query), expected, rtol=1e-12)


def test_equal_vectors_have_equal_products_wherever_they_lie() -> None:
    random = np.random.default_rng(1)
    vector = sparse(dict(zip(range(300), random.random(300).astype(np.float16).tolist(), strict=True)))
    query = sparse(dict(zip(range(0, 300, 2), random.random(150).tolist(), strict=True)))
    others = [sparse({place: 0.5, place + 7: 0.25}) for place in range(40)]
    scores = scored([vector, *others, vector, sparse({}), vector], query)
    assert scores[0] == scores[41] == scores[43] > 0
    assert scores[42] == 0


def test_the_highest_are_those_above_nothing_with_all_that_tie_with_the_last() -> None:
    scores = np.array([0.0, 2.0, 1.0, 3.0, 1.0, 0.0])
    assert highest(scores, 1).tolist() == [3]
    assert highest(scores, 3).tolist() == [1, 2, 3, 4]
    assert highest(scores, 6).tolist() == highest(scores, 99).tolist() == [1, 2, 3, 4]
    assert highest(np.zeros(3), 2).tolist() == highest(np.empty(0), 2).tolist() == []
