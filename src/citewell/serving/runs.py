"""Evaluations and comparisons as a list shows them: what was asked for, how far it is, and the first figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from citewell.evaluation.report.figures import HEADLINES
from citewell.serving.jobs import Job
from citewell.shapes import VERSION, Shape


def runs_shape(jobs: Sequence[Job]) -> Shape:
    """Of jobs whose results are cut down to `measures` and `verdicts`."""
    return {"version": VERSION, "runs": [_run(job) for job in jobs]}


def _run(job: Job) -> Shape:
    wanted, result = job.wanted, job.result or {}
    return {
        "job": job.id,
        "kind": job.kind,
        "caller": job.caller,
        "state": job.state.value,
        "created": job.created,
        "started": job.started,
        "ended": job.ended,
        "cancelling": job.cancelling,
        "progress": job.progress,
        "error": job.error,
        **{name: wanted[name] for name in ("testset", "judge", "retrieval_only", "settings")},
        "figures": list(_figures(result.get("measures") or {})),
        "verdicts": result.get("verdicts") or [],
    }


def _figures(measures: Mapping[str, Any]) -> Iterator[Shape]:
    """Those that some question has, in the order of a report."""
    for name in HEADLINES:
        score = measures.get(name)
        if score is not None and score["mean"] is not None:
            yield {"measure": name, **{key: score[key] for key in ("mean", "low", "high", "questions")}}
