"""The re-ranker protocol: how well each text answers a query, read together with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32]


class Reranker(Protocol):
    """Scores texts for a query. Safe to share between threads."""

    @property
    def name(self) -> str:
        """The name of its list in `Hit.lists`, and of its step in the trace: "cross-encoder", "hosted", "listwise"."""
        ...

    def scores(self, query: str, texts: Sequence[str], until: float | None = None) -> Scores:
        """A score for each text, shape (len(texts),), float32, higher is better, in the order given.

        Texts come best first. NaN for those that there was no time for before `until` (of `time.monotonic()`): they
        belong behind the others, in the order they had. Scores of two calls are not comparable.
        """
        ...
