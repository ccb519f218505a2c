"""The second search of a chain, without a model: the names in what the first one found.

Where was the director of film X born? The passage on X names him; only with his name is he found. Khattab, Potts and
Zaharia, "Baleen: Robust Multi-Hop Reasoning at Scale via Condensed Retrieval", 2021, search on with what a model
takes from the passages; here it is the name nearest behind a word like the relation: "directed by" for "director".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex

from citewell.queries.chains import innermost, relation
from citewell.queries.comparisons import compared
from citewell.queries.decomposition_rules import LONGEST
from citewell.retrieval.query import Query, Role

MOST = 4
"""Queries, and passages that are read."""
NEAR = 80
"""Characters from the word that is like the relation to the name."""

_STEM = 5
_PART = r"\p{Lu}(?:[\p{L}'\u2019-]+|\.)"
_NAME = regex.compile(rf"\b{_PART}(?:\s+(?:(?:de|von|van|of|the|mac|al|bin|da|di|du|la|le|el)\s+)?{_PART}){{1,5}}")


def onward(question: str, passages: Sequence[str]) -> tuple[Query, ...]:
    """What to search for next, once the question and its parts have been: () where the question is no chain.

    `passages` are the best one of each part, or of the question where it has none. Of each the likeliest name is taken,
    of two words or more, that the question has not; it stands in the question for what it answers. The names come from
    documents: search for them with the rights of who asks.
    """
    whole = _whole(question)
    if not is_chain(question):
        return ()
    inner, related = innermost(whole), relation(whole)
    names = (next(_names(passage, whole, related), None) for passage in passages[:MOST])
    texts = dict.fromkeys(_answered(whole, inner, name) if inner else name for name in names if name)
    return tuple(Query(text, Role.PART) for text in texts)


def is_chain(question: str) -> bool:
    """Whether a name that the first passages give would be searched on with."""
    whole = _whole(question)
    return len(whole) <= LONGEST and bool(relation(whole) and (innermost(whole) or compared(whole)))


def _whole(question: str) -> str:
    return " ".join(question.split()).rstrip("?!. ")


def _answered(question: str, inner: str, name: str) -> str:
    return regex.sub(rf"(?:\bthe\s+)?{regex.escape(inner)}", lambda _: name, question, flags=regex.IGNORECASE)


def _names(passage: str, question: str, related: str) -> Iterator[str]:
    """Names that the question has not: nearest behind a word like the relation, then in order."""
    known = _words(question)
    # A father has his son's surname; with two words of the question it is the son, by his full name.
    found = [match for match in _NAME.finditer(passage) if len(_words(match[0]) & known) < 2]
    like = [
        match.end() for match in regex.finditer(rf"\b{regex.escape(related[:_STEM])}\w*", passage, regex.IGNORECASE)
    ]

    def distance(name: regex.Match[str]) -> int:
        behind = [name.start() - end for end in like if 0 <= name.start() - end <= NEAR]
        return min(behind, default=NEAR + 1 + name.start())

    for match in sorted(found, key=distance):
        yield match[0]


def _words(text: str) -> set[str]:
    return set(regex.findall(r"\w+", text.casefold()))
