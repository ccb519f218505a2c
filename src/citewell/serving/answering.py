"""Answers: whole, or step by step.

`made` is the one place where an answer comes from. What it tells on the way goes to whoever listens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from citewell.serving.asked import AskBody
from citewell.serving.narrowing import condition
from citewell.serving.service import Service
from citewell.serving.tracing import ask_span
from citewell.shapes import Shape, step_shape
from citewell.types import Answer, Principal, Step, Turn

Tell = Callable[[str, Shape], None]
"""Called, in the thread that answers, with an event's name and what it says."""


@dataclass(frozen=True, slots=True)
class Question:
    """Ready to be asked: `principal` has been narrowed already, and `turns` are those of whatever was before."""

    body: AskBody
    principal: Principal
    turns: Sequence[Turn] = ()


def made(service: Service, question: Question, tell: Tell) -> Answer:
    """The answer. Runs in a thread of the lane `asking`.

    Raises:
        as `Index.ask`.
    """
    index, body = service.index, question.body
    with ask_span() as told:
        answer = index.ask(
            body.question,
            turns=question.turns,
            principal=question.principal,
            as_of=body.as_of,
            where=condition(body.where, index.fields),
            listener=_Told(tell),
        )
        told(answer)
    service.metrics.asked(answer)
    return answer


@dataclass(frozen=True, slots=True)
class _Told:
    """A listener that tells on."""

    tell: Tell

    def step(self, step: Step) -> None:
        self.tell("step", step_shape(step))

    def draft(self, piece: str) -> None:
        self.tell("draft", {"text": piece})


def nobody_listens(_event: str, _says: Shape) -> None:
    """A `Tell` for an answer that is wanted whole."""


def shown_in(answer: Answer) -> list[str]:
    """The ids of the documents that an answer shows, for the audit log; of what was kept back it names the place."""
    found = (*answer.hits, *(each.hit for each in answer.kept_back))
    return [citation.document_id for citation in answer.citations] + [hit.chunk.document_id for hit in found]
