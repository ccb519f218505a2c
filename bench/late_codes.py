"""Codes for token vectors, each by what is read back of it: rotated numbers of few bits, and ColBERTv2's residuals.

rotated     `models.token_vectors`, which has 2 bits, with 1 and 3 too: a fixed rotation, then the levels that are best
            for normal numbers (Max 1960, table 1)
residuals   Santhanam et al. 2022, "ColBERTv2" (arXiv:2112.01488), section 3.3: the nearest of the collection's
            centroids, and of each number of the difference the bucket it lies in; buckets hold equally many, and count
            as their median
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from late_sets import Asked, Collection, Half, Places
from ranked import Near

from citewell.models.embedder import Vectors, unit_rows
from citewell.models.token_vectors import _rotation, interaction

BLOCK = 1 << 14
"""Vectors that are taken at once."""
LEVELS = {
    1: (0.7980,),
    2: (0.4528, 1.510),
    3: (0.2451, 0.7560, 1.344, 2.152),
}
KEPT = {1: 0.6366, 2: 0.8825, 3: 0.96546}
"""The share of a cosine that is left: 1 less the mean squared error of Max's table."""
ROUNDS = 4
TRAINED_ON = 16
"""Vectors a centroid that k-means sees: ColBERTv2 takes a sample too."""
MOST = 4_096
"""Centroids. A million tokens would have 16,384, which take half an hour of a core to train and assign."""
PLACE_BYTES = 2
"""Of a centroid's number."""
SAMPLE = 20_000


class Code(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def token_bytes(self) -> int: ...

    def read_back(self, vectors: Vectors, begin: int) -> Vectors:
        """What is left of some vectors; `begin` is where in the collection the first one stands."""
        ...


@dataclass(frozen=True, slots=True)
class Whole:
    """The numbers in half precision."""

    width: int
    name: str = "16-bit"

    @property
    def token_bytes(self) -> int:
        return 2 * self.width

    def read_back(self, vectors: Vectors, begin: int) -> Vectors:  # noqa: ARG002 - the protocol's
        return vectors


@dataclass(frozen=True, slots=True)
class Rotated:
    bits: int
    width: int

    @property
    def name(self) -> str:
        return f"{self.bits}-bit rotated"

    @property
    def token_bytes(self) -> int:
        return -(-self.width * self.bits // 8)

    def read_back(self, vectors: Vectors, begin: int) -> Vectors:  # noqa: ARG002 - the protocol's
        above = np.array(LEVELS[self.bits], np.float32)
        levels = np.concatenate([-above[::-1], above])
        rotated = vectors @ _rotation(self.width) * np.sqrt(self.width, dtype=np.float32)
        nearest = np.searchsorted((levels[1:] + levels[:-1]) / 2, rotated)
        found: Vectors = levels[nearest] @ _rotation(self.width).T
        found /= np.float32(np.sqrt(self.width) * KEPT[self.bits])
        return found


@dataclass(frozen=True, eq=False)
class Centroids:
    """Of a collection's token vectors, rows of length 1; `nearest` is each vector's, by its number."""

    vectors: Vectors
    nearest: Places

    @classmethod
    def of(cls, tokens: Half) -> Centroids:
        """As many as ColBERTv2 has: the power of two below 16 times the square root of the vectors; at most `MOST`."""
        import faiss

        number = min(MOST, 1 << int(np.log2(16 * np.sqrt(len(tokens)))))
        width = tokens.shape[1]
        rng = np.random.default_rng(0)
        some = np.sort(rng.choice(len(tokens), min(len(tokens), TRAINED_ON * number), replace=False))
        trained = faiss.Kmeans(
            width,
            number,
            niter=ROUNDS,
            spherical=True,
            seed=0,
            min_points_per_centroid=1,
            max_points_per_centroid=BLOCK,
        )
        trained.train(tokens[some].astype(np.float32))
        vectors = unit_rows(np.asarray(trained.centroids))
        return cls(vectors, np.concatenate([(block @ vectors.T).argmax(axis=1) for _, block in blocks(tokens)]))


@dataclass(frozen=True, eq=False)
class Residuals:
    bits: int
    centroids: Centroids
    borders: Vectors
    levels: Vectors

    @classmethod
    def of(cls, bits: int, centroids: Centroids, tokens: Half) -> Residuals:
        some = np.random.default_rng(1).choice(len(tokens), min(len(tokens), SAMPLE), replace=False)
        residuals = tokens[some].astype(np.float32) - centroids.vectors[centroids.nearest[some]]
        buckets = 1 << bits
        borders = np.quantile(residuals, np.arange(1, buckets) / buckets).astype(np.float32)
        levels = np.quantile(residuals, (np.arange(buckets) + 0.5) / buckets).astype(np.float32)
        return cls(bits, centroids, borders, levels)

    @property
    def name(self) -> str:
        return f"{self.bits}-bit residuals"

    @property
    def token_bytes(self) -> int:
        width: int = self.centroids.vectors.shape[1]
        return -(-width * self.bits // 8) + PLACE_BYTES

    def read_back(self, vectors: Vectors, begin: int) -> Vectors:
        nearest = self.centroids.vectors[self.centroids.nearest[begin : begin + len(vectors)]]
        return unit_rows(nearest + self.levels[np.searchsorted(self.borders, vectors - nearest)])


def blocks(tokens: Half) -> Iterator[tuple[int, Vectors]]:
    """The vectors in parts, each with where it begins."""
    for begin in range(0, len(tokens), BLOCK):
        yield begin, tokens[begin : begin + BLOCK].astype(np.float32)


def read_back(code: Code, tokens: Half) -> tuple[Half, float]:
    """What a code leaves of all vectors, in half precision, and the mean cosine to what they were."""
    left = np.empty_like(tokens)
    cosines = 0.0
    for begin, block in blocks(tokens):
        found = code.read_back(block, begin)
        left[begin : begin + len(block)] = found
        cosines += float((np.einsum("ij,ij->i", found, block) / np.linalg.norm(found, axis=1)).sum())
    return left, cosines / len(tokens)


def nearness(found: Collection, tokens: Half) -> Near:
    """MaxSim over these vectors instead of those that are stored."""

    def near(asked: Asked, ids: Sequence[str]) -> Sequence[float]:
        places = [found.place[id_] for id_ in ids]
        cosines = tokens[found.rows_of(places)].astype(np.float32) @ asked.tokens.T
        return list(interaction(cosines, [int(found.lengths[at]) for at in places]))

    return near
