"""Token vectors in two bits a number, and MaxSim over them: late interaction that costs milliseconds a question.

MaxSim: Khattab and Zaharia 2020, "ColBERT" (arXiv:2004.12832), equation 3; the mean over the query's tokens instead of
the sum, so that scores of short and long queries have one scale, -1 to 1. What a token's vector is, is the embedder's
business (`TokenEmbedder`).

The code needs no training, unlike the residuals of ColBERTv2 (Santhanam et al. 2022, arXiv:2112.01488), which are
against centroids of the collection: a fixed random rotation makes the numbers of any unit vector nearly normal, and
each becomes the nearest of four levels that are best for a normal distribution (Max 1960; the rotation as in
TurboQuant, Zandieh et al. 2025, arXiv:2504.19874). A query is rotated, not rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from citewell.models.embedder import Embedded, Embedder, Vectors, token_embedder

CODEC = "rotated-2bit-1"
"""Changes with the code, and the format of indexes with it: what another one packed is never read."""

PER_BYTE = 4
_LEVELS = np.array([-1.5104, -0.4528, 0.4528, 1.5104], np.float32)
_KEPT = np.float32(0.8825)
"""The share of a cosine that rounding to these levels leaves on average (the variance of a rounded normal number)."""
_BORDERS = (_LEVELS[1:] + _LEVELS[:-1]) / 2
_OF_BYTE = _LEVELS[(np.arange(256)[:, None] >> np.array([0, 2, 4, 6])) & 3]


def codec_for(embedder: Embedder, *, keep: bool) -> str:
    """How the token vectors of what this embedder reads are packed; "" where it gives none, or none are to be kept."""
    return CODEC if keep and token_embedder(embedder) is not None else ""


def embed(embedder: Embedder, texts: Sequence[str], codec: str) -> list[Embedded]:
    """What an embedder makes of passages, with packed token vectors where `codec` asks for them."""
    of_tokens = token_embedder(embedder) if codec == CODEC else None
    if of_tokens is not None:
        vectors, tokens = of_tokens.embed_passage_tokens(texts)
        return [Embedded(vector, pack(each)) for vector, each in zip(vectors, tokens, strict=True)]
    return [Embedded(vector) for vector in embedder.embed_passages(texts)]


def pack(tokens: Vectors) -> bytes:
    """Token vectors, shape (tokens, width), rows of length 1, as `width / 4` bytes each, rounded up."""
    width = tokens.shape[1]
    rotated = tokens @ _rotation(width) * np.sqrt(width)
    codes = np.searchsorted(_BORDERS, rotated).astype(np.uint8)
    codes = np.pad(codes, ((0, 0), (0, -width % PER_BYTE))).reshape(len(codes), -1, PER_BYTE)
    packed: NDArray[np.uint8] = codes[..., 0] | codes[..., 1] << 2 | codes[..., 2] << 4 | codes[..., 3] << 6
    return packed.tobytes()


def row_bytes(width: int) -> int:
    """Of one packed vector."""
    return -(-width // PER_BYTE)


def maxsim(query: Vectors, passages: Sequence[bytes]) -> NDArray[np.float32]:
    """The mean over a query's tokens of the greatest cosine to any of a passage's, for each packed passage.

    `query` has shape (tokens, width), rows of length 1; none of the passages is empty.
    """
    width = query.shape[1]
    row = row_bytes(width)
    packed = np.frombuffer(b"".join(passages), np.uint8).reshape(-1, row)
    tokens = _OF_BYTE[packed].reshape(len(packed), -1)[:, :width]
    cosines = tokens @ (query @ _rotation(width)).T / (np.float32(np.sqrt(width)) * _KEPT)
    return interaction(cosines, [len(passage) // row for passage in passages])


def interaction(similarities: Vectors, lengths: Sequence[int]) -> NDArray[np.float32]:
    """The mean over a query's tokens of the greatest similarity to a passage's, for each of several passages.

    `similarities` has shape (tokens of all passages one after the other, tokens of the query); no length is 0.
    """
    starts = np.cumsum([0, *lengths[:-1]])
    scores: NDArray[np.float32] = np.maximum.reduceat(similarities, starts, axis=0).mean(axis=1)
    return scores


@lru_cache(maxsize=8)
def _rotation(width: int) -> Vectors:
    """An orthogonal matrix that is the same everywhere: the old generator's stream never changes, and a QR
    decomposition is unique once its diagonal is positive."""
    drawn = np.random.RandomState(width).standard_normal((width, width))
    q, r = np.linalg.qr(drawn)
    rotation: Vectors = (q * np.sign(np.diag(r))).astype(np.float32)
    return rotation
