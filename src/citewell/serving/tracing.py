"""Spans for OpenTelemetry, where its API is installed; whoever runs the service configures what becomes of them.

They have names, numbers and routes, never a text of a question or a document.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from citewell.types import Answer

try:
    from opentelemetry import propagate, trace
except ImportError:
    HAS_API = False
else:
    HAS_API = True

NAME = "citewell"
FLUSH_MS = 5_000

Finish = Callable[[str, int], None]
"""Called with the route's template and the status."""


@contextmanager
def request_span(method: str, headers: Mapping[str, str]) -> Iterator[Finish]:
    """Around a whole request; it continues the trace that the headers name."""
    if not HAS_API:
        yield lambda _route, _status: None
        return
    with trace.get_tracer(NAME).start_as_current_span(
        method,
        context=propagate.extract(headers),
        kind=trace.SpanKind.SERVER,
        attributes={"http.request.method": method},
        record_exception=False,  # its message may hold anything
    ) as span:

        def finish(route: str, status: int) -> None:
            span.update_name(f"{method} {route}")
            span.set_attributes({"http.route": route, "http.response.status_code": status})
            if status >= 500:
                span.set_status(trace.StatusCode.ERROR)

        yield finish


@contextmanager
def ask_span() -> Iterator[Callable[[Answer], None]]:
    """Around an answer. Its steps become spans inside it, when it is there."""
    if not HAS_API:
        yield lambda _answer: None
        return
    tracer = trace.get_tracer(NAME)
    with tracer.start_as_current_span("ask", record_exception=False) as span:

        def told(answer: Answer) -> None:
            span.set_attributes(
                {
                    "citewell.abstained": answer.abstained,
                    "citewell.hits": len(answer.hits),
                    "citewell.llm.calls": answer.usage.calls,
                    "citewell.llm.prompt_tokens": answer.usage.prompt_tokens,
                    "citewell.llm.completion_tokens": answer.usage.completion_tokens,
                }
            )
            # A trace says how long each step took, one after the other: the last has ended just now.
            end = time.time_ns()
            for step in reversed(answer.trace):
                begin = end - int(step.ms * 1e6)
                counts = {"citewell.in": step.count_in, "citewell.out": step.count_out}
                tracer.start_span(step.name, start_time=begin, attributes=counts).end(end)
                end = begin

        yield told


def send_rest() -> None:
    """Send the spans that wait for their turn: where a signal ends the process, nothing else would."""
    # The API alone has no such thing; the SDK's provider does.
    flush = getattr(trace.get_tracer_provider(), "force_flush", None) if HAS_API else None
    if flush is not None:
        flush(FLUSH_MS)
