"""Whether another embedder finds as much: the same questions to two generations of an index, compared in pairs."""

from __future__ import annotations

from collections.abc import Sequence

from citewell import clock
from citewell.errors import PathError
from citewell.evaluation.metrics import estimate, recall, reciprocal_rank
from citewell.evaluation.placing import held, judged
from citewell.evaluation.testset import Question
from citewell.migration import Comparison, Gate, Measure, Searched
from citewell.retrieval.query import Query
from citewell.retrieval.reranking import rerank_by
from citewell.retrieval.search import search
from citewell.settings import Retrieval
from citewell.stores.store import Scope
from citewell.types import Principal, Trace

RECALL_AT = 5
DEPTH = 10
MEASURES = (f"recall@{RECALL_AT}", f"MRR@{DEPTH}")


def gate(questions: Sequence[Question], settings: Retrieval) -> Gate:
    """Compares by recall@5 and MRR@10 of the evidence, each asked with the groups and on the day of its question.

    Both are re-ranked by MaxSim, where they have token vectors, whatever re-ranker the settings name: the embedder is
    judged.

    The interval of a difference is the bootstrap's over the questions, each with itself (Efron 1979): `estimate`.

    Raises:
        PathError: when it compares: neither generation finds any evidence, so that the figures would say nothing.
    """

    def compare(before: Searched, after: Searched) -> Comparison:
        old, new = ([_figures(question, side, settings) for question in questions] for side in (before, after))
        if not any(map(any, (*old, *new))):
            raise PathError(
                f"None of the evidence of the {len(questions)} questions is found, with the old embedder or the new.",
                remedy="Give a test set about the documents of this index, with groups that may read them.",
            )
        columns = zip(MEASURES, zip(*old, strict=True), zip(*new, strict=True), strict=True)
        return Comparison(len(questions), tuple(_measure(*column) for column in columns))

    return compare


def _measure(name: str, old: Sequence[float], new: Sequence[float]) -> Measure:
    difference = estimate([after - before for before, after in zip(old, new, strict=True)])
    mean_old, mean_new = (sum(values) / len(values) for values in (old, new))
    return Measure(name, mean_old, mean_new, difference.mean, difference.low, difference.high)


def _figures(question: Question, side: Searched, settings: Retrieval) -> tuple[float, float]:
    """A question's `MEASURES`."""
    scope = Scope(Principal(groups=frozenset(question.groups)).readable, question.as_of or clock.today())
    hits = search(
        Query(question.question),
        DEPTH,
        scope,
        store=side.reader,
        encoders=side.encoders,
        settings=settings,
        trace=Trace(),
        rerank=rerank_by(None, side.encoders.embedder, settings),
    )
    found = held(question, hits)
    first, grades = judged(question, found[:RECALL_AT])
    return recall(first, grades, len(first)), reciprocal_rank(*judged(question, found), DEPTH)
