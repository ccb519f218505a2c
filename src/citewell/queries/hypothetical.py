"""A passage that would answer the question, embedded in its place (HyDE).

Gao, Ma, Lin and Callan, "Precise Zero-Shot Dense Retrieval without Relevance Labels", 2022: a passage that is made up
lies nearer to the true one than the question does. What it says is not true: it stands in `Answer.searched`, and no
answer is taken from it.
"""

from __future__ import annotations

from citewell.models.llm import LLM, Prompt
from citewell.models.reply import prose
from citewell.queries.marks import same_language, without_foreign_marks
from citewell.retrieval.query import Query, Role

MAX_REPLY_TOKENS = 120

_RULES = """\
Write a passage of two or three sentences, as it would stand in a document that answers the question. Do not say that \
you do not know. Copy names, codes and numbers of the question exactly, and write in its language.
Reply with the passage and nothing else."""


def hypothetical(llm: LLM, question: str) -> tuple[Query, ...]:
    """One passage, or none where the model declines or writes in another language.

    Codes and numbers that the question has not are struck out: the model made them up, and others' passages hold them.

    Raises:
        ServiceError: the model's endpoint failed.
    """
    completion = llm.complete(Prompt(_RULES, f"Question: {question}", MAX_REPLY_TOKENS))
    passage = without_foreign_marks(prose(completion.text), question)
    usable = passage and same_language(passage, question) and passage.casefold() != question.casefold()
    return (Query(passage, Role.HYPOTHETICAL),) if usable else ()
