"""Dot products of many packed sparse vectors with that of a query."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from citewell.models.sparse import SparseVector


def dot_products(rows: NDArray[np.void], ends: NDArray[np.int64], query: SparseVector) -> NDArray[np.float64]:
    """One for each vector. `rows` are the terms and weights of all of them, one vector after the other, shape (n,) of
    dtype `PACKED` without gaps; `ends`, shape (vectors,), says where in it each of them ends.

    Sums in double precision, in the order of terms: equal vectors have equal products, wherever they lie.
    """
    # Few terms are the query's. The lower half of a term tells nearly all others apart, by a table that stays small
    # however large the vocabulary is.
    asked = np.zeros(1 << 16, np.bool_)
    asked[query.terms & 0xFFFF] = True
    places = np.flatnonzero(asked[rows.view("<u2")[::3]])
    terms = rows["term"][places]
    at = np.searchsorted(query.terms, terms)
    at[at == len(query.terms)] = 0
    same = query.terms[at] == terms
    places, at = places[same], at[same]
    products = rows["weight"][places].astype(np.float64) * query.weights[at]
    owners = np.searchsorted(ends, places, side="right")
    return np.asarray(np.bincount(owners, weights=products, minlength=len(ends)), np.float64)


def highest(scores: NDArray[np.float64], k: int) -> NDArray[np.intp]:
    """The places of the k highest scores above 0, and of all that tie with the last of them."""
    least = np.partition(scores, -k)[-k] if k < len(scores) else 0.0
    return np.flatnonzero((scores >= least) & (scores > 0))
