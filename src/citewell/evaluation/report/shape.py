"""An evaluation as a plain dictionary, version 1: what `--json` prints, and what the other forms are drawn from.

All numbers are finite: a measure that does not apply is left out, an unknown figure is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

from citewell.evaluation.calibration import Curve
from citewell.evaluation.measures import Measured
from citewell.evaluation.report.evaluated import Evaluated
from citewell.evaluation.report.problems import first_ranks, problems
from citewell.evaluation.runs import Outcome
from citewell.evaluation.summary import Score, Slice
from citewell.loading.testsets import REPORT_MARK
from citewell.types import Answer, Citation, Hit

VERSION = 1
DIGITS = 6
"""Of a share or score: more says nothing, and fewer bytes are easier to compare."""

Shape = dict[str, Any]


def as_shape(evaluated: Evaluated) -> Shape:
    """docs/report.md describes the keys. Holds the questions and answers, of the passages only where they stand."""
    testset, scored = evaluated.testset, evaluated.scored
    pairs = tuple(zip(scored.outcomes, scored.measured, strict=True))
    return {
        "version": VERSION,
        "made_by": REPORT_MARK,
        "title": evaluated.title,
        "at": evaluated.at.isoformat(),
        "citewell": evaluated.citewell,
        "index": {
            "documents": evaluated.documents,
            "chunks": evaluated.chunks,
            "embedder": evaluated.embedder,
            "floor": {"origin": evaluated.floor.origin.value, "least": _rounded(evaluated.floor.least)},
        },
        "settings": dict(evaluated.settings),
        "testset": {
            "name": testset.name,
            "reviewed": testset.reviewed,
            "unreviewed": testset.unreviewed,
            "answerable": testset.answerable,
            "unanswerable": testset.unanswerable,
        },
        "judge": {"name": evaluated.judge, "agreement": list(evaluated.agreement)},
        "slices": [_slice(each) for each in scored.slices],
        "refusals": _refusals(scored.outcomes),
        "latency": _latencies(scored.outcomes),
        "floor_curve": _floor_curve(evaluated.floor_curve) if evaluated.floor_curve is not None else None,
        "questions": [_question(outcome, measured, evaluated.keep) for outcome, measured in pairs],
    }


def page_of(pages: Sequence[tuple[int, str]]) -> str:
    """The labels of a passage's first and last page, `22` or `22–23`; "" where its format has no pages."""
    return "–".join(dict.fromkeys([pages[0][1], pages[-1][1]])) if pages else ""


def _slice(of: Slice) -> Shape:
    return {"name": of.name, "questions": of.questions, "measures": {each.name: _score(each) for each in of.scores}}


def _score(score: Score) -> Shape:
    of = score.estimate
    return {
        "mean": _rounded(of.mean) if of is not None else None,
        "low": _rounded(of.low) if of is not None else None,
        "high": _rounded(of.high) if of is not None else None,
        "questions": of.questions if of is not None else 0,
        "failed": {failure.value: count for failure, count in sorted(score.failed.items())},
    }


def _refusals(outcomes: Sequence[Outcome]) -> Shape:
    """How many questions with an answer, and without, were answered and refused."""
    asked = [(each.question.answerable, each.answer.abstained) for each in outcomes if each.answer is not None]
    return {
        name: {"answered": asked.count((answerable, False)), "refused": asked.count((answerable, True))}
        for name, answerable in (("answerable", True), ("unanswerable", False))
    }


def _latencies(outcomes: Sequence[Outcome]) -> Shape:
    """Milliseconds a question; a step that was not asked for is left out."""
    times = {
        "search": [each.search_ms for each in outcomes],
        "answer": [each.answer_ms for each in outcomes if each.answer is not None],
    }
    return {name: {"p50": _within(some, 0.5), "p95": _within(some, 0.95)} for name, some in times.items() if some}


def _within(values: Sequence[float], share: float) -> float | None:
    """What this share of the values does not exceed (nearest rank)."""
    ordered = sorted(values)
    return _rounded(ordered[ceil(len(ordered) * share) - 1])


def _floor_curve(curve: Curve) -> Shape:
    return {
        "best": _rounded(curve.best.floor),
        "separates": curve.separates,
        "points": [
            {
                "floor": _rounded(point.floor),
                "refusal_precision": _rounded(point.refusal_precision),
                "refusal_recall": _rounded(point.refusal_recall),
                "answered": _rounded(point.answered),
            }
            for point in curve.points
        ],
    }


def _question(outcome: Outcome, measured: Measured, keep: int) -> Shape:
    question, answer = outcome.question, outcome.answer
    evidence = zip(question.evidence, first_ranks(outcome), strict=True)
    return {
        "id": question.id,
        "question": question.question,
        "labels": list(question.labels),
        "groups": sorted(question.groups),
        "as_of": question.as_of.isoformat() if question.as_of is not None else None,
        "answerable": question.answerable,
        "expected_answer": question.expected_answer,
        "must_contain": list(question.must_contain),
        "must_not_contain": list(question.must_not_contain),
        "evidence": [{**each.model_dump(mode="json"), "rank": rank} for each, rank in evidence],
        "values": {name: _rounded(value) for name, value in measured.values.items()},
        "failed": {name: failure.value for name, failure in measured.failed.items()},
        "problems": list(problems(outcome, measured, keep)),
        "error": outcome.error,
        "search_ms": _rounded(outcome.search_ms),
        "answer_ms": _rounded(outcome.answer_ms) if answer is not None else None,
        "hits": [_hit(hit, held) for hit, held in zip(outcome.hits, outcome.held, strict=True)],
        "read": [hit.chunk.id for hit in (answer.hits if answer is not None else outcome.hits[:keep])],
        "answer": _answer(answer) if answer is not None else None,
        "trace": [
            {"step": step.name, "ms": step.ms, "in": step.count_in, "out": step.count_out}
            for step in (answer.trace if answer is not None else ())
        ],
    }


def _hit(hit: Hit, held: frozenset[int]) -> Shape:
    chunk = hit.chunk
    return {
        "rank": hit.rank,
        "chunk": chunk.id,
        "document": chunk.document_id,
        "title": chunk.title,
        "section": chunk.section,
        "page": page_of(chunk.pages),
        "start": chunk.start,
        "end": chunk.end,
        "score": _rounded(hit.score),
        "scale": hit.scale.value,
        "cosine": _rounded(hit.cosine),
        "lists": dict(sorted(hit.lists.items())),
        "evidence": sorted(held),
    }


def _answer(answer: Answer) -> Shape:
    usage = answer.usage
    return {
        "text": answer.text,
        "abstained": answer.abstained,
        "reason": answer.reason,
        "sentences": [{"text": each.text, "citations": list(each.citations)} for each in answer.sentences],
        "citations": [_citation(citation) for citation in answer.citations],
        "warnings": list(answer.warnings),
        "usage": {
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "cost_usd": usage.cost_usd,
        },
    }


def _citation(citation: Citation) -> Shape:
    return {
        "n": citation.n,
        "chunk": citation.chunk_id,
        "document": citation.document_id,
        "title": citation.title,
        "section": citation.section,
        "page": citation.page,
        "quote": citation.quote,
        "start": citation.start,
        "end": citation.end,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
