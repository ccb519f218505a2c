"""A question asked in a conversation, made to stand alone. The original is searched too, always.

    turns - does it lean on them? - by a language model, or by rule - does the rewrite keep what it must? - searched

The words of the turns are data, whoever said them: none is obeyed.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.models.llm import LLM
from citewell.queries.rewriting.guard import keeps
from citewell.queries.rewriting.prompted import prompt_for, question_in
from citewell.queries.rewriting.resolving import leans, resolved
from citewell.queries.rewriting.words import shows_english
from citewell.retrieval.query import Query, Role
from citewell.types import Turn


def needs_rewriting(question: str, turns: Sequence[Turn]) -> bool:
    """Whether the question leans on the turns before it (oldest first): a pronoun, a follow-up, a thing left unsaid.

    By rule, for English; in other languages only `Und für ...?` and a question word alone are seen.
    """
    return leans(question, turns)


def rewrite(question: str, turns: Sequence[Turn]) -> str | None:
    """The question standing alone, by rule; None where it does already, or the turns do not say what it leans on."""
    text = resolved(question, turns)
    return text if text is not None and keeps(question, text, turns) else None


def rewrite_by(llm: LLM, question: str, turns: Sequence[Turn]) -> str | None:
    """The question standing alone, by one call of a language model; by rule where its reply is of no use.

    A model that repeats the question saw nothing to resolve; small ones miss what the rules see.

    Raises:
        ServiceError: the model's endpoint failed.
    """
    text = question_in(llm.complete(prompt_for(question, turns)), question)
    repeated = text is not None and text.casefold() == question.strip().casefold()
    if text is None or repeated or not keeps(question, text, turns):
        return rewrite(question, turns)
    return text


def rewritten(question: str, turns: Sequence[Turn], llm: LLM | None = None) -> tuple[Query, ...]:
    """What to search for: the question, and its rewrite where it leans on the turns before it (oldest first).

    A model is asked only where the rules see something to resolve, or the question may be in another language than
    theirs.

    Raises:
        ServiceError: the model's endpoint failed.
    """
    original = Query(question)
    if not turns:
        return (original,)
    if llm is not None and (needs_rewriting(question, turns) or shows_english(question) is not True):
        text = rewrite_by(llm, question, turns)
    else:
        text = rewrite(question, turns)
    return (original, Query(text, Role.REWRITE)) if text else (original,)
