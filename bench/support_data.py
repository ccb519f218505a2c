"""Sentences of the running example, as they stand and with one thing made wrong, each beside the chunk that it is of.

The kinds of fault, scripted: a digit of a figure is another, a negation comes or goes, a name is another one that the
documents have, a date is another day or month, a unit is another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bank import BANK

from citewell import Settings
from citewell.checking.dates import dates
from citewell.checking.exact import facts_of
from citewell.chunking.pipeline import chunk
from citewell.generation.units import units
from citewell.loading import AccessRules, discover, load
from citewell.models.embedder import Embedder
from citewell.types import Chunk

READ = (
    "manual/fraud-policy-manual-2026.pdf",
    "procedures/dispute-handling-procedures.docx",
    "public/branch-hours.html",
)
FEWEST_WORDS = 5
ALIKE = 3  # letters that two forms of one name share
COPIED = "copied"

_FIGURE = re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)*(?![\w-])")
_DIGIT = re.compile(r"\d")
_UNITS = {
    "days": "hours", "day": "hour", "hours": "days", "minutes": "hours", "months": "weeks", "weeks": "days",
    "years": "months", "EUR": "USD", "€": "$", "%": " EUR", "per cent": "EUR",
}  # fmt: skip
_UNIT = re.compile(r"(?<=\d )(?:days|day|hours|minutes|months|weeks|years|per cent)\b|(?<=\d)\s?%|EUR(?= \d)|€(?=\d)")
_NEGATED = re.compile(
    r"\b(?:is|are|may|must|can|does|do|has|will) not\b|\bcannot\b|\bno (?!more|less|later|longer)(?=[a-z])|\bnever "
)
_AFFIRMED = re.compile(r"\b(?:is|are|may|must|can|will|has)\b")
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October")


@dataclass(frozen=True, slots=True)
class Case:
    """A sentence that cites `quote` of a chunk, what was made wrong of it, and the half of the chunks that it is of."""

    sentence: str
    quote: str
    passage: str
    kind: str
    half: int


def cases(embedder: Embedder) -> list[Case]:
    """All sentences of some words, each once as it is, and once for every kind of fault that it can have."""
    quotes: dict[str, tuple[int, Chunk]] = {}
    for number, each in enumerate(_chunks(embedder)):
        for quote in _sentences(each):
            quotes.setdefault(quote, (number, each))
    names = sorted({name for quote in quotes for name in facts_of(quote).names if name.isalpha()})
    return [
        Case(sentence, quote, passage_of(each), kind, number % 2)
        for quote, (number, each) in quotes.items()
        for kind, sentence in {COPIED: quote, **_faulty(quote, names)}.items()
    ]


def passage_of(each: Chunk) -> str:
    """A chunk under what stands above it, as a sentence about it may repeat that."""
    above = (each.title, " > ".join(each.heading_path), each.preamble)
    return "\n\n".join(part for part in (*above, each.text) if part)


def _chunks(embedder: Embedder) -> Iterator[Chunk]:
    settings, rules = Settings(), AccessRules()
    for file in discover([BANK / "documents" / name for name in READ]).files:
        document = load(file, settings.loading, rules.rules_for(file.path)).document
        yield from chunk(document, settings.chunking, embedder).chunks


def _sentences(of: Chunk) -> Iterator[str]:
    for unit in units(of):
        text = of.text[unit.start - of.start : unit.end - of.start]
        is_sentence = text.endswith(".") and "|" not in text and "..." not in text
        if is_sentence and not unit.is_fragment and len(text.split()) >= FEWEST_WORDS:
            yield " ".join(text.split())


def _faulty(sentence: str, names: Sequence[str]) -> dict[str, str]:
    makers: dict[str, Callable[[str], str]] = {
        "number": _with_another_number,
        "negation": _negated,
        "name": lambda text: _with_another_name(text, names),
        "date": _with_another_date,
        "unit": _with_another_unit,
    }
    made = {kind: make(sentence) for kind, make in makers.items()}
    return {kind: text for kind, text in made.items() if text != sentence}


def _with_another_number(text: str) -> str:
    """The first digit of the first figure that is in no date and no code is one more."""
    days = dates(text)
    for figure in _FIGURE.finditer(text):
        if not any(day.start <= figure.start() < day.end for day in days):
            return _digit_moved(text, figure.start())
    return text


def _digit_moved(text: str, at: int) -> str:
    digit = int(text[at]) % 9 + 1
    return f"{text[:at]}{digit}{text[at + 1 :]}"


def _negated(text: str) -> str:
    """Without its negation, or with one."""
    if found := _NEGATED.search(text):
        kept = found[0].replace("cannot", "can").replace(" not", "").replace("no ", "a ").replace("never ", "")
        return f"{text[: found.start()]}{kept}{text[found.end() :]}"
    return _AFFIRMED.sub(lambda found: f"{found[0]} not", text, count=1)


def _with_another_name(text: str, names: Sequence[str]) -> str:
    mine = [name for name in facts_of(text).names if name.isalpha()]
    if not mine:
        return text
    at = names.index(mine[0]) if mine[0] in names else 0
    other = next(name for name in (*names[at + 1 :], *names) if name not in text and name[:ALIKE] != mine[0][:ALIKE])
    return re.sub(rf"(?<!\w){re.escape(mine[0])}(?!\w)", other, text)


def _with_another_date(text: str) -> str:
    """The next month where it is named, or else another digit of the day."""
    for day in dates(text):
        written = text[day.start : day.end]
        for month, following in pairwise(_MONTHS):
            if month in written:
                return text[: day.start] + written.replace(month, following) + text[day.end :]
        digit = next(_DIGIT.finditer(written))
        return _digit_moved(text, day.start + digit.start())
    return text


def _with_another_unit(text: str) -> str:
    return _UNIT.sub(lambda found: _UNITS[found[0].strip()], text, count=1)
