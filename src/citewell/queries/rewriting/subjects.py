"""What a question is about: its noun phrases, found without a parser, and which of them is talked about.

A phrase is a run of words that are no function words and no verbs. It is a subject if one of its words says more than a
property does (`vocabulary.GENERAL`): `side effects` is none, `lavender oil` is one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from citewell.queries.rewriting.vocabulary import CHATTER, FUNCTION_WORDS, VERBS, is_general
from citewell.queries.rewriting.words import Word, words_of

MOST_WORDS = 6

# What a phrase is worth as a topic. Measured on CAsT the choice hardly matters, so the figures are the plainest.
_DEFINED, _NAMED, _FIRST, _PLACE, _MENTION, _AGE = 1.0, 0.5, 0.5, -0.5, 0.5, -1.0
_MOST_MENTIONS = 3

_LOOKED_AT = 60  # characters before a phrase
_ASKED_WHAT_IT_IS = re.compile(
    r"""(?:
        (?:^|[.?!;,]\s*|\b(?:and|so|ok|okay)\s) (?:what|who|where)(?:['\u2019]s|\s(?:is|are|was|were))
        | (?:what|how)\sabout
        | \b(?:tell|know|learn|talk|explain|describe|define)(?:\sme)?(?:\smore)?(?:\sabout)?
    )\s+(?:(?:an?|the|some|this|these|those)\s+)?$""",
    re.IGNORECASE | re.VERBOSE,
)
_ASKED_WHO = re.compile(r"\bwho(?:['\u2019]s|\s(?:is|are|was|were))\s+(?:the\s+)?$", re.IGNORECASE)
_IN_A_PLACE = re.compile(r"\b(?:in|at|near|around|visit|visiting)\s+(?:the\s+)?$", re.IGNORECASE)
_QUOTED = re.compile('["\u201c\u201e\u00ab](?P<title>[^"\u201c\u201d\u201e\u00ab\u00bb]{2,80})["\u201d\u00bb]')
_BETWEEN_NAMES = re.compile(r"\s+(?:of|of the|de|&)\s+")


@dataclass(frozen=True, slots=True)
class Subject:
    """A noun phrase at `start` of its question.

    `named`: it holds a name, a code or a quoted title. `defined`: the question is what it is (`What is X?`).
    """

    text: str
    start: int
    named: bool
    defined: bool
    place: bool
    person: bool

    @property
    def plural(self) -> bool:
        last = self.text.casefold()
        return last.endswith("s") and not last.endswith(("ss", "us", "is"))


def subjects_of(text: str) -> tuple[Subject, ...]:
    """The noun phrases of a text that name something, in the order of their places."""
    found = [_subject(text, match["title"], match.start("title"), named=True) for match in _QUOTED.finditer(text)]
    quoted = [range(item.start, item.start + len(item.text)) for item in found]
    for run in map(_without_edges, _runs(text)):
        if any(run[0].start in span for span in quoted) or all(is_general(word.low) for word in run):
            continue
        named = any(word.named for word in run if not (_opens(text, word) and word.written[1:].islower()))
        found.append(_subject(text, text[run[0].start : run[-1].end], run[0].start, named=named))
    return tuple(sorted(found, key=lambda item: item.start))


def topics_of(questions: Sequence[str]) -> tuple[Subject, ...]:
    """The subjects of the questions, each once, what is talked about most likely first.

    The questions must stand alone already, oldest first: so a topic that later ones only point at is still there.
    """
    best: dict[frozenset[str], tuple[float, Subject]] = {}
    mentioned = [roots_of(question) for question in questions]
    for place, question in enumerate(questions):
        found = subjects_of(question)
        for item in found:
            key = roots_of(item.text)
            mentions = sum(key <= roots for n, roots in enumerate(mentioned) if n != place)
            score = _DEFINED * item.defined + _NAMED * item.named + _FIRST * (item is found[0]) + _PLACE * item.place
            score += _MENTION * min(mentions, _MOST_MENTIONS) + _AGE * (len(questions) - 1 - place)
            if key not in best or score >= best[key][0]:
                best[key] = (score, item)
    return tuple(item for _, item in sorted(best.values(), key=lambda scored: -scored[0]))


def roots_of(text: str) -> frozenset[str]:
    """Its words that are no function words, in small letters, without the ending of a plural or a genitive."""
    words = (word.low for word in words_of(text) if word.low not in FUNCTION_WORDS)
    return frozenset(word.removesuffix("'s").removesuffix("'").removesuffix("s") for word in words)


def _subject(text: str, phrase: str, start: int, *, named: bool) -> Subject:
    before = text[max(start - _LOOKED_AT, 0) : start]
    words = phrase.split()
    full_name = 2 <= len(words) <= 3 and all(word[0].isupper() and word.isalpha() for word in words)
    return Subject(
        phrase,
        start,
        named=named,
        defined=_ASKED_WHAT_IT_IS.search(before) is not None,
        place=_IN_A_PLACE.search(before) is not None,
        person=named and (full_name or _ASKED_WHO.search(before) is not None),
    )


def _runs(text: str) -> list[list[Word]]:
    """Words of a subject that stand side by side, and names joined by a small word (`Bank of England`)."""
    runs: list[list[Word]] = []
    closed = True
    for word in words_of(text):
        if _is_function(word, text) or _is_verb(word):
            continue
        joined = not closed and len(runs[-1]) < MOST_WORDS and _side_by_side(text, runs[-1][-1], word)
        closed = word.low.endswith("'s")
        bare = replace(word, end=word.end - len("'s")) if closed else word
        if joined:
            runs[-1].append(bare)
        else:
            runs.append([bare])
    return runs


def _is_function(word: Word, text: str) -> bool:
    acronym = word.written.isupper() and len(word.written) > 1 and not text.isupper()  # WHO, IT, US
    return (word.low in FUNCTION_WORDS or word.low in CHATTER) and not acronym


def _is_verb(word: Word) -> bool:
    """By its form; what is written as a name is none. `need` and `seed` are no past tenses."""
    if word.named and word.start > 0:
        return False
    stem = word.low.removesuffix("ing")
    progressive = stem != word.low and not VERBS.isdisjoint((stem, stem + "e", stem[:-1]))
    past = word.low.endswith("ed") and not word.low.endswith("eed") and len(word.low) > len("red")
    return word.low in VERBS or past or progressive


def _side_by_side(text: str, left: Word, right: Word) -> bool:
    between = text[left.end : right.start]
    names = left.written[0].isupper() and left.start > 0 and right.written[0].isupper()
    return between.isspace() or (names and _BETWEEN_NAMES.fullmatch(between) is not None)


def _opens(text: str, word: Word) -> bool:
    """Whether it begins a sentence, where a capital says nothing."""
    before = text[: word.start].rstrip()
    return not before or before[-1] in ".?!:"


def _without_edges(run: list[Word]) -> list[Word]:
    """Without the adjectives of no subject that lead it: `main`, `best`."""
    start = 0
    while start < len(run) - 1 and is_general(run[start].low) and not run[start].named:
        start += 1
    return run[start:]
