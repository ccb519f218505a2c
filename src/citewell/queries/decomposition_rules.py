"""A question taken apart by rule, for English: clauses first, then the periods it contrasts, then what it compares.

    clauses      "What is X and how much is Y?"                 each clause, with what all of them share
    periods      "How did X change between 2023 and 2024?"      one for each period
    comparison   "Which is larger, A or B?", "Are both A and B ...?"  one for each thing compared
    shared head  "the fee for A and for B"                      one for each

Every rule works on the words as they stand, so that names, codes, numbers and negations are copied, never rewritten. A
question that no rule takes apart is one question; so is one whose parts would lose a code, a number or a "not" of it.
A chain ("Who is the mother of the director of X?") is one question too: see `second_hop`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from citewell.queries.comparisons import compared
from citewell.queries.marks import marks, negations
from citewell.queries.periods import each_period, without_periods

MOST_PARTS = 4
LONGEST = 600
"""Characters of a question that the rules look at. A longer one is a text, and would take some rules too long."""

_WH = r"(?:what|which|who|whom|whose|when|where|why|how)\b"
_PREPOSED = r"(?:(?:for|in|at|by|on|to|from|within|under|after|of|with|up to|above|below|since|until)\s+)?"
_AUX = r"(?:is|are|was|were|do|does|did|can|could|may|might|must|shall|should|will|would|has|have|had)\b"
# What an inverted verb is followed by: without it, "and is closed" goes on with the same clause.
_SUBJECT = (
    r"(?:(?:the|an?|it|they|this|that|these|those|he|she|i|we|you|there|any|each|every|all|both|its|their|my|our)\b"
    r"|(?-i:[A-Z0-9]))"
)
_ASKING = rf"(?:{_PREPOSED}{_WH}|{_AUX}\s+{_SUBJECT})"
_OPENS = re.compile(_ASKING, re.IGNORECASE)
_BORDER = re.compile(
    rf"(?P<comma>[,;])?\s+(?:and|or|as\s+well\s+as)\s+(?:also\s+)?(?={_ASKING})"
    rf"|[;?]\s+(?:and\s+|also\s+)*(?={_ASKING})",
    re.IGNORECASE,
)
# "For how long and up to which amount does OV-9 apply": two things asked of one clause.
_TWO_ASKED = re.compile(
    rf"(?P<one>{_PREPOSED}{_WH}(?:\s+\w+)?)\s+and\s+(?P<other>{_PREPOSED}{_WH}(?:\s+\w+){{0,2}}?)\s+(?P<rest>{_AUX}.+)",
    re.IGNORECASE,
)
_RELATIVE = re.compile(r"(?:who|whom|whose|which|where|when)\b", re.IGNORECASE)
_IS_NAMED = re.compile(r"(?:is|are|was|were|has|have|had)\s+[A-Z0-9]")

_REQUEST = re.compile(
    r"(?:please\s+|(?:can|could|would)\s+you\s+(?:please\s+)?)?(?:tell\s+me|explain|describe|say|list|show\s+me"
    rf"|i\s+(?:want|need|would\s+like)\s+to\s+know)\s+(?={_PREPOSED}{_WH})",
    re.IGNORECASE,
)
_ASKS = re.compile(rf"{_ASKING}|{_REQUEST.pattern}|(?:what|compare|the\s+difference)\b", re.IGNORECASE)
_LEAD = re.compile(
    rf"(?:(?:for|in|under|with|on|at|given|after|before|as|if|when|by|during)\s+(?!{_WH}|{_AUX})[^?]*?,)\s+(?={_ASKING})",
    re.IGNORECASE,
)
_TAIL = re.compile(r",\s+(?:under|in|for|according\s+to|as\s+of|on|at|during|with|by)\s+[^,]+$", re.IGNORECASE)
_LEANS = re.compile(r"\b(?:it|its|they|them|their|this|these|those|he|him|his|she|her)\b", re.IGNORECASE)
_ASKED_OF = re.compile(rf"{_PREPOSED}{_WH}(?:\s+\S+){{0,3}}?\s+{_AUX}\s+|{_PREPOSED}{_WH}\s+|{_AUX}\s+", re.IGNORECASE)
_NAME = re.compile(r"\"[^\"]+\"|\b\w+-\d[\w-]*|\b\w*\d[\w-]*|\b\w+_\w+|(?<=\s)[A-Z][\w'-]*(?:\s+[A-Z0-9][\w'-]*)*")
_IS_CODE = re.compile(r"[A-Za-z].*[\d_]|[\d_].*[A-Za-z]")
_SHORT = 5  # words: with fewer and no name of its own, a clause speaks of what the first one does
# A clause of these alone asks nothing that can be looked up: "what is it", "and why".
_EMPTY = re.compile(
    r"(?:\s*\b(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|it|its|they|them|this|that"
    r"|these|those|so|not|and|then|to|of|much|many|the|an?)\b)*\W*",
    re.IGNORECASE,
)

_SHARED_PREPOSITION = re.compile(
    r"(?P<head>.+?\s)(?P<each>(?P<prep>for|of|in|with|on|at|by|from|under|to|during)\s.+?)"
    r"(?:,?\s+and\s+|,?\s+or\s+)(?P<other>(?P=prep)\s.+)",
    re.IGNORECASE,
)
_CODE = r"[A-Za-z]{1,4}[-\u2013 ]?\d[\w.-]*(?<=\w)"
_CODES = re.compile(rf"\b{_CODE}(?:,\s+{_CODE})*,?\s+(?:and|or)\s+{_CODE}", re.IGNORECASE)
_TWO_NOUNS = re.compile(
    rf"(?P<ask>{_WH}\s+(?:is|are|was|were)\s+)(?P<one>the\s+[^,]+?)\s+and\s+(?P<other>the\s+.+?)"
    r"(?P<shared>\s+(?:of|for|under|in)\s+.+)",
    re.IGNORECASE,
)


def split(question: str) -> tuple[str, ...]:
    """The parts of a question, two to four; () where it is one question."""
    whole = " ".join(question.split()).rstrip("?!. ")
    is_question = "?" in question or _ASKS.match(whole)
    if not is_question or len(whole) > LONGEST:
        return ()
    parts: list[str] = clauses(whole)
    for rule in (each_period, compared, _shared_head):
        parts = _taken_apart(parts, rule)
    texts = tuple(dict.fromkeys(f"{part}?" for part in parts if part.casefold() != whole.casefold()))
    return texts if len(texts) > 1 and _keep_all(whole, texts) else ()


def _taken_apart(parts: list[str], rule: Callable[[str], tuple[str, ...]]) -> list[str]:
    """Each part by the rule; unchanged where that would be more than may be searched."""
    found = [each for part in parts for each in (rule(part) or (part,))]
    return found if len(found) <= MOST_PARTS else parts


def _keep_all(question: str, parts: tuple[str, ...]) -> bool:
    together = " ".join(parts)
    return marks(question) <= marks(together) and negations(question) <= negations(together)


def clauses(question: str) -> list[str]:
    """The clauses that each ask something, with the lead-in and the end that they share; the question where it has one.

    A later clause that leans on the first ("who may release it"), or has no name where that one has a code, is given
    the names in it.
    """
    asked = _REQUEST.sub("", question, count=1) if _REQUEST.match(question) else question
    lead = _LEAD.match(asked)
    opening = lead[0] if lead else ""
    if together := _TWO_ASKED.fullmatch(asked):
        return [f"{asking} {together['rest']}" for asking in (together["one"], together["other"])]
    found = list(_borders(asked[len(opening) :]))
    if not 1 < len(found) <= MOST_PARTS:
        return [question]
    tail = _TAIL.search(found[-1])
    ending = tail[0] if tail else ""
    found[-1] = found[-1].removesuffix(ending)
    standing = [found[0], *(_standing_alone(clause, found[0]) for clause in found[1:])]
    return [f"{opening}{clause}{ending}" for clause in standing]


def _borders(text: str) -> Iterator[str]:
    """The clauses of a text that opens with one; what is no question of its own stays with the one before."""
    if not _OPENS.match(text):
        yield text
        return
    start = 0
    for border in _BORDER.finditer(text):
        clause, rest = text[start : border.start()], text[border.end() :]
        if _says_something(clause) and _says_something(_first(rest)) and not _goes_on(clause, border, rest):
            yield clause.rstrip("?,; ")
            start = border.end()
    yield text[start:].rstrip("?,; ")


def _first(rest: str) -> str:
    border = _BORDER.search(rest)
    return rest[: border.start()] if border else rest


def _goes_on(clause: str, border: re.Match[str], rest: str) -> bool:
    """Whether "and who ..." goes on with "customers who ..." and "and were Huguenots" with its verb: neither asks."""
    if border["comma"] or "?" in border[0]:
        return False
    word = _RELATIVE.match(rest)
    return bool(_IS_NAMED.match(rest) or (word and re.search(rf"\s{word[0]}\b", clause, re.IGNORECASE)))


def _says_something(clause: str) -> bool:
    return not _EMPTY.fullmatch(clause)


def _standing_alone(clause: str, first: str) -> str:
    names, undated = _NAME.findall(clause), without_periods(first)
    of_a_code = any(_IS_CODE.search(name) for name in _NAME.findall(undated))
    if not _LEANS.search(clause) and (names or (len(clause.split()) > _SHORT and not of_a_code)):
        return clause
    topic = ", ".join(name for name in _NAME.findall(undated) if name not in names)
    return f"{topic or _ASKED_OF.sub('', undated, count=1)}: {clause}"


def _shared_head(text: str) -> tuple[str, ...]:
    """ "the fee for A and for B", "R-17 and R-71", "the fee and the deadline for A": one for each."""
    if found := _CODES.search(text):
        codes = re.findall(_CODE, found[0], re.IGNORECASE)
        return tuple(f"{text[: found.start()]}{code}{text[found.end() :]}" for code in codes)
    if found := _SHARED_PREPOSITION.fullmatch(text):
        return (found["head"] + found["each"], found["head"] + found["other"])
    if found := _TWO_NOUNS.fullmatch(text):
        return tuple(f"{found['ask']}{noun}{found['shared']}" for noun in (found["one"], found["other"]))
    return ()
