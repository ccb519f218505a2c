"""An answer as claims: statements that can be true or false each by itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from citewell.checking.polarity import is_negated
from citewell.chunking.sentences import sentences
from citewell.generation.extractive import QUESTION_MARKS
from citewell.generation.reply import MARKER

OPENING = re.compile(r"^(?:\s*(?:[-*+•‣◦>#]+|\d{1,3}[.)]|\(?[a-z]\))\s+)+")
"""What marks a line as an item of a list, or as a heading."""

_EMPHASIS = re.compile(r"\*\*|__|`+")
# What is said about not knowing says nothing about the matter.
_DONT_KNOW = re.compile(
    r"""(?:(?:sorry|unfortunately),?\s+(?:but\s+)?)?
    (?: i\s+(?:do\s+not|don't|cannot|can't|could\s+not|couldn't)\s+(?:know|have|find|answer|say)\b
      | i(?:'m|\s+am)\s+(?:sorry|afraid|unable|not\s+(?:sure|able))\b
      | i\s+have\s+no\s+(?:information|idea|specific)\b
      | the\s+(?:\w+\s+)?(?:documents?|passages?|sources?|context)\s+do(?:es)?\s+not\s+
        (?:provide|contain|mention|include|specify|say|answer|cover)\b )""",
    re.IGNORECASE | re.VERBOSE,
)
_ANNOUNCES = re.compile(r"\b(?:follow\w*|steps?|these|those|below|here|include[sd]?|examples?|notes?)\b", re.IGNORECASE)
_SHORT_LEAD = 5  # words
_CLAUSE = re.compile(r",\s+(?:and|but|whereas|while)\s+(?=(\S+(?:\s+\S+){1,7}))", re.IGNORECASE)
_SUBJECT = re.compile(r"(?:the|a|an|it|they|this|these|he|she|we|you|its|their|all|each|every|no)\b", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|cannot|may|must|will|shall|should|does|do|did)\b", re.IGNORECASE
)
# A part of such a sentence may not say what the whole says.
_TIED = re.compile(
    r"\b(?:if|when|whenever|unless|until|because|although|though|that|whether|neither|either|between|provided)\b", re.I
)


def claims_of(text: str) -> tuple[str, ...]:
    """The statements of an answer, in order, without citations and list marks; () where it states nothing.

    Questions, "I don't know" and a line that only announces a list state nothing. A line without which the items say
    something else, for one with a negation, goes before each of them.
    """
    claims: list[str] = []
    lead = ""
    for line in (item for whole in text.replace("’", "'").splitlines() for item in _unrolled(whole)):
        is_item = OPENING.match(line) is not None
        bare = " ".join(_EMPHASIS.sub("", OPENING.sub("", MARKER.sub("", line))).split())
        if not any(sign.isalnum() for sign in bare):
            continue
        for sentence in [OPENING.sub("", bare[start:end]) for start, end in sentences(bare)]:
            if sentence.endswith(":"):
                lead = sentence if _is_part_of_items(sentence) else ""
                claims += [sentence] if re.search(r"\d", sentence) and not lead else []
            elif not sentence.endswith(QUESTION_MARKS):
                parts = [part for part in _parts(sentence) if not _DONT_KNOW.match(part)]
                claims += [f"{lead} {part}".strip() if is_item else part for part in parts]
        lead = lead if is_item or bare.endswith(":") else ""
    return tuple(claims)


def _unrolled(line: str) -> Iterator[str]:
    """The line, or what it lists within it: "1. Infection 2. Drugs"."""
    start = number = 0
    while (begins := re.compile(rf"(?<!\S){number + 1}[.)]\s").search(line, start)) is not None:
        yield line[start : begins.start()]
        start, number = begins.start(), number + 1
    yield line[start:]


def _is_part_of_items(lead: str) -> bool:
    """Whether the items say something else without it: `Not covered:`, `Renting offers:`."""
    return is_negated(lead) or (
        len(lead.split()) <= _SHORT_LEAD and not re.search(r"\d", lead) and not _ANNOUNCES.search(lead)
    )


def _parts(sentence: str) -> Iterator[str]:
    """The sentence, or its parts where each is a statement; a row of cells ("Fee: 15; Tax: 2") is one."""
    pieces = [piece for piece in re.split(r";\s+", sentence) if piece]
    if sum(": " in piece for piece in pieces) > 1 or _TIED.search(sentence):
        yield sentence
        return
    yield from _clauses(pieces)


def _clauses(pieces: Iterable[str]) -> Iterator[str]:
    for piece in pieces:
        start = 0
        for match in _CLAUSE.finditer(piece):
            if _SUBJECT.match(match[1]) and _VERB.search(match[1]) and _VERB.search(piece, start, match.start()):
                yield piece[start : match.start()]
                start = match.end()
        yield piece[start:]
