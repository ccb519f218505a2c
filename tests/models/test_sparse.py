"""How sparse vectors are stored."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from citewell.models.sparse import PACKED, SparseVector

weights = st.floats(0, 100, exclude_min=True, width=32, allow_subnormal=False)


@given(st.dictionaries(st.integers(0, 2**32 - 1), weights, max_size=300))
def test_what_is_packed_comes_back_to_three_digits(weight_of: dict[int, float]) -> None:
    terms = sorted(weight_of)
    vector = SparseVector(np.array(terms, np.uint32), np.array([weight_of[term] for term in terms], np.float32))
    packed = vector.pack()
    back = SparseVector.unpack(packed)
    assert len(packed) == PACKED.itemsize * len(back.terms)
    assert (back.weights > 0).all()
    found = dict(zip(back.terms.tolist(), back.weights.tolist(), strict=True))
    for term, weight in weight_of.items():
        assert abs(found.get(term, 0.0) - weight) <= max(weight * 2**-11, 3e-8)
    assert back.pack() == packed


def test_nothing_is_nothing() -> None:
    empty = SparseVector(np.empty(0, np.uint32), np.empty(0, np.float32))
    assert empty.pack() == b""
    assert len(SparseVector.unpack(b"").terms) == 0
