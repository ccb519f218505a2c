"""Whether two embedders make the same vectors: told by the vectors of fixed texts, never by a name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from citewell.errors import FingerprintMismatch
from citewell.models.embedder import Embedder, ModelIdentity

# Short, so that the check costs milliseconds. Questions and passages both: a changed prefix shows in one of them.
PASSAGES = ("The invoice of 14 March is due within thirty days.", "Naïve Bayes; déjà vu; 東京 (R-17).")
QUERIES = ("How long may a customer wait before a claim lapses?",)
# The same int8 model differs between processors by less than .01 in cosine; another revision by far more.
SAME_SPACE = 0.98


def canaries(embedder: Embedder) -> tuple[tuple[float, ...], ...]:
    """Vectors of the fixed texts, for the manifest."""
    vectors = np.concatenate([embedder.embed_passages(PASSAGES), embedder.embed_queries(QUERIES)])
    return tuple(tuple(round(float(value), 6) for value in row) for row in vectors)


def require_same_space(embedder: Embedder, recorded: Sequence[Sequence[float]], maker: ModelIdentity) -> None:
    """Check an embedder against the canaries that an index recorded.

    Raises:
        FingerprintMismatch: the widths differ, or the cosine of some canary is below `SAME_SPACE`.
    """
    mine, theirs = np.array(canaries(embedder)), np.array(recorded)
    if mine.shape == theirs.shape and float((mine * theirs).sum(axis=1).min()) >= SAME_SPACE:
        return
    now = embedder.identity
    raise FingerprintMismatch(
        f"The index was made with {maker.name} (revision {maker.revision}); {now.name} (revision {now.revision}) makes "
        "other vectors, so its results would be meaningless.",
        remedy=f"Set embedder = {maker.name!r} under [models], or build a new index with the new model.",
    )
