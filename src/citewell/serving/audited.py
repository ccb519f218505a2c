"""An answer with its line in the audit log."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from citewell.serving.answering import Question, Tell, made, shown_in
from citewell.serving.caller import Caller
from citewell.serving.service import Service
from citewell.types import Answer


def ask(service: Service, caller: Caller, request_id: str, question: Question, tell: Tell) -> Answer:
    """As `answering.made`."""

    def write(outcome: str, documents: Iterable[str] = ()) -> None:
        asked = question.body.question
        service.audit.write("ask", caller=caller, request=request_id, asked=asked, documents=documents, outcome=outcome)

    try:
        answer = made(service, question, tell)
    except asyncio.CancelledError:
        write("left")  # they may have seen a draft
        raise
    except Exception:
        write("failed")  # as well
        raise
    write("abstained" if answer.abstained else "", shown_in(answer))
    return answer
