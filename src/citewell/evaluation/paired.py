"""Two runs of the same questions, pair by pair: how far they differ, and whether by more than chance.

A score over questions is a ratio of two sums, of what each question adds above the line and below it. For a mean each
adds 1 below; for a share of the refused questions, whether it was refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, log2
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from citewell.evaluation.metrics import CONFIDENCE, RESAMPLES, percentile_interval

LEVEL = 1 - CONFIDENCE
POWER = 0.8
PERMUTATIONS = 9_999
"""Drawn where there are more; all of them are tried where there are fewer."""

_CELLS = 4_000_000  # of a block of draws, so that 10,000 questions need no gigabyte
_EQUAL = 1e-9  # sums of the same terms in another order

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """What each question adds before (row 0) and after (row 1), `above` and `below` the line: float64, (2, questions).

    Neither row of `below` is all 0.
    """

    above: Array
    below: Array

    @classmethod
    def of_values(cls, before: Sequence[float], after: Sequence[float]) -> Pairs:
        """Of two means."""
        above = np.asarray([before, after], dtype=np.float64)
        return cls(above, np.ones_like(above))

    @property
    def questions(self) -> int:
        return len(self.above[0])

    @property
    def scores(self) -> tuple[float, float]:
        """Before and after."""
        before, after = self.above.sum(axis=1) / self.below.sum(axis=1)
        return float(before), float(after)

    @property
    def differ(self) -> NDArray[np.bool_]:
        """Which questions do not add the same before and after."""
        changed: NDArray[np.bool_] = (self.above[0] != self.above[1]) | (self.below[0] != self.below[1])
        return changed


def interval(pairs: Pairs, seed: int = 0) -> tuple[float, float]:
    """Of after less before: the percentile interval over `RESAMPLES` resamples of the questions (Efron 1979)."""
    drawn = list[Array]()
    for draws in resamples(pairs.questions, seed):
        before, after = (
            above[draws].sum(axis=1) / np.where((sums := below[draws].sum(axis=1)) > 0, sums, np.nan)
            for above, below in zip(pairs.above, pairs.below, strict=True)
        )
        drawn.append(after - before)
    differences = np.concatenate(drawn)
    return percentile_interval(differences[~np.isnan(differences)])


def resamples(questions: int, seed: int = 0) -> Iterator[NDArray[np.int64]]:
    """`RESAMPLES` resamples of so many questions in blocks: the numbers of the questions drawn, (draws, questions)."""
    rng = np.random.default_rng(seed)
    for rows in _blocks(RESAMPLES, questions):
        yield rng.integers(questions, size=(rows, questions))


def sign_flip(pairs: Pairs, seed: int = 0) -> float:
    """The two-sided p of a difference this large if before and after were dealt to each question by chance.

    Every way to swap them where 2 to the number of questions that differ is at most `PERMUTATIONS`; else that many
    drawn, and p = (1 + as large) / (1 + drawn), which is never 0 (Phipson and Smyth 2010).
    """
    changed = pairs.differ
    steps = np.stack([pairs.above[1] - pairs.above[0], pairs.below[1] - pairs.below[0]])[:, changed]
    number = steps.shape[1]
    if 2**number <= PERMUTATIONS:
        swaps = (np.arange(2**number)[:, None] >> np.arange(number)) & 1
        return float(np.mean(_as_large(pairs, swaps @ steps.T)))
    rng, count = np.random.default_rng(seed), 0
    for rows in _blocks(PERMUTATIONS, number):
        swaps = rng.integers(2, size=(rows, number), dtype=np.uint8)
        count += int(_as_large(pairs, swaps.astype(np.float64) @ steps.T).sum())
    return (1 + count) / (1 + PERMUTATIONS)


def least_p(pairs: Pairs) -> float:
    """The least that `sign_flip` can be, whatever the values: all swapped is as large as none."""
    return min(1.0, 2.0 ** (1 - int(pairs.differ.sum())))


def _as_large(pairs: Pairs, moved: Array) -> NDArray[np.bool_]:
    """Whether the difference is as large as the one seen, once `moved` (above, below) has changed sides."""
    before, after = pairs.scores
    (above, later_above), (below, later_below) = pairs.above.sum(axis=1), pairs.below.sum(axis=1)
    with np.errstate(invalid="ignore"):  # nothing below the line, which counts as large
        swapped = (later_above - moved[:, 0]) / (later_below - moved[:, 1])
        swapped -= (above + moved[:, 0]) / (below + moved[:, 1])
    smaller: NDArray[np.bool_] = np.abs(swapped) < abs(after - before) - _EQUAL
    return ~smaller


def holm(ps: Sequence[float]) -> list[float]:
    """Each p corrected for all of them being tested (Holm 1979): the chance of any false alarm stays what it was."""
    corrected, largest = [0.0] * len(ps), 0.0
    for done, at in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        largest = max(largest, min(1.0, (len(ps) - done) * ps[at]))
        corrected[at] = largest
    return corrected


def spread(pairs: Pairs) -> float:
    """The standard deviation of a question's part in the difference; of a ratio's, by its linear part."""
    if pairs.questions < 2:
        return 0.0
    scores = np.asarray(pairs.scores)[:, None]
    before, after = (pairs.above - scores * pairs.below) / pairs.below.mean(axis=1, keepdims=True)
    return float(np.std(after - before, ddof=1))


def questions_needed(deviation: float, size: float, tests: int = 1) -> int:
    """How many questions show a difference of `size` with a chance of `POWER`, at the level of the first of `tests`.

    The paired t test's n by its normal approximation with Guenther's (1981) term: ((z_a + z_b) s / d)² + z_a² / 2. A
    sign-flip test cannot reach a level p with fewer than 1 + log2(1 / p).
    """
    level = LEVEL / tests
    z_level, z_power = NormalDist().inv_cdf(1 - level / 2), NormalDist().inv_cdf(POWER)
    by_t = ((z_level + z_power) * deviation / size) ** 2 + z_level**2 / 2
    return ceil(max(by_t, 1 + log2(1 / level)))


def _blocks(rows: int, columns: int) -> Iterator[int]:
    """`rows` in parts that are small enough to be drawn at once."""
    size = max(1, _CELLS // max(columns, 1))
    for begin in range(0, rows, size):
        yield min(size, rows - begin)
