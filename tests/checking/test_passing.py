"""Which passages may be answered from, why others may not, and what an abstention says of them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from citewell.checking.passing import (
    NO_CODE,
    NO_OWN_WORD,
    NOT_ABOUT,
    REASONS,
    UNDER_FLOOR,
    never_passed,
    none_passing,
    passing,
    reason_of,
)
from citewell.generation.answer import NO_PASSAGE
from citewell.types import Hit
from tests.generation.conftest import hit_of


def near(text: str, cosine: float) -> Hit:
    return replace(hit_of(text, document=text), cosine=cosine)


FERRY, CODE, HILL = near("The ferry leaves at nine.", 0.5), near("R-17 means fraud.", 0.2), near("Hills stand.", 0.1)


def test_each_hit_passes_or_is_kept_back_with_its_evidence() -> None:
    done = passing("When does the ferry leave?", [FERRY, HILL], 0.4)
    assert done.kept == (FERRY,)
    (back,) = done.back
    assert (back.hit, back.query, back.why) == (HILL, "When does the ferry leave?", UNDER_FLOOR)
    assert back.evidence == pytest.approx(0.1)


def test_without_a_floor_a_code_still_decides() -> None:
    assert passing("What does R-17 mean?", [CODE, HILL], None).kept == (CODE, HILL)
    back = passing("What does R-99 mean?", [CODE, HILL], None).back
    assert [(each.why, each.evidence) for each in back] == [(NO_CODE, -math.inf)] * 2


def test_a_follow_up_needs_a_word_of_its_own() -> None:
    asked = "When does the ferry leave? And for zeppelins?"
    assert [each.why for each in passing(asked, [FERRY], 0.4, "zeppelins").back] == [NO_OWN_WORD]
    assert passing(asked, [FERRY], 0.4, "ferries").kept == (FERRY,)
    assert [each.why for each in passing(asked, [FERRY], 0.4, "R-99").back] == [NO_CODE]


def test_a_passage_is_told_once_by_its_best_evidence_and_not_where_it_passed() -> None:
    first = passing("Hills?", [HILL, FERRY], 0.9).back
    second = passing("When do hills stand?", [HILL], 0.9).back
    told = never_passed([*first, *second], [FERRY])
    assert [(each.hit, each.evidence) for each in told] == [(HILL, max(each.evidence for each in (first[0], *second)))]
    ordered = never_passed(passing("Anything else?", [HILL, CODE, FERRY], 0.9).back, [])
    assert [each.hit for each in ordered] == [FERRY, CODE, HILL]


def test_the_reason_is_of_the_passage_that_came_furthest() -> None:
    under = passing("Hills?", [CODE], 0.9).back
    without_word = passing("The ferry leaves?", [FERRY], 0.4, "zeppelins").back
    assert reason_of(under) == REASONS[UNDER_FLOOR] == NO_PASSAGE
    assert reason_of([*under, *without_word]) == REASONS[NO_OWN_WORD]
    assert reason_of(none_passing("Hills?", [HILL]).back) == REASONS[NOT_ABOUT]
    assert reason_of([]) == NO_PASSAGE
