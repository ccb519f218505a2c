"""An answer with its line in the audit log, for the ways in that are not `/v1/ask`."""

from __future__ import annotations

from citewell.serving.answering import Question, Tell, made, shown_in
from citewell.serving.caller import Caller
from citewell.serving.service import Service
from citewell.types import Answer


def ask(service: Service, caller: Caller, request_id: str, question: Question, tell: Tell) -> Answer:
    """As `answering.made`."""
    answer = made(service, question, tell)
    service.audit.write(
        "ask",
        caller=caller,
        request=request_id,
        asked=question.body.question,
        documents=shown_in(answer),
        outcome="abstained" if answer.abstained else "",
    )
    return answer
