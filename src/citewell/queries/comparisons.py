"""Questions about two things at once: one query for each, with what is compared."""

from __future__ import annotations

import re

_SAME = re.compile(r"\b(?:same|both|different|share|alike|equal|identical)\b", re.IGNORECASE)
_OR = re.compile(
    r"(?P<asked>(?:which|who|what|whose|where|when)\b[^,]*?),\s*(?P<one>.+?),?\s+or\s+(?P<other>.+)", re.IGNORECASE
)
_OUT_OF = re.compile(
    r"(?P<asked>(?:which|who|what|whose)\b.*\b(?:\w+er|\w+est|first|last|more|most|less|least)(?:\s+\w+)?),?\s+"
    r"(?:out\s+of|between|among)\s+(?P<one>.+?)\s+and\s+(?P<other>.+)",
    re.IGNORECASE,
)
_DIFFERENCES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?:what\s+(?:is|are)\s+)?(?:the\s+)?(?:\w+\s+)?differences?\s+between\s+(?P<one>.+?)\s+and\s+(?P<other>.+)",
        r"how\s+do(?:es)?\s+(?P<one>.+?)\s+(?:compare\s+(?:to|with)|differ\s+from)\s+(?P<other>.+)",
        r"how\s+do\s+(?P<one>.+?)\s+and\s+(?P<other>.+?)\s+(?:differ|compare)",
        r"compare\s+(?P<one>.+?)\s+(?:and|to|with)\s+(?P<other>.+)",
    )
)
_AGREES = re.compile(
    r"(?:is|are|was|were|do|does|did)\s+(?P<one>.+?)\s+(?:agree\s+with|match(?:es)?|differ(?:ent)?\s+from"
    r"|contradict|conflict\s+with|correspond\s+to|comply\s+with|consistent\s+with|equal\s+to|the\s+same\s+as"
    r"|(?:\w{2,}er|more|less|more\s+\w+|less\s+\w+)\s+than)\s+(?P<other>.+)",
    re.IGNORECASE,
)
_BOTH = re.compile(
    r"(?:is|are|was|were|do|does|did|have|has)\s+(?:both\s+)?(?P<one>.+?)\s+and\s+(?P<other>.+?)"
    r"(?P<said>,?\s+(?:both\b|have\b|has\b|share\b|come\b|located\b|situated\b|from\b|in\s+the\s+same\b"
    r"|of\s+the\s+same\b|the\s+same\b|a\s+\w+|born\b|made\b|based\b|cost\b|use\b|need\b|belong\b|apply\b).*)",
    re.IGNORECASE,
)
_WITHOUT_SAME = re.compile(r"^,\s*|\b(?:both|the same|same)\s+", re.IGNORECASE)
# "films A", "directors of films A": what the things are, said once for both.
_KIND = re.compile(r"(?P<kind>(?:(?:the\s+)?[a-z]+s\s+of\s+(?:the\s+)?)?[a-z]+s),?\s+(?=[A-Z0-9\"])")
_PREPOSITION = re.compile(r"(?:for|of|in|with|on|at|under|to)\s", re.IGNORECASE)


def compared(text: str) -> tuple[str, ...]:
    """The text once for each of the two things that it compares; () where it compares nothing."""
    for either_or in (_OR, _OUT_OF):
        if found := either_or.fullmatch(text):
            return tuple(f"{found['asked']}, {thing}" for thing in (found["one"], found["other"]))
    for difference in (*_DIFFERENCES, _AGREES):
        if found := difference.fullmatch(text):
            return (found["one"], _with_head(found["other"], found["one"]))
    if _SAME.search(text) and (found := _BOTH.fullmatch(text)):
        return _both(found)
    return ()


def _with_head(other: str, one: str) -> str:
    """ "for B" beside "the fee for A" is "the fee for B"."""
    preposition = _PREPOSITION.match(other)
    head = one.casefold().find(f" {preposition[0].casefold()}") if preposition else -1
    return f"{one[:head]} {other}" if head > 0 else other


def _both(found: re.Match[str]) -> tuple[str, ...]:
    kind = _KIND.match(found["one"])
    first = found["one"][kind.end() :] if kind else found["one"]
    said = _WITHOUT_SAME.sub("", found["said"].strip())
    prefix = f"{kind['kind']} " if kind else ""
    return tuple(f"{prefix}{thing.rstrip(',')} {said}" for thing in (first, found["other"]))
