"""The first candidates scored again, each with the query: one more list, which is joined with those of the legs.

It is joined and not put in their place because it is not always right: a code that the keyword leg finds stays found.
docs/reranking.md says what each way gains.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from citewell.models.embedder import Embedder, QueryTokens, TokenEmbedder, Vectors, token_embedder
from citewell.models.reranker import Reranker
from citewell.models.token_vectors import maxsim
from citewell.retrieval.analyser import STOP_WORDS
from citewell.security.planted import NAME_CHARS, unplanted
from citewell.settings import Retrieval, Untrusted
from citewell.stores.store import Reader, Scope
from citewell.types import Chunk

DIGITS = 5


class Rerank(Protocol):
    """Scores candidates of one search."""

    @property
    def name(self) -> str:
        """Of its list in `Hit.lists`."""
        ...

    def __call__(self, query: str, entry_of: Mapping[str, str], store: Reader, scope: Scope) -> dict[str, float]:
        """Scores by chunk id, higher is better, of the chunks that could be scored.

        `entry_of` names for each chunk, best first, the entry that brought it in.
        """
        ...


@dataclass(frozen=True, slots=True)
class MaxSim:
    """By the vectors of the tokens, which are stored with each entry; see `models.token_vectors`."""

    embedder: TokenEmbedder
    name: str = "maxsim"

    def __call__(self, query: str, entry_of: Mapping[str, str], store: Reader, scope: Scope) -> dict[str, float]:
        packed = store.token_vectors(list(entry_of.values()), scope)
        scored = [chunk_id for chunk_id, entry_id in entry_of.items() if entry_id in packed]
        if not scored:
            return {}
        tokens = telling(self.embedder.embed_query_tokens(query))
        scores = maxsim(tokens, [packed[entry_of[chunk_id]] for chunk_id in scored])
        # Equal passages tie, whatever a sum's last digit owes to those beside them.
        return {chunk_id: round(float(score), DIGITS) for chunk_id, score in zip(scored, scores, strict=True)}


def telling(query: QueryTokens) -> Vectors:
    """Without the words that only ask, but where there are no others: they are near to something in every passage."""
    kept = [place for place, word in enumerate(query.words) if word.casefold() not in STOP_WORDS]
    vectors: Vectors = query.vectors[kept] if kept else query.vectors
    return vectors


@dataclass(frozen=True, slots=True)
class Reading:
    """By a model that reads each passage together with the query, in `budget_s` seconds.

    Whether it is one that takes orders is not known here. So what seems to be planted in an untrusted passage is kept
    from it, unless `untrusted` is "plain": a rank has no use for it, and a mark would mislead a model that ranks.
    """

    reranker: Reranker
    budget_s: float
    untrusted: Untrusted = "cut"

    @property
    def name(self) -> str:
        return self.reranker.name

    def __call__(self, query: str, entry_of: Mapping[str, str], store: Reader, scope: Scope) -> dict[str, float]:
        until = time.monotonic() + self.budget_s
        chunks = store.chunks(list(entry_of), scope)
        ids = [chunk_id for chunk_id in entry_of if chunk_id in chunks]
        scores = self.reranker.scores(query, [self._text(chunks[chunk_id]) for chunk_id in ids], until)
        return {chunk_id: float(score) for chunk_id, score in zip(ids, scores, strict=True) if not np.isnan(score)}

    def _text(self, chunk: Chunk) -> str:
        """What the model reads: where the passage stands, what it needs above it, and itself."""
        texts = [chunk.title[:NAME_CHARS], chunk.section[:NAME_CHARS], chunk.preamble, chunk.text]
        if self.untrusted != "plain":
            texts = [unplanted(text, chunk.trust) for text in texts]
        return "\n".join(filter(None, texts))


def rerank_by(
    reranker: Reranker | None, embedder: Embedder, settings: Retrieval, untrusted: Untrusted = "cut"
) -> Rerank | None:
    """The re-ranker of the settings: `reranker`, or else MaxSim, where the embedder gives vectors of tokens; None where
    there is none, or it is off."""
    if not settings.rerank:
        return None
    if reranker is not None:
        return Reading(reranker, settings.rerank_budget_s, untrusted)
    of_tokens = token_embedder(embedder)
    return MaxSim(of_tokens) if of_tokens is not None else None
