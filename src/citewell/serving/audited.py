"""An answer with its line in the audit log."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from citewell.evaluation.words import words
from citewell.queries.rewrite import needs_rewriting
from citewell.serving.answering import Question, Tell, made, shown_in
from citewell.serving.caller import Caller
from citewell.serving.service import Service
from citewell.types import Answer


def ask(service: Service, caller: Caller, request_id: str, question: Question, tell: Tell) -> Answer:
    """As `answering.made`."""

    def write(outcome: str, documents: Iterable[str] = (), understood: str = "") -> None:
        service.audit.write(
            "ask",
            caller=caller,
            request=request_id,
            asked=question.body.question,
            understood=understood,
            documents=documents,
            outcome=outcome,
        )

    try:
        answer = made(service, question, tell)
    except asyncio.CancelledError:
        write("left")  # they may have seen a draft
        raise
    except Exception:
        write("failed")  # as well
        raise
    write("abstained" if answer.abstained else "", shown_in(answer), _standing_alone(question, answer))
    return answer


def _standing_alone(question: Question, answer: Answer) -> str:
    """A follow-up as it was understood; "" of what stands alone.

    In the caller's own words: a rewrite may name what only an answer said, and no text of documents goes into the log.
    Then the question before says what it was about.
    """
    asked, turns = question.body.question, question.turns
    if not turns or not needs_rewriting(asked, turns):
        return ""
    own = frozenset[str]().union(*(words(text) for text in (asked, *(turn.question for turn in turns))))
    rewrite = next(iter(answer.searched[1:]), "")
    return rewrite if rewrite and words(rewrite) <= own else f"{turns[-1].question} {asked}"
