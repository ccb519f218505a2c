"""Which way a question goes, before any search: one or many (Adaptive-RAG), and the keyword leg for a code.

Jeong, Baek, Cho, Hwang and Park, "Adaptive-RAG: Learning to Adapt Retrieval-Augmented Large Language Models through
Question Complexity", 2024, arXiv:2403.14403. By rule, or many steps as a trained classifier says (`complexity`).
What needs no search at all is told before: `small_talk`.
"""

from __future__ import annotations

import re
from enum import StrEnum

from citewell.models.embedder import Embedder
from citewell.queries.complexity import needs_many
from citewell.queries.decomposition_rules import LONGEST, split
from citewell.queries.second_hop import is_chain


class Way(StrEnum):
    """How a question is searched for."""

    ONE = "one"
    """As the settings say."""
    KEYWORD = "keyword"
    """By the keyword leg first: meaning does not tell R-17 from R-71."""
    MANY = "many"
    """Its parts each alone, and then the names that are found."""


# R-17, 4.2(b), ISO/IEC 27001:2022, unusual_amount, index.search(), withPBKDF2, C++.
_CODE = (
    r"(?:(?=\S*\d)(?=\S*[^\W\d_])[^\s?!]+|[A-Z]{1,4}\s-?\s?\d[\w.]*|\d+(?:[.:/-]\d+)+(?:\s?\(\w{1,3}\))?"
    r"|[\w.]*\w_\w[\w.]*(?:\(\))?|[\w.]+\(\)|[a-z]+[A-Z]\w*|[A-Z]+(?:/[A-Z]+)?\s\d+(?:[:.-]\d+)+|\w(?:\+\+|#))"
)
_KIND = (
    r"(?:code|rule|form|section|article|clause|error|ticket|case|report|letter|type|screen|function|constant|number|id)"
)
_ONLY_A_CODE = re.compile(
    rf"(?:(?i:(?:[a-z]+\s+)?{_KIND}\s+))?{_CODE}"
    rf"|(?i:what\s+(?:does|do|is|are)\s+(?:the\s+)?(?:[a-z]+\s+){{0,3}}?){_CODE}(?i:\s+(?:mean|stand\s+for))?"
)
_QUOTED = re.compile(r"[\"\u201c\u201e\u00ab][^\"\u201c\u201d\u00ab\u00bb]+[\"\u201d\u201c\u00bb]")


def route(question: str) -> Way:
    """The way of a question that is no small talk, by rule; `Way.ONE` where no rule is sure, and of what is a text
    rather than a question."""
    if _is_a_code(question):
        return Way.KEYWORD
    return Way.MANY if split(question) or is_chain(question) else Way.ONE


def route_by(embedder: Embedder, question: str) -> Way:
    """The same, many steps as the trained classifier says.

    Raises:
        SettingsError: it was trained for another embedder.
        ServiceError: the embedder's endpoint failed.
    """
    many = needs_many(embedder, question)
    if _is_a_code(question):
        return Way.KEYWORD
    return Way.MANY if many else Way.ONE


def _is_a_code(question: str) -> bool:
    asked = " ".join(question.split()).rstrip("?!. ")
    return len(asked) <= LONGEST and bool(_QUOTED.fullmatch(asked) or _ONLY_A_CODE.fullmatch(asked))
