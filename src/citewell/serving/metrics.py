"""Numbers for Prometheus. Labels are routes, methods, statuses and states of ours: never a text of anybody's.

Several worker processes add up where `PROMETHEUS_MULTIPROC_DIR` names a folder, which `citewell serve` sees to.
"""

from __future__ import annotations

import os

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from citewell.serving.lane import Lane
from citewell.types import Answer

SHARED = "PROMETHEUS_MULTIPROC_DIR"
CONTENT_TYPE = CONTENT_TYPE_LATEST
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
SECONDS = (0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)


class Metrics:
    """One set for each application."""

    def __init__(self, lanes: tuple[Lane, ...]) -> None:
        self._lanes = lanes
        self._registry = registry = CollectorRegistry()
        self._requests = Counter(
            "citewell_requests", "Requests answered", ("route", "method", "status"), registry=registry
        )
        self._seconds = Histogram(
            "citewell_request_seconds", "Until the last byte", ("route",), buckets=SECONDS, registry=registry
        )
        self._answers = Counter("citewell_answers", "Questions", ("outcome",), registry=registry)
        self._tokens = Counter("citewell_llm_tokens", "Of the language model", ("kind",), registry=registry)
        self._inside = Gauge(
            "citewell_inside",
            "Requests that run or wait",
            ("lane",),
            registry=registry,
            multiprocess_mode="livesum",
        )

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        """One request. `route` is the template of its path."""
        self._requests.labels(route, method if method in METHODS else "other", str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def asked(self, answer: Answer) -> None:
        self._answers.labels("abstained" if answer.abstained else "answered").inc()
        self._tokens.labels("prompt").inc(answer.usage.prompt_tokens)
        self._tokens.labels("completion").inc(answer.usage.completion_tokens)

    def text(self) -> bytes:
        """All of it, in Prometheus' own format."""
        for lane in self._lanes:
            self._inside.labels(lane.name).set(lane.inside)
        if SHARED not in os.environ:
            return generate_latest(self._registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]  # it has no types
        return generate_latest(together)
