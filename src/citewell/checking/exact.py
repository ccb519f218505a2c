"""What of a claim must stand in its source as it is: figures, dates, codes and names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from citewell.checking.dates import Date, dates
from citewell.checking.figures import Figure, figures
from citewell.checking.wording import normal, only_asks
from citewell.retrieval.analyser import analyse
from citewell.retrieval.codes import lumps_of
from citewell.retrieval.words import fold

# Letters before a digit, or capitals after one: not 20th, 25kg, 1990s, 120-day, 3-year-old.
_CODE = re.compile(r"(?=[^\W\d_]+[-./&]?\d)[\w./&-]+|\d[\d.:]*-?[A-Z]{1,4}(?:-?\d+)*|\d+[-./][A-Z][\w-]*")
_NOT_CODE = re.compile(r"(?i)\d+(?:st|nd|rd|th|s|am|pm|k|m|bn|gb|mb|kb|tb|km|kg)|[a-z]+\d{4}|[ap]m\d*")
_SPACELESS = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_TOKEN = re.compile(r"[^\W\d_](?:[\w'&]|-(?=\w)|\.(?=[^\W\d_]))*")
_ACRONYM = re.compile(r"(?<=\()[A-Z]{2,6}(?=s?\))")
# "Tech Support Scams: ..." names what follows.
_LABEL = re.compile(r"[^:.!?]{1,60}:\s")
_ENDS = re.compile(r"[.!?:;•*#\n\"“(–-]\s*\Z")
_GERMAN_WORDS = """
der die das den dem des ein eine und oder nicht kein keine ist sind wird werden kann können muss müssen
für mit auf im zu von
"""
_GERMAN = frozenset(_GERMAN_WORDS.split())
_CALENDAR = """
january february march april may june july august september october november december
monday tuesday wednesday thursday friday saturday sunday
"""
_MONTHS_AND_DAYS = frozenset(_CALENDAR.split())
_LONGEST_ACRONYM = 6
_LONGEST_EXPLAINED = 120  # characters of the words that an acronym stands for
_STEM, _ENDING = 4, 2  # letters of a name in another form: those that stay, and those that may change


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a text. `figures` are those outside of `dates`; `names` are words, each as it is written."""

    figures: tuple[Figure, ...]
    dates: tuple[Date, ...]
    codes: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """What facts are looked up in: a text's figures (those of its dates, too), dates and words."""

    figures: tuple[Figure, ...]
    dates: tuple[Date, ...]
    words: frozenset[str]
    initials: frozenset[str]


def facts_of(text: str) -> Facts:
    """The facts of a claim. An acronym that it explains itself, as in "blood pressure (BP)", is no name."""
    text = normal(text)
    found, codes = dates(text), list(_codes(text))
    taken = [(date.start, date.end) for date in found] + [span for _, span in codes]
    free = [
        figure
        for figure in figures(text)
        if not figure.is_loose and all(figure.start >= end or figure.end <= start for start, end in taken)
    ]
    own = {match[0] for match in _ACRONYM.finditer(text) if _is_explained(match)}
    in_codes = {part for code, _ in codes for part in code.split("-")}
    names = [name for name in _names(text) if name not in own | in_codes]
    return Facts(tuple(free), tuple(found), tuple(code for code, _ in codes), tuple(names))


def source_of(texts: Sequence[str]) -> Source:
    """What the texts hold together."""
    normals = [normal(text) for text in texts]
    words = frozenset(word for text in normals for word in (*analyse(text), *map(joined, lumps_of(text))))
    return Source(
        tuple(figure for text in normals for figure in figures(text)),
        tuple(date for text in normals for date in dates(text)),
        words,
        frozenset(letters for text in normals for letters in _initials(text)),
    )


def missing_figures(facts: Facts, source: Source) -> tuple[Figure, ...]:
    """The figures that the source does not hold."""
    return tuple(figure for figure in facts.figures if not holds(source, figure))


def missing_words(facts: Facts, source: Source) -> tuple[str, ...]:
    """The dates, codes and names that the source does not hold."""
    days = (str(date) for date in missing_dates(facts, source))
    return (*days, *missing_codes(facts, source), *missing_names(facts, source))


def missing_dates(facts: Facts, source: Source) -> tuple[Date, ...]:
    """The dates that the source does not hold."""
    return tuple(date for date in facts.dates if not holds_date(source, date))


def missing_codes(facts: Facts, source: Source) -> tuple[str, ...]:
    """The codes that the source does not hold, as they are written."""
    return tuple(code for code in facts.codes if joined(code) not in source.words)


def missing_names(facts: Facts, source: Source) -> tuple[str, ...]:
    """The names that the source does not hold, as they are written."""
    return tuple(name for name in facts.names if not holds_name(source, name))


def holds(source: Source, figure: Figure) -> bool:
    """Whether the source holds the figure."""
    return any(figure.agrees(other) for other in source.figures)


def holds_date(source: Source, date: Date) -> bool:
    """Whether one date says it; or the day and the month stand in one place and the year in another."""
    if any(date.within(other) for other in source.dates):
        return True
    day = Date(0, date.month, date.day, 0, 0)
    year = Figure(frozenset({str(date.year)}), "", 0, 0)
    has_day = any(day.within(other) for other in source.dates if not other.year)
    return bool(date.year) and has_day and holds(source, year)


def holds_name(source: Source, name: str) -> bool:
    """Whether a word of a name is there, in another form (America, American), or by its initials."""
    plain = fold(name).replace(".", "").removesuffix("'s")
    if not source.words.isdisjoint((*analyse(name), plain)):
        return True
    if name.rstrip("s").isupper():
        return plain.rstrip("s") in source.words or plain.rstrip("s") in source.initials
    stem = plain[:-_ENDING]
    return len(stem) >= _STEM and any(word.startswith(stem) and len(word) <= len(plain) + 1 for word in source.words)


def _codes(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    at = 0
    for lump in lumps_of(text):
        at = text.index(lump, at)
        if _CODE.fullmatch(lump) and not _NOT_CODE.fullmatch(lump) and not _SPACELESS.search(lump):
            yield lump, (at, at + len(lump))
        at += len(lump)


def joined(lump: str) -> str:
    """A code without its signs, as it stands among the words of a source."""
    return re.sub(r"[\W_]", "", fold(lump))


def _names(text: str) -> Iterator[str]:
    """Capitalised words that do not merely begin a sentence; none of a heading, or of German, where all nouns are."""
    label = _LABEL.match(text)
    tokens = [token for token in _TOKEN.finditer(text) if label is None or token.start() >= label.end()]
    long = [token[0] for token in tokens if len(token[0]) > 3]
    is_heading = len(long) > 4 and sum(word[0].isupper() for word in long) > 0.7 * len(long)
    is_german = len(_GERMAN.intersection(token[0].casefold() for token in tokens)) >= 2
    if is_heading or is_german or text.isupper():
        return
    for token in tokens:
        shouts = len(token[0]) > 1 and token[0].isupper()
        if shouts or not _begins(text, token.start()):
            # Of "Berlin-based" Berlin.
            yield from (part for part in token[0].split("-") if _may_be_name(part))


def _begins(text: str, at: int) -> bool:
    before = text[max(0, at - 4) : at]
    return not before.strip() or _ENDS.search(before) is not None


def _may_be_name(word: str) -> bool:
    plain = word.isalpha() or "." in word or "'" in word
    return plain and word[:1].isupper() and word.casefold() not in _MONTHS_AND_DAYS and not only_asks(word)


def _initials(text: str) -> Iterator[str]:
    """What acronyms of words in a row would be: two letters of capitalised words, more of any, small words or not."""
    words = re.findall(r"[^\W\d_][\w']*", text)
    for some in (words, [word for word in words if word not in ("of", "and", "the", "for", "de", "la")]):
        letters = "".join(word[0] for word in some)
        yield from (pair.casefold() for pair in map("".join, pairwise(letters)) if pair.isupper())
        for length in range(3, _LONGEST_ACRONYM + 1):
            yield from (letters[at : at + length].casefold() for at in range(len(letters) - length + 1))


def _is_explained(acronym: re.Match[str]) -> bool:
    before = acronym.string[max(0, acronym.start() - _LONGEST_EXPLAINED) : acronym.start()]
    words = re.findall(r"[^\W\d_][\w']*", before)[-len(acronym[0]) :]
    return "".join(word[0] for word in words).casefold() == acronym[0].casefold()
