"""Quoted replies in mails: which lines are the writer's own, and which an older message's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

REPLY = "Quoted reply"
FORWARDED = "Forwarded message"

_LONGEST_MARK = 500  # characters; a longer line begins no quotation
_ATTRIBUTION_LINES = 3
_HEADER_LINES = 6
_MARKED = re.compile(r"\s{0,3}>")
_MARKS = re.compile(r"^(?:\s{0,3}>)+ ?")
# With a date or an hour in it: "On Monday we wrote:" is a sentence.
_ATTRIBUTION = re.compile(
    r"(?:On|Le|El|Il|Em)\b(?=.*\d[:.h/-]\d\d).*\b(?:wrote|a\s+écrit|escribió|ha\s+scritto|escreveu)\s?:\s*$"
    r"|(?:Am|Op)\b(?=.*\d[:.h/-]\d\d).*\b(?:schrieb|schreef)\b.*:\s*$"
)
_ORIGINAL = re.compile(
    r"\s*[-_]{2,}\s*(?:original message|original appointment|ursprüngliche nachricht|ursprünglicher termin"
    r"|original-nachricht|message d['’]origine|message original|mensaje original|messaggio originale"
    r"|oorspronkelijk bericht|mensagem original)\s*[-_]{2,}\s*$",
    re.IGNORECASE,
)
_FORWARD = re.compile(
    r"\s*(?:-{2,}\s*(?:forwarded message|weitergeleitete nachricht|message transféré|mensaje reenviado"
    r"|messaggio inoltrato|doorgestuurd bericht)(?: from .*)?\s*-{2,}"
    r"|(?:begin forwarded message|anfang der weitergeleiteten nachricht|début du message (?:transféré|réexpédié))\s?:)"
    r"\s*$",
    re.IGNORECASE,
)
_RULE = re.compile(r"\s*_{10,}\s*$")
_FROM = re.compile(r"\s*\*?(?:from|von|de|da|van)\s?:\*?\s+\S", re.IGNORECASE)
_OTHER_HEADER = re.compile(
    r"\s*\*?(sent|date|to|cc|subject|gesendet|datum|an|betreff|envoyé|à|objet"
    r"|enviado|fecha|para|asunto|inviato|data|a|oggetto|verzonden|aan|onderwerp)\s?:\*?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Passage:
    """Text by one hand: `label` is "" for the writer's own, else REPLY or FORWARDED; it has no quotation marks left."""

    text: str
    label: str = ""


def passages(text: str) -> Iterator[Passage]:
    """The text in passages, in order."""
    lines = text.split("\n")
    end, label = quotation_start(lines)
    yield from _marked(lines[:end])
    if label:
        yield Passage("\n".join(_MARKS.sub("", line) for line in lines[end:]), label)


def quotation_start(lines: Sequence[str]) -> tuple[int, str]:
    """The line from which on all is quoted without a mark before each line, and its label; (their number, "") for none.

    Mail programs that write no `>` put the old message below a line or a block of headers.
    """
    for start, line in enumerate(lines):
        label = _label(lines, start) if line and len(line) <= _LONGEST_MARK else ""
        if not label:
            continue
        while start and (not lines[start - 1].strip() or _RULE.match(lines[start - 1])):
            start -= 1
        # With nothing of the writer's own above, the old message is what was sent.
        return start, label if start else FORWARDED
    return len(lines), ""


def _label(lines: Sequence[str], start: int) -> str:
    line = lines[start]
    if _FORWARD.match(line):
        return FORWARDED
    if _ORIGINAL.match(line) or (_FROM.match(line) and _is_header_block(lines[start + 1 : start + _HEADER_LINES])):
        return REPLY
    following = start + _attribution_length(lines[start : start + _ATTRIBUTION_LINES])
    if following == start:
        return ""
    while following < len(lines) and not lines[following].strip():
        following += 1
    return REPLY if following < len(lines) and not _MARKED.match(lines[following]) else ""


def _is_header_block(lines: Sequence[str]) -> bool:
    names = {found[1].lower() for line in lines if (found := _OTHER_HEADER.match(line))}
    return len(names) > 1


def _attribution_length(lines: Sequence[str]) -> int:
    """How many of the lines are one that says who wrote what follows; programs break it where it is long."""
    for length in range(1, len(lines) + 1):
        text = " ".join(line[:_LONGEST_MARK] for line in lines[:length])
        if text.rstrip().endswith(":") and _ATTRIBUTION.match(text):
            return length
    return 0


def _marked(lines: Sequence[str]) -> Iterator[Passage]:
    """Own lines and lines marked with `>`; the line that says who wrote them goes with the marked ones."""
    waiting: list[str] = []
    for is_marked, group in groupby(lines, key=lambda line: bool(_MARKED.match(line))):
        if not is_marked:
            waiting = list(group)
            continue
        own, attribution = _cut_attribution(waiting)
        yield Passage("\n".join(own))
        yield Passage("\n".join([*attribution, *(_MARKS.sub("", line) for line in group)]), REPLY)
        waiting = []
    yield Passage("\n".join(waiting))


def _cut_attribution(lines: list[str]) -> tuple[list[str], list[str]]:
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    for start in range(end - 1, max(end - 1 - _ATTRIBUTION_LINES, -1), -1):
        if _attribution_length(lines[start:end]) == end - start:
            return lines[:start], lines[start:end]
    return lines, []
