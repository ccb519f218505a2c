"""A re-ranker of one's own: a cross-encoder, which reads query and text together, on onnxruntime.

Nogueira and Cho 2019, "Passage Re-ranking with BERT" (arXiv:1901.04085). The model is a folder with `model.onnx` and
`tokenizer.json` of any sequence classifier with one class, as those trained on MS MARCO have, or two.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from citewell.models.onnx_network import MODEL, TOKENIZER
from citewell.models.reranker import Scores
from citewell.models.sequence_classifier import SequenceClassifier

RELEVANT = "relevant"
"""What a `config.json` may call the class of pairs that belong together; where it does not, it is the second of two."""


class CrossEncoder:
    """A `Reranker`. Loads its files at the first use; safe to share between threads after that.

    With one class, the score is its logit; with two, the logarithm of the odds for the relevant one. Of a pair that is
    too long, the text is cut; of a query, what fills half of what the network reads.

    Raises:
        SettingsError: at the first use: a file is missing or damaged, or the network is of another kind.
    """

    name = "cross-encoder"

    def __init__(self, folder: Path, threads: int = 0) -> None:
        self._threads = threads or os.cpu_count() or 1
        # One thread a pair and several pairs at once: see `OnnxNetwork`.
        self._network = SequenceClassifier(folder, "re-ranker's", (MODEL, TOKENIZER), "only_second", threads=1)

    def scores(self, query: str, texts: Sequence[str], until: float | None = None) -> Scores:
        """As `Reranker.scores`. One pair a call of the network, so that no score depends on the texts beside it."""
        self._network.load()
        encodings = self._network.encoded([(query, text) for text in texts])
        scores = np.full(len(texts), np.nan, dtype=np.float32)

        def fill(place: int) -> None:
            if until is None or time.monotonic() < until:
                scores[place] = self._score(self._network.logits(encodings[place]))

        # Where time may run out, the first ones first; else the longest, so that no thread is left alone with it.
        places = range(len(texts))
        order = places if until is not None else sorted(places, key=lambda place: -len(encodings[place].ids))
        with ThreadPoolExecutor(self._threads) as pool:
            list(pool.map(fill, order))
        return scores

    def _score(self, logits: NDArray[np.float64]) -> float:
        if len(logits) == 1:
            return float(logits[0])
        if len(logits) != 2:
            raise self._network.wrong(f"has a network of {len(logits)} classes; one or two can rank")
        relevant = 0 if self._network.labels.get(0, "").casefold() == RELEVANT else 1
        return float(logits[relevant] - logits[1 - relevant])
