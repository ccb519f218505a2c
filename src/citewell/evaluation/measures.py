"""What one question scored: a value, or a named failure; a measure that does not apply to it is left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from citewell.checking.judge import Failure
from citewell.evaluation.metrics import all_found, average_precision, hit_rate, ndcg, precision, recall, reciprocal_rank
from citewell.evaluation.placing import judged
from citewell.evaluation.runs import Outcome
from citewell.evaluation.testset import Question

CUTS = (1, 3, 5, 10, 20)
"""The last is `runs.DEPTH`."""

RANKED_AT = 10

Metric = Callable[[Sequence[str], Mapping[str, int], int], float]

_OF_A_CUT: Mapping[str, Metric] = {"hit": hit_rate, "recall": recall, "pass": all_found}
_BY_RANK: Mapping[str, Metric] = {"MRR": reciprocal_rank, "nDCG": ndcg, "MAP": average_precision}


@dataclass(frozen=True, slots=True)
class Measured:
    """The scores of one question in one run, by the measure's name. `failed` names those that have none, and why."""

    question: Question
    values: Mapping[str, float]
    failed: Mapping[str, Failure] = field(default_factory=dict)


def retrieval(outcome: Outcome) -> dict[str, float]:
    """Hit rate, recall, precision and pass at each of `CUTS`, MRR, nDCG and MAP at `RANKED_AT`.

    {} for a question without evidence that its reader could find.
    """
    question = outcome.question
    if not question.answerable or not question.evidence:
        return {}
    values: dict[str, float] = {}
    for k in CUTS:
        first, grades = judged(question, outcome.held[:k])
        values |= {f"{name}@{k}": metric(first, grades, len(first)) for name, metric in _OF_A_CUT.items()}
        values[f"precision@{k}"] = precision(first, grades, k)
    ranking, grades = judged(question, outcome.held)
    return values | {f"{name}@{RANKED_AT}": metric(ranking, grades, RANKED_AT) for name, metric in _BY_RANK.items()}
