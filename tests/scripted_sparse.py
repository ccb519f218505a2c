"""A sparse encoder that costs nothing: a term for each word, and one that it stands for, by its first letters."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np

from citewell.models.sparse import SparseVector
from citewell.retrieval.analyser import analyse

TERMS = 30_000


class ScriptedSparse:
    """A `SparseEncoder`: the more often a word comes, the heavier, and half of that for what begins like it."""

    identity = "scripted"

    def __init__(self) -> None:
        self.words_of: dict[int, str] = {}

    def encode_passages(self, texts: Sequence[str]) -> list[SparseVector]:
        return [self.encode_query(text) for text in texts]

    def encode_query(self, text: str) -> SparseVector:
        weights: Counter[int] = Counter()
        for word in analyse(text):
            for term, weight in ((word, 2), (f"{word[:3]}...", 1)):
                weights[self._term(term)] += weight
        terms = sorted(weights)
        return SparseVector(
            np.array(terms, np.uint32), np.log1p(np.array([weights[term] for term in terms], np.float32))
        )

    def words(self, terms: Sequence[int]) -> list[str]:
        return [self.words_of[term] for term in terms]

    def _term(self, word: str) -> int:
        term = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4]) % TERMS
        self.words_of[term] = word
        return term


@cache
def scripted_sparse() -> ScriptedSparse:
    """One for all tests of a process."""
    return ScriptedSparse()
