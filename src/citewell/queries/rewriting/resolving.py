"""An English question with what it leans on put in its place.

pronouns       by the topic of the questions before; `he` and `she` by a person, `there` by a place
follow-ups     joined to the question before, or put in the place of its period
all else       the topics in brackets at the end: what is right where is a parser's work, and we have none
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.queries.rewriting.leaning import Kind, Leaning, leanings_of, leans_elsewhere
from citewell.queries.rewriting.subjects import Subject, roots_of, subjects_of, topics_of
from citewell.queries.rewriting.words import is_english
from citewell.types import Turn

MOST_TURNS = 10
MOST_CHARS = 500
"""Of a question: a longer one names its subject."""
_ANSWER_CHARS = 400
_ADDED_TOPICS = 2

_MISSING = frozenset({Kind.OTHER, Kind.GENERAL, Kind.FRAGMENT, Kind.DEFINITE})
_ASKS_FOR_NAME = re.compile(r"\b(?:who|whom|whose|which|name|what(?:'s| is| was| are) the)\b", re.IGNORECASE)
_COMPARES = re.compile(
    r"\b(?:in common|between (?:them|these|those)|differ|different|differences?|compared?|similar|related|both)\b",
    re.IGNORECASE,
)
_PERIOD = re.compile(
    r"\b(?:(?:19|20)\d\d|january|february|april|june|july|august|september|october|november|december)\b", re.IGNORECASE
)
_PREPOSED = re.compile(r"^(?:in|for|on|at|of|the)\s+", re.IGNORECASE)
_CONTRACTED = {"s": " is", "re": " are", "ve": " have", "ll": " will", "d": " would"}


@dataclass(frozen=True, slots=True)
class Context:
    """What was said before: the questions, standing alone, oldest first.

    `asked` is the last of them that was no follow-up, `answer` the last answer.
    """

    questions: tuple[str, ...]
    asked: str
    answer: str


def leans(question: str, turns: Sequence[Turn]) -> bool:
    """Whether a question needs what was said before it to be understood."""
    if not turns or len(question) > MOST_CHARS:
        return False
    return bool(leanings_of(question)) if _in_english(question, turns) else leans_elsewhere(question)


def resolved(question: str, turns: Sequence[Turn]) -> str | None:
    """The question standing alone; None where it does already, or nothing before says what it leans on.

    In another language than English the question before is put before it, and no word is changed.
    """
    if not leans(question, turns):
        return None
    if not _in_english(question, turns):
        return f"{turns[-1].question[:MOST_CHARS]} {question}"
    return _resolved(question, _context(turns[-MOST_TURNS:]))


def _in_english(question: str, turns: Sequence[Turn]) -> bool:
    return is_english(question, *(turn.question[:MOST_CHARS] for turn in reversed(turns[-MOST_TURNS:])))


def _context(turns: Sequence[Turn]) -> Context:
    context = Context((), "", "")
    for turn in turns:
        question = turn.question[:MOST_CHARS]
        alone = (_resolved(question, context) if context.questions else None) or question
        questions = (*context.questions, alone)
        leanings = leanings_of(question)
        follows = bool(leanings) and leanings[0].kind is Kind.FOLLOW_UP and bool(context.asked)
        asked = context.asked if follows else alone
        context = Context(questions, asked, turn.answer[:_ANSWER_CHARS])
    return context


def _resolved(question: str, context: Context) -> str | None:
    leanings = leanings_of(question)
    if not leanings:
        return None
    if leanings[0].kind is Kind.BARE:
        return f"{context.questions[-1]} {question}"
    if leanings[0].kind is Kind.FOLLOW_UP:
        return _followed_up(question, leanings[0], context.asked)
    topics = topics_of(context.questions)
    text = _pronouns_filled(question, leanings, context, topics) or _topics_added(question, topics)
    return text if text != question else None


def _followed_up(question: str, leaning: Leaning, last: str) -> str:
    asked = _PREPOSED.sub("", question[leaning.start : leaning.end])
    period = _PERIOD.search(last)
    if period and _PERIOD.fullmatch(asked):
        return last[: period.start()] + asked + last[period.end() :]
    return f"{last} {question}"


def _pronouns_filled(
    question: str, leanings: Sequence[Leaning], context: Context, topics: Sequence[Subject]
) -> str | None:
    """None where no pronoun could be filled. Of several of a kind the first is: the others then point at it."""
    pieces: list[str] = []
    tried: set[Kind] = set()
    filled: set[str] = set()
    done = 0
    for leaning in leanings:
        kind = Kind.THEY if leaning.kind is Kind.POSSESSIVE else leaning.kind
        if kind in _MISSING or kind in tried:
            continue
        tried.add(kind)
        free = [item for item in topics if item.text not in filled]
        chosen = _chosen(leaning.kind, question, context, free)
        if not chosen or roots_of(chosen) <= roots_of(question):
            continue
        filled.add(chosen)
        pieces += [question[done : leaning.start], _form(leaning.kind, chosen, question[leaning.start : leaning.end])]
        done = leaning.end
    return "".join([*pieces, question[done:]]) if filled else None


def _chosen(kind: Kind, question: str, context: Context, free: Sequence[Subject]) -> str:
    chosen: str | None = None
    if kind is Kind.PERSON:
        chosen = _person(context)
    elif kind is Kind.THERE:
        chosen = _place(context)
    elif kind is Kind.THEY:
        chosen = _several(question, free, context)
    elif kind is Kind.IT:
        chosen = next((item.text for item in free if not item.person), None)
    return chosen or (free[0].text if free else "")


def _several(question: str, free: Sequence[Subject], context: Context) -> str | None:
    """Two topics where they were named together or are compared now, else one in the plural."""
    if len(free) > 1:
        first = free[0]
        pairs = (f"{first.text} and {free[1].text}", f"{free[1].text} and {first.text}")
        together = next((pair for pair in pairs if pair in context.questions[-1]), None)
        if together or (_COMPARES.search(question) and not (first.plural and first.defined)):
            return together or pairs[1]
    return next((item.text for item in free[:2] if item.plural), None)


def _person(context: Context) -> str | None:
    if _ASKS_FOR_NAME.search(context.questions[-1]):
        known = roots_of(context.questions[-1])
        for item in subjects_of(context.answer):
            if item.person and not roots_of(item.text) <= known:
                return item.text
    return next((item.text for item in _newest(context) if item.person), None)


def _place(context: Context) -> str | None:
    return next((item.text for item in _newest(context) if item.place and item.named), None)


def _newest(context: Context) -> list[Subject]:
    return [item for question in reversed(context.questions) for item in subjects_of(question)]


def _form(kind: Kind, chosen: str, written: str) -> str:
    if kind is Kind.POSSESSIVE:
        return f"{chosen}'" if chosen.endswith("s") else f"{chosen}'s"
    if kind is Kind.THIS_KIND:
        return f"the {chosen}"
    if kind is Kind.THERE:
        return f"in {chosen}"
    ending = re.split("['\u2019]", written.casefold())[1:]
    return chosen + _CONTRACTED.get("".join(ending), "")


def _topics_added(question: str, topics: Sequence[Subject]) -> str:
    said = set(roots_of(question))
    added: list[str] = []
    for item in topics[:_ADDED_TOPICS]:
        if not roots_of(item.text) <= said:
            added.append(item.text)
            said |= roots_of(item.text)
    stem = question.rstrip(" ?.!\n")
    return f"{stem} ({', '.join(added)}){question[len(stem) :].strip()}" if added else question
