"""The question in other words, so that a passage is found that uses none of its own (multi-query, RAG-Fusion).

Rackauckas, "RAG-Fusion: a New Take on Retrieval-Augmented Generation", 2024: several queries by a model, the lists
joined by reciprocal rank fusion.
"""

from __future__ import annotations

from citewell.models.llm import LLM, Prompt
from citewell.models.reply import listed
from citewell.queries.marks import marks, negations, same_language
from citewell.retrieval.query import Query, Role

_TOKENS_EACH = 60

_RULES = """\
Write the question {number} times in other words, as people would ask who know other words for the same things. Each \
asks exactly the same. Copy names, codes and numbers exactly, keep every "not", and stay in the language of the \
question. Reply with a JSON array of strings and nothing else.

Question: How long is the warranty of model K-3?
["For what period is the K-3 guaranteed?", "Until when can a K-3 be returned if it breaks?", ...]"""


def variants(llm: LLM, question: str, number: int) -> tuple[Query, ...]:
    """Up to `number` other wordings of a question.

    One that adds or loses a code, a number or a negation, is in another language, or is the question or another one
    again, is dropped.

    Raises:
        ServiceError: the model's endpoint failed.
    """
    completion = llm.complete(Prompt(_RULES.format(number=number), f"Question: {question}", _TOKENS_EACH * number))
    kept: dict[str, str] = {}
    for item in listed(completion.text) or ():
        if _asks_the_same(item.text, question):
            kept.setdefault(_plain(item.text), item.text)
    kept.pop(_plain(question), None)
    return tuple(Query(text, Role.VARIANT) for text in list(kept.values())[:number])


def _asks_the_same(text: str, question: str) -> bool:
    return (
        marks(text) == marks(question)
        and bool(negations(text)) == bool(negations(question))
        and same_language(text, question)
    )


def _plain(text: str) -> str:
    return " ".join(text.casefold().rstrip("?!. ").split())
