"""Cutting by meaning: between sentences whose vectors are far apart, by Kamradt's semantic chunking.

Source: G. Kamradt 2023, "5 Levels of Text Splitting", level 4. It cuts where the cosine distance of neighbouring
sentences is unusual for the text, above a percentile of all its distances; here also above their mean by a number of
standard deviations. A sentence is embedded alone, without its neighbours. Lists, tables and code count as one each.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from citewell.chunking.borders import units
from citewell.chunking.measured import Measured
from citewell.chunking.sections import Section
from citewell.models.embedder import Embedder
from citewell.settings import Chunking

Distances = NDArray[np.float64]

FEWEST_UNITS = 3
# Of a chunk: a smaller piece says too little by itself.
SMALLEST = 1 / 8
# Distances that differ by less are the same; a mean of equal numbers may be off by the last bit.
_NOISE = 1e-9


def cuts_by_meaning(
    measured: Measured, sections: Sequence[Section], embedder: Embedder, settings: Chunking
) -> dict[int, list[int]]:
    """The positions at which sections are cut, by where the section starts; what is between may still be too long."""
    text = measured.document.text
    edges = [[*units(text, section), section.end] for section in sections]
    # Of two distances none is unusual.
    edges = [places for places in edges if len(places) > FEWEST_UNITS]
    texts = [text[start:end].rstrip() for places in edges for start, end in pairwise(places)]
    if not texts:
        return {}
    vectors = embedder.embed_passages(texts)
    cuts, first = {}, 0
    for places in edges:
        own = vectors[first : first + len(places) - 1]
        distances = 1 - np.einsum("ij,ij->i", own[:-1], own[1:], dtype=np.float64)
        after = split_after(distances, settings.semantic_cut, percentile=settings.semantic_threshold == "percentile")
        cuts[places[0]] = _without_small(after, distances, places, measured)
        first += len(own)
    return cuts


def split_after(distances: Sequence[float] | Distances, cut: float, *, percentile: bool = False) -> list[int]:
    """The numbers, from 1, of the sentences after which to cut; `distances[i]` is between sentences i + 1 and i + 2.

    Cut is where the distance is greater than mean + `cut` * population standard deviation, or than the percentile.
    """
    found = np.asarray(distances, dtype=np.float64)
    if not found.size:
        return []
    bound = np.percentile(found, cut) if percentile else found.mean() + cut * found.std()
    return [int(place) + 1 for place in np.flatnonzero(found > bound + _NOISE)]


def _without_small(after: list[int], distances: Distances, places: list[int], measured: Measured) -> list[int]:
    """The positions of the cuts, less those around too small a piece: it goes to its nearer neighbour, if both fit."""
    kept = [0, *after, len(places) - 1]

    def count(low: int, high: int) -> int:
        return measured.ruler.count(places[kept[low]], places[kept[high]])

    at = 0
    while at < len(kept) - 1:
        sides = [side for side in (at, at + 1) if 0 < side < len(kept) - 1]
        sides = [side for side in sides if count(side - 1, side + 1) <= measured.limit - measured.place_room]
        if count(at, at + 1) >= measured.limit * SMALLEST or not sides:
            at += 1
            continue
        nearer = min(sides, key=lambda side: distances[kept[side] - 1])
        del kept[nearer]
        at = min(at, nearer - 1)
    return [places[unit] for unit in kept[1:-1]]
