"""Phrases in a text: words of given classes that follow one another at a distance, within one sentence.

Every step is a pass over the words or over the finds of one class, so that no text makes it slow.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from citewell.security.lexicon import CLASSES

LONG = 400
"""Signs after which a line break ends a sentence too: lists and tables have no full stops."""

_WORD = re.compile(r"[^\W_]+(?:_+[^\W_]+)*")
_STOP = re.compile(r"[.!?。！？…][\"')\]*]*\s|[。！？]|\n\s*\n")
_BETWEEN_TAGS = re.compile(r">\s*<")
_LONGEST_TAG = 80
_ADDRESS = re.compile(r"https?://|\bwww\.|\b[a-z]{1,20}://|@[\w-]{1,63}\.\w|<address>")
_OPENS = re.compile(r"[:;,\n\"“”'’(\[\]>}|*#–—]|-\s")
_LEADS_IN = frozenset(
    (
        "and",
        "then",
        "also",
        "now",
        "always",
        "must",
        "should",
        "just",
        "und",
        "dann",
        "et",
        "puis",
        "y",
        "luego",
        "e",
        "poi",
    )
)
"""Words after which an order has its verb."""
_APART = 1000
"""Between the positions of two sentences: further than any phrase reaches."""
_TOOL = re.compile(
    r"(?:[a-z0-9]+_)*(?:send|post|e?mail|forward|upload|delete|remove|drop|write|update|create|transfer|pay|share|publish"
    r"|grant|exec|execute|run|shell|command|http|fetch|request|browse|purchase|schedule|read|get)(?:_[a-z0-9]+)*"
)
"""The name of a function that does something, as models are given them."""


@dataclass(frozen=True, slots=True)
class Word:
    """`text[start:end]`, the `position`th; `opens` a clause, where an order has its verb."""

    start: int
    end: int
    position: int
    opens: bool


@dataclass(frozen=True, slots=True)
class Find:
    """A phrase of one class, or of a pattern: from the `first` word up to and without the `last`."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Reading:
    """The words of a text, its sentences as spans, and by class where its phrases are found, in order."""

    text: str
    words: Sequence[Word]
    sentences: Sequence[tuple[int, int]]
    found: Mapping[str, Sequence[Find]]

    @classmethod
    def of(cls, text: str) -> Reading:
        """`text` as `signs.folded` leaves it."""
        words, sentences = _words(text)
        return cls(text, words, sentences, _found(text, words))

    def sequence(self, steps: Sequence[tuple[str, int]], *, opens: bool = False) -> Iterator[Find]:
        """Where classes follow one another: each comes at most so many words behind the one before.

        With `opens`, the first one must open a clause. The distance of the first step says nothing.
        """
        (first, _), *others = steps
        reached = [find for find in self.found.get(first, ()) if not opens or self.words[find.first].opens]
        for name, most in others:
            reached = list(self._next(reached, self.found.get(name, ()), most))
        yield from reached

    def _next(self, reached: Sequence[Find], found: Sequence[Find], most: int) -> Iterator[Find]:
        ends = sorted(reached, key=lambda find: find.last)
        place = 0
        for find in found:
            while place < len(ends) and ends[place].last <= find.first:
                place += 1
            if place and self._distance(ends[place - 1], find) <= most:
                yield Find(ends[place - 1].first, find.last)

    def _distance(self, one: Find, other: Find) -> int:
        return self.words[other.first].position - self.words[one.last - 1].position - 1

    def span(self, find: Find) -> tuple[int, int]:
        """Where a find stands in the text."""
        return self.words[find.first].start, self.words[find.last - 1].end


def _words(text: str) -> tuple[list[Word], list[tuple[int, int]]]:
    words: list[Word] = []
    starts: list[int] = []
    position, end, led_in = -1, 0, True
    for found in _WORD.finditer(text):
        start, between = found.start(), text[end : found.start()]
        stops = not words
        if words and between != " ":  # most often it is
            stops = _STOP.search(between) is not None or ("\n" in between and start - starts[-1] > LONG)
            stops = stops or (_BETWEEN_TAGS.match(between) is not None and _closes(text, end))
        if stops:
            starts.append(start)
        position += _APART if stops else 1
        words.append(Word(start, found.end(), position, stops or led_in or _OPENS.search(between) is not None))
        end, led_in = found.end(), found[0] in _LEADS_IN
    return words, list(_sentences(words, starts))


def _closes(text: str, end: int) -> bool:
    """Whether the tag that goes on until there closes an element: the next one, if it follows at once, is another."""
    return text[max(end - _LONGEST_TAG, 0) : end].rpartition("<")[2].startswith("/")


def _sentences(words: Sequence[Word], starts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Each start of a sentence with the end of its last word."""
    ends = [word.end for word, after in pairwise(words) if after.position - word.position > 1]
    yield from zip(starts, [*ends, *(word.end for word in words[-1:])], strict=True)


def _found(text: str, words: Sequence[Word]) -> dict[str, list[Find]]:
    found: dict[str, list[Find]] = defaultdict(list)
    tokens = [text[word.start : word.end] for word in words]
    beginning = {token: _beginning(token) for token in set(tokens)}
    for place, token in enumerate(tokens):
        longest: dict[str, int] = {}
        for rest, name in beginning[token]:
            if not rest or _follows(rest, tokens, place + 1):
                longest[name] = max(longest.get(name, 0), len(rest) + 1)
        for name, length in longest.items():
            found[name].append(Find(place, place + length))
    found["address"] = list(_addresses(text, words))
    return found


def _beginning(token: str) -> list[tuple[tuple[str, ...], str]]:
    """What follows in the phrases that begin with this word, and the class of each."""
    begun = [(parts[1:], name) for parts, name in _by_start().get(token[:3], ()) if _is(parts[0], token)]
    return [*begun, ((), "tool")] if "_" in token and _TOOL.fullmatch(token) else begun


def _addresses(text: str, words: Sequence[Word]) -> Iterator[Find]:
    place = 0
    for found in _ADDRESS.finditer(text):
        while place + 1 < len(words) and words[place].end <= found.start():
            place += 1
        yield Find(place, place + 1)


def _follows(rest: tuple[str, ...], tokens: Sequence[str], place: int) -> bool:
    there = tokens[place : place + len(rest)]
    return len(there) == len(rest) and all(map(_is, rest, there))


def _is(part: str, token: str) -> bool:
    return token.startswith(part[:-1]) if part[-1] == "*" else token == part


@cache
def _by_start() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """The phrases of the lexicon, each with its class, by the first three letters of their first word."""
    phrases: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
    for name, listed in CLASSES.items():
        for phrase in dict.fromkeys(each.strip() for each in listed.split(";")):
            parts = tuple(phrase.split())
            phrases[parts[0].rstrip("*")[:3]].append((parts, name))
    return phrases
