"""What becomes of graded passages: kept, searched for once more, or thrown away."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.checking.corrective import IN_PART, Further, Thresholds, corrected
from citewell.checking.grading import Branch, Graded
from citewell.types import Hit
from tests.generation.conftest import CODES, FEES, RULES, TIME_LIMITS

LIMITS = Thresholds(upper=0.6, lower=0.4)
GRADES = st.floats(0, 1)


def by(grades: dict[str, float], *warnings: str) -> Callable[[Sequence[Hit]], Graded]:
    return lambda hits: Graded(tuple(grades[hit.passage.id] for hit in hits), warnings)


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.passage.id for hit in hits]


def never() -> Further:
    raise AssertionError("searched again")


def grades_of(*values: float) -> dict[str, float]:
    return dict(zip(ids([TIME_LIMITS, CODES, FEES, RULES]), values, strict=False))


def test_correct_keeps_what_is_graded_well_best_first() -> None:
    found = corrected([TIME_LIMITS, CODES, FEES], LIMITS, by(grades_of(0.4, 0.9, 0.39)), [never])
    assert found.branch is Branch.CORRECT
    assert ids(found.hits) == ids([CODES, TIME_LIMITS])
    assert [hit.rank for hit in found.hits] == [1, 2]
    assert found.warnings == ()


def test_incorrect_keeps_nothing_and_searches_no_more() -> None:
    found = corrected([TIME_LIMITS, CODES], LIMITS, by(grades_of(0.3, 0.39)), [never])
    assert (found.branch, found.hits, found.warnings) == (Branch.INCORRECT, (), ())
    assert corrected([], LIMITS, by({}), [never]).branch is Branch.INCORRECT


def test_ambiguous_searches_once_more_and_says_so() -> None:
    searched: list[int] = []

    def again() -> Further:
        searched.append(1)
        return Further((FEES, CODES, RULES, FEES), ("of the source",))

    found = corrected([TIME_LIMITS, CODES], LIMITS, by(grades_of(0.5, 0.2, 0.55, 0.1)), [again])
    assert found.branch is Branch.AMBIGUOUS
    assert ids(found.hits) == ids([FEES, TIME_LIMITS])
    assert found.warnings == ("of the source", IN_PART)
    assert searched == [1]


def test_ambiguous_asks_source_after_source_until_one_answers() -> None:
    grades = by(grades_of(0.5, 0.55, 0.9, 0.95))
    sources = [lambda: Further((CODES,)), lambda: Further((CODES, FEES)), never]
    assert ids(corrected([TIME_LIMITS], LIMITS, grades, sources).hits) == ids([FEES, CODES, TIME_LIMITS])


def test_ambiguous_goes_on_with_what_it_has_where_nothing_more_is_found() -> None:
    found = corrected([TIME_LIMITS, CODES], LIMITS, by(grades_of(0.5, 0.2), "by rule"), [lambda: Further((CODES,))])
    assert ids(found.hits) == ids([TIME_LIMITS])
    assert found.warnings == ("by rule", IN_PART)


@given(
    first=st.lists(GRADES, max_size=2),
    second=st.lists(GRADES, min_size=2, max_size=2),
    limits=st.tuples(GRADES, GRADES),
)
def test_only_what_was_found_comes_out_and_all_of_it_is_graded(
    first: list[float], second: list[float], limits: tuple[float, float]
) -> None:
    given_hits, more = [TIME_LIMITS, CODES][: len(first)], [FEES, RULES]
    grades = dict(zip(ids([*given_hits, *more]), [*first, *second], strict=True))
    thresholds = Thresholds(upper=max(limits), lower=min(limits))
    found = corrected(given_hits, thresholds, by(grades), [lambda: Further(tuple(more))])
    kept = ids(found.hits)
    allowed = ids(given_hits) + (ids(more) if found.branch is Branch.AMBIGUOUS else [])
    assert set(kept) <= set(allowed)
    assert all(grades[each] >= thresholds.lower for each in kept)
    assert [grades[each] for each in kept] == sorted((grades[each] for each in kept), reverse=True)
    assert (found.branch is Branch.INCORRECT) == (not kept)


def test_thresholds_are_in_order() -> None:
    with pytest.raises(ValueError, match="below the lower"):
        Thresholds(upper=0.3, lower=0.4)
    with pytest.raises(ValueError, match="below the lower"):
        Thresholds(upper=float("nan"), lower=0.4)
