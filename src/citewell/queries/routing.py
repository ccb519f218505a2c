"""Which way a question goes, by rule: before any search, and without a model."""

from __future__ import annotations

import re
from dataclasses import dataclass
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
    NOTHING = "nothing"
    """No search: there is nothing to look up."""


@dataclass(frozen=True, slots=True)
class Route:
    """The way, and why in a few words."""

    way: Way
    reason: str


# R-17, 4.2(b), ISO/IEC 27001:2022, unusual_amount, index.search(), withPBKDF2, C++.
_CODE = (
    r"(?:(?=\S*\d)(?=\S*[^\W\d_])[^\s?!]+|[A-Z]{1,4}\s-?\s?\d[\w.]*|\d+(?:[.:/-]\d+)+(?:\s?\(\w{1,3}\))?"
    r"|[\w.]*\w_\w[\w.]*(?:\(\))?|[\w.]+\(\)|[a-z]+(?:[A-Z]\w*)+|[A-Z]+(?:/[A-Z]+)?\s\d+(?:[:.-]\d+)+|\w(?:\+\+|#))"
)
_KIND = (
    r"(?:code|rule|form|section|article|clause|error|ticket|case|report|letter|type|screen|function|constant|number|id)"
)
_ONLY_A_CODE = re.compile(
    rf"(?:(?i:(?:[a-z]+\s+)?{_KIND}\s+))?{_CODE}"
    rf"|(?i:what\s+(?:does|do|is|are)\s+(?:the\s+)?(?:[a-z]+\s+){{0,3}}?){_CODE}(?i:\s+(?:mean|stand\s+for))?"
)
_QUOTED = re.compile(r"[\"\u201c\u201e\u00ab][^\"\u201c\u201d\u00ab\u00bb]+[\"\u201d\u201c\u00bb]")
_ADDRESSED = re.compile(
    r"(?:(?:hi|hello|hey|good\s+(?:morning|afternoon|evening|day)|thanks?(?:\s+you)?|many\s+thanks|thank\s+you|bye|goodbye"
    r"|how\s+are\s+you|who\s+are\s+you|what\s+can\s+you\s+do|ok(?:ay)?|great|perfect|cheers)"
    r"(?:\s+(?:very|so)\s+much|\s+there|\s+a\s+lot|\s+again|\s+today)?[\s,.!?]*)+",
    re.IGNORECASE,
)
_NUMBER = r"\(*\s*-?\d+(?:[.,]\d+)*\s*%?\s*\)*"
_SUM = re.compile(
    rf"(?:what(?:\s+is|'s)\s+|calculate\s+|compute\s+|how\s+much\s+is\s+)?{_NUMBER}"
    rf"(?:\s*(?:[+*\u00d7\u00f7^]|\s[-/x\u2212]\s|\b(?:plus|minus|times|divided\s+by|of)\b)\s*{_NUMBER})+\s*=?\s*",
    re.IGNORECASE,
)


_RULES = (
    (_ADDRESSED, Route(Way.NOTHING, "it greets or thanks, and asks nothing of documents")),
    (_SUM, Route(Way.NOTHING, "it is arithmetic")),
    (_QUOTED, Route(Way.KEYWORD, "it is a quoted phrase")),
    (_ONLY_A_CODE, Route(Way.KEYWORD, "it is a code or an identifier, or asks what one means")),
)


def route(question: str) -> Route:
    """The way of a question; `Way.CONFIGURED` where no rule is sure."""
    asked = " ".join(question.split()).rstrip("?!. ")
    if len(asked) > LONGEST:
        return Route(Way.CONFIGURED, "it is a text rather than a question")
    for rule, way in _RULES:
        if rule.fullmatch(asked):
            return way
    if parts := split(question):
        return Route(Way.DECOMPOSE, f"it asks {len(parts)} things")
    return Route(Way.CONFIGURED, "no rule applies")
