"""How far a judge agrees with people: Spearman's correlation with ratings, or balanced accuracy on known labels."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from citewell.checking.judge import Failure, Judge, Judgement
from citewell.evaluation.judging.rated import Rated
from citewell.evaluation.metrics import RESAMPLES, Estimate, percentile_interval

SPEARMAN, ACCURACY = "Spearman", "balanced accuracy"
UNMEASURED = "nobody has measured how far it agrees with people; `citewell evaluate-judge` does"

Numbers = NDArray[np.float64]
OnAnswer = Callable[[int, int], None]
"""Called with how many answers are judged, and of how many."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """A judge's agreement with the labels of one set. `estimate` is None where too little is judged.

    Of labels: `false_alarms` is the share of the supported answers that it finds unsupported, `by_length` the balanced
    accuracy of the best cut by the number of words alone, and `matched` the judge's where a wrong answer has no more
    words than the right one of its question, so that length tells nothing.
    """

    data: str
    measure: str
    estimate: Estimate | None
    failed: Mapping[Failure, int] = field(default_factory=dict)
    without_claims: int = 0
    false_alarms: float | None = None
    by_length: float | None = None
    matched: Estimate | None = None


@dataclass(frozen=True, slots=True)
class _Scored:
    answer: Rated
    score: float
    is_supported: bool


def agreement(judge: Judge, answers: Sequence[Rated], data: str, on_answer: OnAnswer | None = None) -> Agreement:
    """Judges every answer and compares. An answer's score is the mean support of its claims; it counts as supported if
    each of them does. An answer without claims, or with one that has no judgement, is left out and counted.

    The interval is over resamples of the questions, since answers to one question are alike.
    """
    scored: list[_Scored] = []
    failed: Counter[Failure] = Counter()
    for number, answer in enumerate(answers, start=1):
        judged = judge.judge(answer.claims, answer.passages, answer.question) if answer.claims else []
        failure = next((one.failure for one in judged if one.failure is not None), None)
        if failure is not None:
            failed[failure] += 1
        elif judged:
            scored.append(_Scored(answer, _mean(judged), all(one.is_supported for one in judged)))
        if on_answer is not None:
            on_answer(number, len(answers))
    without = sum(not answer.claims for answer in answers)
    if answers[0].rating is not None:
        return Agreement(data, SPEARMAN, _estimate(scored, _correlation), failed, without)
    right = [one for one in scored if one.answer.supported]
    return Agreement(
        data,
        ACCURACY,
        _estimate(scored, _balanced),
        failed,
        without,
        false_alarms=sum(not one.is_supported for one in right) / len(right) if right else None,
        by_length=_by_length(scored),
        matched=_estimate(_matched(scored), _balanced),
    )


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """The correlation of the ranks, equal values sharing their mean rank (Spearman 1904).

    Raises:
        ValueError: one of them is the same throughout.
    """
    first, second = _ranks(np.asarray(one, dtype=np.float64)), _ranks(np.asarray(other, dtype=np.float64))
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        raise ValueError("ranks that do not vary have no correlation")
    return float(np.corrcoef(first, second)[0, 1])


def agreement_of(judge: str) -> tuple[str, ...]:
    """What has been measured of a judge of that name, a line a data set; that nothing has, where that is so."""
    return tuple(_line(each) for each in _measured().get(judge, ())) or (UNMEASURED,)


def _mean(judged: Sequence[Judgement]) -> float:
    return sum(one.support or 0.0 for one in judged) / len(judged)


def _correlation(scored: Sequence[_Scored]) -> float:
    return spearman([one.score for one in scored], [one.answer.rating or 0.0 for one in scored])


def _balanced(scored: Sequence[_Scored]) -> float:
    """Mean of the shares of supported and of unsupported answers that are found so.

    Raises:
        ValueError: there are none of one kind.
    """
    return _mean_share([(one.is_supported, bool(one.answer.supported)) for one in scored])


def _mean_share(found: Sequence[tuple[bool, bool]]) -> float:
    shares = []
    for kind in (True, False):
        of_kind = [said == kind for said, is_so in found if is_so == kind]
        if not of_kind:
            raise ValueError("balanced accuracy needs supported and unsupported answers")
        shares.append(sum(of_kind) / len(of_kind))
    return sum(shares) / 2


def _by_length(scored: Sequence[_Scored]) -> float | None:
    """The best that a cut by words can do, above or below; an upper bound, since it is fitted on the answers."""
    cuts = {one.answer.words for one in scored}
    try:
        shares = [
            _mean_share([(one.answer.words <= cut, bool(one.answer.supported)) for one in scored]) for cut in cuts
        ]
    except ValueError:
        return None
    return max((max(share, 1 - share) for share in shares), default=None)


def _matched(scored: Sequence[_Scored]) -> list[_Scored]:
    """The right answers and, of the same question, the wrong ones that have no more words."""
    words = {one.answer.group: one.answer.words for one in scored if one.answer.supported}
    wrong = [one for one in scored if not one.answer.supported and one.answer.words <= words.get(one.answer.group, -1)]
    groups = {one.answer.group for one in wrong}
    return [one for one in scored if one.answer.supported and one.answer.group in groups] + wrong


def _estimate(scored: Sequence[_Scored], measure: Callable[[Sequence[_Scored]], float]) -> Estimate | None:
    """The measure with its bootstrap percentile interval over the groups; None where it has no value."""
    try:
        value = measure(scored)
    except ValueError:
        return None
    groups: dict[str, list[_Scored]] = {}
    for one in scored:
        groups.setdefault(one.answer.group, []).append(one)
    members = list(groups.values())
    draws = np.random.default_rng(0).integers(len(members), size=(RESAMPLES, len(members)))
    values = []
    for draw in draws:
        try:
            values.append(measure([one for place in draw for one in members[place]]))
        except ValueError:
            continue  # a resample with one kind of answers alone
    return Estimate(value, *percentile_interval(values), len(scored)) if values else None


def _ranks(values: Numbers) -> Numbers:
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks: Numbers = (ends - (counts - 1) / 2)[places]
    return ranks


@cache
def _measured() -> Mapping[str, Sequence[Mapping[str, object]]]:
    """What `citewell evaluate-judge --json` printed of the judges in the package."""
    text = (files("citewell.evaluation.judging") / "agreements.json").read_text(encoding="utf-8")
    return {one["judge"]: one["agreements"] for one in json.loads(text)}


def _line(of: Mapping[str, object]) -> str:
    """`Spearman 0.64 (0.52 to 0.73) on mtrag, 121 answers`."""
    figures = f"{of['value']:.2f} ({of['low']:.2f} to {of['high']:.2f})"
    line = f"{of['measure']} {figures} on {of['data']}, {of['answers']} answers"
    matched = of["matched"]
    if isinstance(matched, Mapping):
        line += f"; {matched['value']:.2f} on the {matched['answers']} where length tells nothing"
    return line
