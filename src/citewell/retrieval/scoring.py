"""Texts that need not be of an index, scored for a query as its passages are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from citewell.models.embedder import Embedder, TokenEmbedder, token_embedder
from citewell.models.reranker import Reranker, Scores
from citewell.models.token_vectors import maxsim, pack
from citewell.retrieval.reranking import telling


def scores_of(query: str, texts: Sequence[str], embedder: Embedder, reranker: Reranker | None) -> Scores:
    """A score for each text, shape (len(texts),), float32, finite, higher is better, in the order given.

    By `reranker`; where it is None by MaxSim (see `models.token_vectors`), and of an embedder without vectors of tokens
    by the cosine: both lie between -1 and 1. An embedder reads the beginning of a long text. What cannot be scored
    ranks with the last.
    """
    of_tokens = token_embedder(embedder)
    if reranker is not None:
        scores = reranker.scores(query, texts)
    elif of_tokens is not None:
        scores = _by_tokens(query, texts, of_tokens)
    else:
        scores = embedder.embed_passages(texts) @ embedder.embed_queries([query])[0]
    known = scores[~np.isnan(scores)]
    return np.where(np.isnan(scores), known.min() if len(known) else 0, scores).astype(np.float32)


def _by_tokens(query: str, texts: Sequence[str], embedder: TokenEmbedder) -> Scores:
    """As the index scores what it stores; NaN for a text that has no token to compare."""
    packed = [pack(tokens) for tokens in embedder.embed_passage_tokens(texts)[1]]
    places = [place for place, each in enumerate(packed) if each]
    scores = np.full(len(texts), np.nan, dtype=np.float32)
    if places:
        tokens = telling(embedder.embed_query_tokens(query))
        scores[places] = maxsim(tokens, [packed[place] for place in places])
    return scores
