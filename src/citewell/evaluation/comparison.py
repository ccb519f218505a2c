"""The same questions in two runs or more: each measure before and after, who got better and worse, and what it costs.

Three families of tests, each with its own correction, over all settings compared: the headline measures, which make
the verdict; the other measures; and the headline measures of each kind, tag and group of readers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np

from citewell.errors import UsageError
from citewell.evaluation.answers import REFUSED
from citewell.evaluation.measures import Measured
from citewell.evaluation.metrics import percentile_interval
from citewell.evaluation.paired import Pairs, resamples
from citewell.evaluation.summary import ALL, sliced
from citewell.evaluation.testset import Question
from citewell.evaluation.verdicts import WORTH, Difference, Pairing, Verdict, differences, overall, reason, reservations

HEADLINE = ("correct", "faithfulness", "recall@5", "nDCG@10", "MRR@10", "refusal recall", "refusal precision")
"""The measures that a verdict is made of."""

MEDIAN, MEAN = "median", "mean"
COSTS = {"seconds": MEDIAN, "tokens": MEAN, "cost_usd": MEAN}
"""What a question costs, less being better, and how it is averaged."""

_OF_MANY = ("refusal recall", "refusal precision")  # what one question has no value of

Both = tuple[Measured, Measured]
"""One question before and after."""


@dataclass(frozen=True, slots=True)
class Change:
    """A question that scored otherwise: its headline measures before and after, of those that it has in both."""

    question: Question
    values: dict[str, tuple[float, float]]

    @property
    def gain(self) -> float:
        """The mean of the differences."""
        return sum(after - before for before, after in self.values.values()) / len(self.values)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a question costs on average (seconds, tokens, dollars) before and after.

    `ratio` is after over before with its 95 % interval over resamples of the questions, None where before is 0.
    """

    name: str
    average: str
    before: float
    after: float
    ratio: tuple[float, float, float] | None
    questions: int


@dataclass(frozen=True, slots=True)
class Compared:
    """A change: what it did to the measures, to each slice, to each question and to the costs.

    `changes` begins with the question that gained most. `unpaired` counts the questions that only one run has,
    `not_compared` names the measures that no question has in both.
    """

    questions: int
    unpaired: int
    headline: tuple[Difference, ...]
    others: tuple[Difference, ...]
    slices: tuple[Difference, ...]
    changes: tuple[Change, ...]
    costs: tuple[Cost, ...]
    not_compared: tuple[str, ...]
    worth: float

    @property
    def verdict(self) -> Verdict:
        return overall(self.headline)

    @property
    def reason(self) -> str:
        """Why, and the parts of the test set for which it is otherwise."""
        return f"{reason(self.headline, self.worth)} {reservations(self.verdict, self.slices)}".strip()

    @property
    def better(self) -> tuple[Change, ...]:
        """The questions that gained, most first."""
        return tuple(change for change in self.changes if change.gain > 0)

    @property
    def worse(self) -> tuple[Change, ...]:
        """The questions that lost, most first."""
        return tuple(sorted((change for change in self.changes if change.gain < 0), key=lambda change: change.gain))


def compare(before: Sequence[Measured], after: Sequence[Measured], *, worth: float = WORTH) -> Compared:
    """Two runs, question by question. `worth` is the smallest difference of a measure that is worth having.

    Raises:
        UsageError: no question has a headline measure in both.
    """
    return compare_all(before, [after], worth=worth)[0]


def compare_all(
    before: Sequence[Measured], afters: Sequence[Sequence[Measured]], *, worth: float = WORTH
) -> tuple[Compared, ...]:
    """Several runs, each with the first. All are tested together: of many, one would seem better by chance.

    Raises:
        UsageError: as `compare`.
    """
    paired = [_paired(before, after) for after in afters]
    headline = _families([_pairings(ALL, both, HEADLINE) for both in paired], worth)
    others = _families([_pairings(ALL, both, _others(both)) for both in paired], worth)
    slices = _families([_of_slices(both) for both in paired], worth)
    if not all(headline):
        raise UsageError(
            "No question has a measure to compare in both runs.",
            remedy="Give questions with evidence or expected answers; docs/testsets.md has an example.",
        )
    return tuple(
        Compared(
            questions=len(both),
            unpaired=len({one.question.id for one in (*before, *after)}) - len(both),
            headline=of_all,
            others=of_rest,
            slices=of_slices,
            changes=_changes(both),
            costs=tuple(filter(None, (_cost(name, both) for name in COSTS))),
            not_compared=_missing(both, (*of_all, *of_rest)),
            worth=worth,
        )
        for after, both, of_all, of_rest, of_slices in zip(afters, paired, headline, others, slices, strict=True)
    )


def as_shape(compared: Compared) -> dict[str, Any]:
    """A comparison as JSON has it; docs/compare.md says what the keys mean."""
    return {
        "verdict": compared.verdict,
        "reason": compared.reason,
        "questions": compared.questions,
        "unpaired": compared.unpaired,
        "worth": compared.worth,
        "headline": [_difference_shape(each) for each in compared.headline],
        "others": [_difference_shape(each) for each in compared.others],
        "slices": [_difference_shape(each) for each in compared.slices],
        "not_compared": list(compared.not_compared),
        "changes": [
            {
                "id": each.question.id,
                "question": each.question.question,
                "gain": each.gain,
                "values": {name: {"before": old, "after": new} for name, (old, new) in each.values.items()},
            }
            for each in compared.changes
        ],
        "costs": [asdict(each) for each in compared.costs],
    }


def _difference_shape(of: Difference) -> dict[str, Any]:
    return {**asdict(of), "difference": of.difference, "is_beyond_chance": of.is_beyond_chance}


def _paired(before: Sequence[Measured], after: Sequence[Measured]) -> list[Both]:
    later = {one.question.id: one for one in after}
    return [(one, later[one.question.id]) for one in before if one.question.id in later]


def _families(settings: Sequence[Sequence[Pairing]], worth: float) -> list[tuple[Difference, ...]]:
    """All settings' pairings tested together, and dealt out again."""
    tested = iter(differences([pairing for each in settings for pairing in each], worth))
    return [tuple(islice(tested, len(each))) for each in settings]


def _names(both: Sequence[Both]) -> list[str]:
    """The measures that some question has, or should have, in either run."""
    return list(dict.fromkeys(name for pair in both for one in pair for name in (*one.values, *one.failed)))


def _others(both: Sequence[Both]) -> list[str]:
    return [name for name in _names(both) if name not in {*HEADLINE, *COSTS, REFUSED}]


def _missing(both: Sequence[Both], compared: Sequence[Difference]) -> tuple[str, ...]:
    found, runs = {each.measure for each in compared}, [one for pair in both for one in pair if _has(REFUSED, one)]
    of_many = {
        "refusal recall": any(not one.question.answerable for one in runs),
        "refusal precision": any(one.values[REFUSED] for one in runs),
    }
    wanted = [name for name in _names(both) if name not in {*COSTS, REFUSED}]
    wanted += [name for name, applies in of_many.items() if applies]
    return tuple(name for name in wanted if name not in found)


def _of_slices(both: Sequence[Both]) -> list[Pairing]:
    later = {before.question.id: (before, after) for before, after in both}
    parts = sliced([before for before, _ in both])
    return [
        pairing
        for name, some in parts.items()
        if name != ALL
        for pairing in _pairings(name, [later[one.question.id] for one in some], HEADLINE)
    ]


def _pairings(part: str, both: Sequence[Both], names: Iterable[str]) -> list[Pairing]:
    made = (_refusal(name, part, both) if name in _OF_MANY else _pairing(name, part, both) for name in names)
    return [pairing for pairing in made if pairing is not None]


def _pairing(name: str, part: str, both: Sequence[Both]) -> Pairing | None:
    """Of the questions that have a value in both; None where there are none."""
    values = _in_both(name, both)
    if not values:
        return None
    failed = sum(name in before.failed or name in after.failed for before, after in both)
    judged = sum(_has(name, one) for pair in both for one in pair if not any(name in each.failed for each in pair))
    return Pairing(name, part, Pairs.of_values(*zip(*values, strict=True)), failed, judged - 2 * len(values))


def _in_both(name: str, both: Sequence[Both]) -> list[tuple[float, float]]:
    return [(pair[0].values[name], pair[1].values[name]) for pair in both if all(_has(name, one) for one in pair)]


def _has(name: str, one: Measured) -> bool:
    return name in one.values


def _refusal(name: str, part: str, both: Sequence[Both]) -> Pairing | None:
    """Recall is a mean over the questions without an answer, precision a ratio: what is refused changes, too."""
    asked = [pair for pair in both if all(_has(REFUSED, one) for one in pair)]
    refused = np.asarray(_in_both(REFUSED, both), dtype=np.float64).reshape(-1, 2).T
    unanswerable = np.asarray([not before.question.answerable for before, _ in asked], dtype=bool)
    if name == "refusal recall":
        above, below = refused[:, unanswerable], np.ones_like(refused)[:, unanswerable]
    else:
        some = refused.any(axis=0)
        above, below = (refused * unanswerable)[:, some], refused[:, some]
    if not below.any(axis=1).all():
        return None
    in_one = sum(_has(REFUSED, before) != _has(REFUSED, after) for before, after in both)
    return Pairing(name, part, Pairs(above, below), in_one=in_one)


def _changes(both: Sequence[Both]) -> tuple[Change, ...]:
    changes = [
        Change(pair[0].question, {name: _in_both(name, [pair])[0] for name in HEADLINE if _in_both(name, [pair])})
        for pair in both
    ]
    changed = [one for one in changes if any(before != after for before, after in one.values.values())]
    return tuple(sorted(changed, key=lambda change: -change.gain))


def _cost(name: str, both: Sequence[Both]) -> Cost | None:
    values = np.asarray(_in_both(name, both), dtype=np.float64).reshape(-1, 2).T
    number = values.shape[1]
    if not number:
        return None
    average = np.median if COSTS[name] == MEDIAN else np.mean
    before, after = average(values, axis=1)
    if not before:
        return Cost(name, COSTS[name], float(before), float(after), None, number)
    drawn = [[average(each[draws], axis=1) for each in values] for draws in resamples(number)]
    first, second = np.concatenate(drawn, axis=1)
    low, high = percentile_interval(second[first > 0] / first[first > 0])
    return Cost(name, COSTS[name], float(before), float(after), (float(after / before), low, high), number)
