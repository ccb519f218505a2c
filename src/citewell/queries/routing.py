"""Which way a question goes, by rule: before any search, and without a model."""

from __future__ import annotations

import re
from enum import StrEnum

from citewell.queries.decomposition_rules import LONGEST, split


class Way(StrEnum):
    """How a question is answered."""

    CONFIGURED = "configured"
    """As the settings say."""
    KEYWORD = "keyword"
    """The keyword leg first: meaning does not tell R-17 from R-71."""
    DECOMPOSE = "decompose"
    """Its parts are searched for, each alone."""


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
    """The way of a question; `Way.CONFIGURED` where no rule is sure, and of what is a text rather than a question."""
    asked = " ".join(question.split()).rstrip("?!. ")
    if len(asked) > LONGEST:
        return Way.CONFIGURED
    if _QUOTED.fullmatch(asked) or _ONLY_A_CODE.fullmatch(asked):
        return Way.KEYWORD
    return Way.DECOMPOSE if split(question) else Way.CONFIGURED
