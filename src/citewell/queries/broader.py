"""The more general question behind a question (step-back).

Zheng et al., "Take a Step Back: Evoking Reasoning via Abstraction in Large Language Models", 2023.
"""

from __future__ import annotations

from citewell.models.llm import LLM, Prompt
from citewell.models.reply import prose
from citewell.queries.marks import marks, same_language
from citewell.retrieval.query import Query, Role

MAX_REPLY_TOKENS = 60

_RULES = """\
Write the one more general question whose answer gives the background to this question: about the rule, the topic or \
the kind of thing instead of the single case. Add no name, code or number. Stay in the language of the question.
Question: May a 17-year-old withdraw EUR 500 in Spain? Broader: Which limits apply to cash withdrawals by minors abroad?
Reply with the broader question and nothing else."""


def broader(llm: LLM, question: str) -> tuple[Query, ...]:
    """One broader question; none where it is the question again, is in another language, or adds a code or a number.

    Raises:
        ServiceError: the model's endpoint failed.
    """
    text = prose(llm.complete(Prompt(_RULES, f"Question: {question}", MAX_REPLY_TOKENS)).text)
    usable = (
        text
        and text.casefold().rstrip("?") != question.strip().casefold().rstrip("?")
        and marks(text) <= marks(question)
        and same_language(text, question)
    )
    return (Query(text, Role.BROADER),) if usable else ()
