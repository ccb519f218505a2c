"""Sentences by the rules of Unicode Standard Annex 29, with abbreviations and numbers held together.

Two departures from the annex. Its rule SB8 lets a full stop before a digit end no sentence; here it does, unless an
abbreviation stands before it ("No. 5"). And where the writing has no sentence marks (Thai, Lao), a space between two
of its letters is taken as the end. One pass of a compiled expression finds the candidates, because the annex itself
in pure Python reads 10 to 30 kB a second.
"""

from __future__ import annotations

import regex

_ITEM = r"(?: [-*•–▪◦‣·] | \(?\p{L}\) | \(?\d{1,3}[.)] ) \s"
# The tail of a candidate: closing brackets and quotes. “ closes in German, but opens in Chinese right after a mark.
_CANDIDATE = regex.compile(
    rf"""
    (?P<mark> [\p{{SB=STerm}}\p{{SB=ATerm}}]+ ) (?: [\p{{Pe}}\p{{Pf}}"'] | “(?=\s|$) )* (?P<gap> \s* )
    | \n [^\S\n]* \n \s*  # a blank line
    | [\u2029\f] \s*
    | \n (?= [^\S\n]* {_ITEM} )
    | (?<= [\p{{Thai}}\p{{Lao}}] ) \s+ (?= [\p{{Thai}}\p{{Lao}}] )
    """,
    regex.VERBOSE,
)
_LIST_ITEM = regex.compile(_ITEM, regex.VERBOSE)
_BLANK_LINE = regex.compile(r"\n[^\S\n]*\n")
_WORD_BEFORE = regex.compile(r"[\p{L}\p{M}\p{N}.]+\Z")
_LOWER = regex.compile(r"[\p{Ps}\p{Pi}„\"'¿¡]*\p{Ll}")
_INSIDE_GRAPHEME = regex.compile(r"[\p{GCB=EX}\p{GCB=SM}\p{GCB=ZWJ}]")
_GOES_ON = regex.compile(r"[\p{SB=SContinue}\p{SB=STerm}\p{SB=ATerm}]")
_INITIALS = regex.compile(r"[\p{Lu}\p{Ll}]|(?:\p{L}{1,2}\.)+\p{L}{1,2}")
_NUMBER = regex.compile(r"\d+(?:\.\d+)*")
# Not A and I: "The answer is no. I was told so."
_NUMERAL = regex.compile(r"\d|[IVXLC]{2,}\b|[B-HJ-Z]\b")
_MONTH = regex.compile(
    r"(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b"
)

# Followed by more of the same sentence, whatever comes next.
_ABBREVIATION = regex.compile(
    r"""
    dr | mrs? | ms | messrs | prof | st | sgt | capt | lt | vs | cf | viz | approx | incl | excl | resp | dept | dott
    | ca | bzw | vgl | inkl | exkl | zzgl | ggf | evtl | sog | hr | hrsg | geb | mme | mlle | mgr | sra? | srta | avv
    """,
    regex.VERBOSE | regex.IGNORECASE,
)
# Held together with a number that follows.
_NUMBERED = regex.compile(
    r"""
    nos? | nrn? | n[uú]m | nº | n | arts? | abs | sect? | ss? | paras? | par | figs? | tab | vols? | ch | chap | pp?
    | pg | eq | refs? | kap | ziff | bd | rn | cap | p[aá]gs? | lit | anm | vers? | rev | cl | anl | est
    """,
    regex.VERBOSE | regex.IGNORECASE,
)


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans [start, end) of the sentences of `text`, in order, without the white space around them.

    Together they hold every character that is not white space. No border falls inside a grapheme cluster.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for candidate in _CANDIDATE.finditer(text):
        if _ends(text, start, candidate):
            _append(spans, text, start, candidate.end())
            start = candidate.end()
    _append(spans, text, start, len(text))
    return spans


def _append(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    bare = piece.strip()
    if bare:
        start += len(piece) - len(piece.lstrip())
        spans.append((start, start + len(bare)))


def _ends(text: str, sentence_start: int, candidate: regex.Match[str]) -> bool:
    end = candidate.end()
    if end == len(text):
        return True
    if _INSIDE_GRAPHEME.match(text, end):
        return False
    mark, gap = candidate["mark"], candidate["gap"]
    if mark is None or _BLANK_LINE.search(gap) or ("\n" in gap and _LIST_ITEM.match(text, end)):
        return True
    if not gap:
        # "4.2", "page?id=3": only the marks of scripts that write without spaces end a sentence here.
        return (
            mark[-1] not in ".!?" and not (mark[-1] == "．" and text[end].isdigit()) and not _GOES_ON.match(text, end)
        )
    if _LOWER.match(text, end) or ("\n" not in gap and _GOES_ON.match(text, end)):
        return False
    return mark != "." or not _belongs_to_word(text, sentence_start, candidate.start(), end)


def _belongs_to_word(text: str, sentence_start: int, stop: int, following: int) -> bool:
    """Whether the full stop at `stop` is part of an abbreviation, a date or a section number."""
    found = _WORD_BEFORE.search(text, max(sentence_start, stop - 24), stop)
    if found is None:
        return False
    word = found.group()
    if _INITIALS.fullmatch(word) or _ABBREVIATION.fullmatch(word):
        return True
    if _NUMBERED.fullmatch(word):
        return _NUMERAL.match(text, following) is not None
    if _NUMBER.fullmatch(word):
        opens_line = not text[sentence_start : found.start()].rpartition("\n")[2].strip()
        return opens_line or _MONTH.match(text, following) is not None
    return False
