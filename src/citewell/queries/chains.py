"""Questions in a chain: to look up where X's director was born, one must first know who directed X."""

from __future__ import annotations

import re

_RELATION = (
    r"(?:(?:step-?|great-grand|grand|half-)?(?:mother|father|parent|son|daughter|child|brother|sister)(?:-in-law)?"
    r"|sibling|wife|husband|spouse|widow|partner|uncle|aunt|nephew|niece|cousin|ancestor|successor|predecessor|founder"
    r"|owner|director|composer|performer|singer|author|writer|producer|screenwriter|editor|painter|architect|designer"
    r"|creator|inventor|developer|maker|manufacturer|publisher|supplier|employer|teacher|coach|captain|leader|head"
    r"|chairman|chair|president|manager|deputy|approver|holder|subsidiary|capital|headquarters)"
)
_RELATED = re.compile(rf"\b(?P<relation>{_RELATION})s?\b", re.IGNORECASE)
_OF = re.compile(
    rf"(?P<outer>(?:{_RELATION}s?\s+of\s+(?:the\s+)?)*)(?P<inner>(?:\w+\s+)?{_RELATION}s?\s+of\s+.+)", re.IGNORECASE
)
_POSSESSIVE = re.compile(rf"\S.*?['\u2019]s\s+(?:\w+\s+)?{_RELATION}\b", re.IGNORECASE)
# "Where was the place of birth of ...": what is asked about the last of the chain.
_OPENING = re.compile(
    r"(?:what|which|who|whom|whose|where|when|why|how)\b(?:\s+(?:country|nationality|year|age|city))?\s*"
    r"(?P<verb>(?:is|was|are|were|did|does|do|has)\s+)?(?P<property>the\s+(?:place|date|cause|country|name|age)\s+of\s+"
    r"(?:(?:birth|death|origin|burial)\s+of\s+)?)?(?:the\s+)?",
    re.IGNORECASE,
)
_ENDING = re.compile(
    r"\s+(?:born|die[ds]?|stud(?:y|ied)|works?|worked|detained|buried|educated|lives?|lived|from|is|was|are)\b.*",
    re.IGNORECASE,
)


def relation(text: str) -> str:
    """The first word for how one is related to another: "director" of "the directors of A and B"; "" without one."""
    found = _RELATED.search(text)
    return found["relation"].casefold() if found else ""


def relations(text: str) -> tuple[str, ...]:
    """Every such word."""
    return tuple(found["relation"].casefold() for found in _RELATED.finditer(text))


def innermost(text: str) -> str:
    """What must be known first: "director of film X" of "Who is the mother of the director of film X"; else ""."""
    opening = _OPENING.match(text)
    if not opening:
        return ""
    rest = text[opening.end() :]
    if opening["verb"] and (nested := _OF.fullmatch(rest)):
        inner = _ENDING.sub("", nested["inner"])
    elif possessive := _POSSESSIVE.match(rest):
        inner = possessive[0]
    else:
        return ""
    # "Who is the director of X": the innermost is the whole.
    return "" if inner == rest and not opening["property"] else inner
