"""Where the statements that say what a claim says have something else in its place: a figure, a code, a negation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from citewell.checking.alignment import share, words_of
from citewell.checking.dates import Date, undated
from citewell.checking.exact import Facts, facts_of, holds_date, holds_name, joined, source_of
from citewell.checking.figures import Figure, figures, span, written
from citewell.checking.polarity import Stand, against, negations, stand_of
from citewell.checking.reading import Statement
from citewell.checking.wording import normal, telling
from citewell.retrieval.analyser import analyse

FEWEST = 2
"""Words that tell what a fact is about."""

FEWEST_ABOUT_A_NAME = 3

SAME = 0.6
"""The share of a claim's words in a statement that says the same, or the opposite."""

COPY = 0.8
"""The share of a statement's words in a claim that differs from it by a fact or a negation, if by anything."""

NEGATES, AFFIRMS, OPPOSES = "negates what the passage says", "says what the passage negates", "says the opposite"


@dataclass(frozen=True, slots=True)
class _Said:
    """A claim or a statement: its text in one spelling, its facts, and the words (stems) that are no part of these.

    `about` are those that are no names either. `figures` are all, those of dates, too.
    """

    text: str
    facts: Facts
    figures: tuple[Figure, ...]
    rest: frozenset[str]
    about: frozenset[str]


def contrast(claim: str, near: Sequence[Statement]) -> str:
    """What a claim says otherwise than the statements near to it, in a line for a reader; "" where nothing.

    Of the statements that say the rest of the claim, the one that says least besides decides. Of two that say as little
    one may differ, as another edition does.
    """
    mine, found = _said(claim), list[tuple[float, str]]()
    for statement in near:
        says_rest = len(mine.rest) >= FEWEST and statement.words.issuperset(mine.rest)
        if says_rest or (len(mine.about) >= FEWEST_ABOUT_A_NAME and statement.words.issuperset(mine.about)):
            theirs = _said(statement.text)
            likeness = share(sorted(theirs.rest), mine.rest)
            is_copy = says_rest and likeness >= COPY
            others = chain(_other_facts(mine, theirs, is_copy=is_copy) if says_rest else (), _other_names(mine, theirs))
            found.append((-likeness, next(others, _turned_copy(mine, theirs) if is_copy else "")))
    told = min(found)[1] if found else ""
    return told or _turned(claim, near)


def _said(text: str) -> _Said:
    text = normal(text)
    facts, found = facts_of(text), figures(text)
    bare = text
    for start, end in sorted((span(figure, text) for figure in found if not figure.is_loose), reverse=True):
        bare = f"{bare[:start]} {bare[end:]}"
    rest = [word for word in telling(undated(bare)) if not any(sign.isdigit() for sign in word)]
    named = {stem for name in (*facts.names, *_first_names(text, facts)) for stem in analyse(name)}
    return _Said(text, facts, tuple(found), frozenset(rest), frozenset(rest) - named)


def _first_names(text: str, facts: Facts) -> list[str]:
    """The first word of a text where a name follows: any sentence may begin with a capital."""
    first, _, following = text.partition(" ")
    return [first] if first[:1].isupper() and facts.names and following.startswith(facts.names[0]) else []


def _other_facts(mine: _Said, theirs: _Said, *, is_copy: bool) -> Iterator[str]:
    """The figures, dates and codes of a claim in whose place a statement has others."""
    held = source_of([theirs.text])
    yield from _other_figures(mine, theirs, is_copy=is_copy)
    for date in mine.facts.dates:
        days = (day for day in theirs.facts.dates if not any(each.within(day) for each in mine.facts.dates))
        if not holds_date(held, date) and (day := next(days, None)):
            yield _says(_slice(mine.text, date), _slice(theirs.text, day))
    for code in mine.facts.codes:
        alike = (each for each in theirs.facts.codes if _shape(each) == _shape(code))
        instead = next((each for each in alike if each not in mine.facts.codes), "")
        if instead and joined(code) not in held.words:
            yield _says(code, instead)


def _other_names(mine: _Said, theirs: _Said) -> Iterator[str]:
    """The names of a claim, where the statement does not have one of them and has another."""
    held = source_of([theirs.text])
    missing = [name for name in mine.facts.names if not holds_name(held, name)]
    own = source_of([mine.text]) if missing else held
    names = [each for each in theirs.facts.names if not holds_name(own, each)]
    if missing and names:
        yield _says(missing[0], names[0])


def _other_figures(mine: _Said, theirs: _Said, *, is_copy: bool) -> Iterator[str]:
    """Each figure of the claim takes one of the statement's; one that finds none stands in the place of another, which
    is of its unit, the same number or, in a copy, any."""
    left, without = list(theirs.figures), list[Figure]()
    for figure in sorted(mine.facts.figures, key=lambda each: not each.unit):  # or "12" would take "12 days"
        same = next((each for each in left if figure.agrees(each)), None)
        if same is None:
            without.append(figure)
        else:
            left.remove(same)
    for figure in without:
        # Those of dates last.
        others = sorted((each for each in left if not each.is_loose), key=lambda each: each not in theirs.facts.figures)
        of_unit = [each for each in others if each.unit == figure.unit]
        of_value = [each for each in others if not each.values.isdisjoint(figure.values)]
        if instead := of_unit or of_value or (others if is_copy else []):
            yield _says(written(figure, mine.text), written(instead[0], theirs.text))


def _says(mine: str, theirs: str) -> str:
    return f"says {mine}; the passage says {theirs}"


def _slice(text: str, date: Date) -> str:
    return text[date.start : date.end]


def _shape(code: str) -> str:
    return re.sub(r"\d", "0", code)


def _turned_copy(mine: _Said, theirs: _Said) -> str:
    """How a claim that is else a copy negates the statement. Two negations may stand for none ("not without")."""
    more = negations(mine.text) - negations(theirs.text)
    return (NEGATES if more > 0 else AFFIRMS) if more % 2 else ""


def _turned(claim: str, near: Sequence[Statement]) -> str:
    """How a claim turns round what all those statements say that hold most of its words."""
    words = words_of(claim)
    best = max(share(words, each.words) for each in near)
    if best < SAME:
        return ""
    stand = stand_of(claim)
    how = [_how(stand, stand_of(each.text)) for each in near if share(words, each.words) == best]
    return how[0] if all(how) else ""


def _how(mine: Stand, theirs: Stand) -> str:
    word = against(mine, theirs)
    if word.startswith("not "):
        return AFFIRMS
    return "" if not word else NEGATES if word == "not" or word in mine.negated else OPPOSES
