"""What is done with passages once they are graded: kept, searched for once more, or thrown away.

The three branches of corrective RAG (Yan et al. 2024, arXiv:2401.15884). Its refinement into strips is
`generation.compression`; before its search of the web comes a second search of the documents here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from citewell.checking.grading import Branch, Graded, branch
from citewell.types import Hit

NOT_ANSWERED = "the passages found do not answer this"
"""The reason of an answer that abstains because none is graded high enough."""

IN_PART = "The passages found answer this only in part; see the sources."


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Above `upper` a passage answers the question; below `lower` it does not. Both on the scale of the grades.

    Raises:
        ValueError: `upper` is below `lower`.
    """

    upper: float
    lower: float

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise ValueError(f"the upper threshold {self.upper} is below the lower one {self.lower}")


@dataclass(frozen=True, slots=True)
class Further:
    """What one more source gave, and what the answer is to warn of."""

    hits: tuple[Hit, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Corrected:
    """The hits to answer from, best grade first and ranked anew, and what the answer is to warn of.

    `branch` is that of the first search. There are no hits where it is incorrect.
    """

    branch: Branch
    hits: tuple[Hit, ...]
    warnings: tuple[str, ...] = ()


def corrected(
    hits: Sequence[Hit],
    thresholds: Thresholds,
    grade: Callable[[Sequence[Hit]], Graded],
    sources: Sequence[Callable[[], Further]],
) -> Corrected:
    """The hits that are graded `lower` or higher; where they answer in part alone, with those of further sources.

    These are asked in turn, until a passage is graded above `upper`. Whoever asks them keeps to the reader's rights:
    only hits of `hits` and of the sources come out.

    Raises:
        ServiceError: the language model that grades could not be reached.
    """
    graded = grade(hits)
    found = branch(graded.grades, thresholds.upper, thresholds.lower)
    if found is not Branch.AMBIGUOUS:
        kept = () if found is Branch.INCORRECT else _best(hits, graded.grades, thresholds.lower)
        return Corrected(found, kept, graded.warnings)
    every, grades, warnings = list(hits), list(graded.grades), list(graded.warnings)
    for source in sources:
        known = {hit.passage.id for hit in every}
        further = source()
        new = list({hit.passage.id: hit for hit in further.hits if hit.passage.id not in known}.values())
        more = grade(new) if new else Graded(())
        every += new
        grades += more.grades
        warnings += (*further.warnings, *more.warnings)
        if branch(grades, thresholds.upper, thresholds.lower) is Branch.CORRECT:
            break
    return Corrected(found, _best(every, grades, thresholds.lower), tuple(dict.fromkeys((*warnings, IN_PART))))


def _best(hits: Sequence[Hit], grades: Sequence[float], least: float) -> tuple[Hit, ...]:
    """Hits of one grade stay in their order."""
    order = sorted(zip(grades, hits, strict=True), key=lambda each: -each[0])
    kept = (hit for grade, hit in order if grade >= least)
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(kept, start=1))
