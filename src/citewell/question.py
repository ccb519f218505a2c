"""What may be asked."""

from __future__ import annotations

from citewell.errors import QuestionError

MAX_QUESTION_CHARS = 20_000


def readable(text: str) -> str:
    """A text as a model takes it: a terminal hands over bytes that are not UTF-8 as lone surrogates."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "")


def checked(question: str) -> str:
    """The question without white space around it.

    Raises:
        QuestionError: nothing is left of it, or it is too long.
    """
    text = readable(question).strip()
    if not text:
        raise QuestionError("The question is empty.", remedy="Ask something.")
    if len(text) > MAX_QUESTION_CHARS:
        raise QuestionError(
            f"The question has {len(text):,} characters.",
            remedy=f"Shorten it to {MAX_QUESTION_CHARS:,}; documents are added with `citewell index`.",
        )
    return text
