"""Passages that say different things about the same: reported with where each is from, never averaged.

Two statements of two documents conflict if they say the same of what is asked but for a figure, a date or a negation,
and there is a day on which both documents are in force. Two editions of which one follows the other do not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import combinations

from citewell.checking.dates import Date, undated
from citewell.checking.disagreement import Conflict, Kind, Said
from citewell.checking.exact import facts_of
from citewell.checking.figures import Figure
from citewell.checking.polarity import Stand, stand_of
from citewell.checking.wording import normal, telling
from citewell.generation.extractive import units_to_quote
from citewell.generation.units import Unit
from citewell.retrieval.analyser import analyse
from citewell.retrieval.floor import named_codes
from citewell.types import Chunk, Document, Hit

ASKED = 0.5
"""The least share of the question's words that a statement holds, with the headings above it, to be about it."""

SAME = 0.8
"""The least share of words that two statements have in common, their figures and dates left out."""

FEWEST = 2  # words of a statement, or nearly anything says the same

MAX_STATEMENTS = 12
"""Of a passage, those that hold most of the question's words."""

DocumentOf = Callable[[Chunk], Document | None]
"""The version of its document that a passage is of."""

_YEAR = re.compile("(?:19|20)[0-9]{2}")


@dataclass(frozen=True, slots=True)
class _Statement:
    """`said` is all of it, whatever its spelling; `words` are its words without figures and dates, `asked` those of
    them that the question has.

    `codes` are case-folded, `dates` have the bare years as well.
    """

    passage: Chunk
    unit: Unit
    said: tuple[str, ...]
    words: frozenset[str]
    asked: frozenset[str]
    codes: frozenset[str]
    figures: tuple[Figure, ...]
    dates: tuple[Date, ...]
    stand: Stand


def conflicts(question: str, hits: Sequence[Hit], document_of: DocumentOf) -> tuple[Conflict, ...]:
    """Where the hits, best first, contradict each other about what is asked; of each two documents the first place, and
    of those that say the same, as copies do, the first documents."""
    asked, codes = frozenset(telling(question)), named_codes(question)
    passages = {hit.passage.id: hit.passage for hit in hits}
    if len({passage.document_id for passage in passages.values()}) < 2:
        return ()
    found = [statement for passage in passages.values() for statement in _about(asked, codes, passage)]
    says = {(each.passage.document_id, each.said) for each in found}
    edition = _loaded_once(document_of)
    told = set[frozenset[str]]()
    made: dict[frozenset[tuple[str, ...]], Conflict] = {}
    for one, other in combinations(found, 2):
        documents = frozenset((one.passage.document_id, other.passage.document_id))
        if len(documents) < 2 or documents in told or (kind := _difference(one, other)) is None:
            continue
        if (one.passage.document_id, other.said) in says or (other.passage.document_id, one.said) in says:
            continue  # a document does not contradict itself, nor its copy
        mine, theirs = edition(one.passage), edition(other.passage)
        if mine is not None and theirs is not None and _in_force_together(mine, theirs):
            told.add(documents)
            made.setdefault(frozenset((one.said, other.said)), Conflict(kind, _said(one, mine), _said(other, theirs)))
    return tuple(made.values())


def _loaded_once(document_of: DocumentOf) -> DocumentOf:
    """A question may be about two days, and so find two versions of a document."""
    known: dict[tuple[str, str], Document | None] = {}

    def edition(passage: Chunk) -> Document | None:
        key = (passage.document_id, passage.version)
        if key not in known:
            known[key] = document_of(passage)
        return known[key]

    return edition


def _about(asked: frozenset[str], named: frozenset[str], passage: Chunk) -> Iterator[_Statement]:
    """The statements of a passage that are about the question, those first that hold most of its words. Where it names
    codes, they hold one."""
    above = frozenset(analyse(f"{passage.title} {passage.section} {passage.preamble}"))
    shares = []
    for unit in units_to_quote(passage):
        held = above.union(analyse(f"{unit.context} {unit.shown}"))
        if not unit.is_fragment and not (named and named.isdisjoint(held)):
            shares.append((_share(asked, held), unit))
    about = sorted((each for each in shares if each[0] >= ASKED), key=lambda each: -each[0])
    for _, unit in about[:MAX_STATEMENTS]:
        words = frozenset(
            word for word in telling(undated(normal(unit.shown))) if not any(sign.isdigit() for sign in word)
        )
        if len(words) >= FEWEST:
            facts = facts_of(unit.shown)
            codes = frozenset(code.casefold() for code in facts.codes)
            years = (Date(year, 0, 0, 0, 0) for figure in facts.figures if (year := _year(figure)) is not None)
            figures = tuple(figure for figure in facts.figures if _year(figure) is None)
            days = (*facts.dates, *years)
            said, stand = tuple(analyse(unit.shown)), stand_of(unit.shown)
            yield _Statement(passage, unit, said, words, words & asked, codes, figures, days, stand)


def _share(asked: frozenset[str], held: frozenset[str]) -> float:
    return len(asked & held) / len(asked) if asked else 0.0


def _year(figure: Figure) -> int | None:
    """The year that a bare number may be."""
    value = min(figure.values, key=len)
    return int(value) if not figure.unit and _YEAR.fullmatch(value) else None


def _difference(one: _Statement, other: _Statement) -> Kind | None:
    """In what they differ who say the same otherwise; None where in nothing, or each speaks of a day of its own."""
    if one.codes != other.codes or one.asked != other.asked:
        return None
    if len(one.words & other.words) < SAME * len(one.words | other.words):
        return None
    figures, days = _figures_differ(one.figures, other.figures), _dates_differ(one.dates, other.dates)
    if figures and days:
        return None
    if figures or days:
        return Kind.FIGURE if figures else Kind.DATE
    return Kind.NEGATION if _turns(one.stand, other.stand) or _turns(other.stand, one.stand) else None


def _figures_differ(some: Sequence[Figure], others: Sequence[Figure]) -> bool:
    """Whether each has a figure that the other lacks, of the same unit. What only one adds is no contradiction."""
    mine = [figure for figure in some if not any(figure.agrees(each) for each in others)]
    theirs = [figure for figure in others if not any(figure.agrees(each) for each in some)]
    return any(one.unit == other.unit for one in mine for other in theirs)


def _dates_differ(some: Sequence[Date], others: Sequence[Date]) -> bool:
    mine = [day for day in some if not any(_meets(day, each) for each in others)]
    theirs = [day for day in others if not any(_meets(day, each) for each in some)]
    return bool(mine and theirs)


def _meets(one: Date, other: Date) -> bool:
    return one.within(other) or other.within(one)


def _turns(one: Stand, other: Stand) -> bool:
    """Whether the other denies what one affirms, and one denies nothing."""
    return (other.denies and not one.denies) or (
        not one.negated and bool((one.affirmed & other.negated) - other.affirmed)
    )


def _in_force_together(one: Document, other: Document) -> bool:
    """Whether there is a day on which both are; without dates a document always is."""
    begins = max((day for day in (one.valid_from, other.valid_from) if day is not None), default=date.min)
    ends = min((day for day in (one.valid_to, other.valid_to) if day is not None), default=date.max)
    return begins <= ends


def _said(statement: _Statement, document: Document) -> Said:
    unit = statement.unit
    days = (document.valid_from, document.valid_to)
    return Said(document.id, unit.start, unit.end, unit.shown, document.title, document.source, *days)
