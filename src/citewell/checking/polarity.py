"""Where two statements about the same thing turn against each other: a negation on one side, or opposite words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from citewell.checking.wording import NEGATORS, only_asks
from citewell.retrieval.analyser import analyse
from citewell.retrieval.words import fold

_SPACELESS = re.compile("[不没沒未無无非勿]|ない|ません|ไม่")
_SHORTENED = re.compile(r"(?i)\b(ca|wo|sha)n['’]t\b|n['’]t\b")
# What looks like a negation and is none.
_IDLE = re.compile(r"(?i)\bnot only\b|\bno (?:longer|more|less|later|fewer) than\b|\bwhether or not\b|\bno\.\s?(?=\d)")
_WORD = re.compile(r"[^\W\d_](?:[\w]|['-](?=\w))*")
# As little a statement's content as `the`, and not among the words that a query leaves out.
_AUXILIARY = "may must shall will can has been ist sind wird werden kann darf est sont peut fur für mit"
_AUXILIARIES = frozenset(_AUXILIARY.split())
_CLAUSE = re.compile(r"[,;:()|]|\s[–-]\s|\b(?:but|aber|mais|pero|however|although|while|whereas|if|unless)\b", re.I)

_PAIRS = """
increase decrease, raise lower, rise fall, higher lower, high low, more less, more fewer, most least, maximum minimum,
above below, over under, before after, upper lower, always never, allow forbid, allow prohibit, permit prohibit,
permit forbid, include exclude, approve decline, accept reject, accept decline, open closed, enable disable,
with without, inside outside, first last, earlier later, early late, younger older, young old, smaller larger,
small large, shorter longer, short long, faster slower, better worse, best worst, credit debit, buy sell,
mandatory optional, required optional, internal external, positive negative, gain loss, promote inhibit,
activate inhibit, activate suppress, upregulate downregulate, induce prevent, cause prevent, improve worsen,
sensitive resistant, present absent, presence absence, success failure, true false, yes no, all none, enhance impair,
reduce increase, reduce enhance, reduce promote, lower increase, inhibit enhance, inhibit induce
"""


def _opposites() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for pair in _PAIRS.split(","):
        one, other = (analyse(word)[0] for word in pair.split())
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return found


_OPPOSITES = _opposites()


_FEWEST = 3


@dataclass(frozen=True, slots=True)
class Stand:
    """A statement's content words (stems): those affirmed and those that a negation stands before.

    `denies` holds for a negation in a script without spaces, where its reach is not known; `length` counts all words.
    """

    affirmed: frozenset[str]
    negated: frozenset[str]
    denies: bool
    length: int


def is_negated(text: str) -> bool:
    """Whether something in the text is negated."""
    return negations(text) > 0


def negations(text: str) -> int:
    """How often something in the text is negated."""
    words = (fold(word) in NEGATORS for word in _WORD.findall(_spread(text)))
    return sum(words) + len(_SPACELESS.findall(text))


def stand_of(text: str) -> Stand:
    """What a statement affirms and negates.

    A negation reaches the next content word of its clause, where there is none the one before (`gilt nicht`).
    """
    affirmed: set[str] = set()
    negated: set[str] = set()
    length = 0
    for clause in _CLAUSE.split(_spread(text)):
        # "Never Shout Never" is a band.
        found = _WORD.findall(clause)
        words = [(fold(word) in NEGATORS and not (place and word.istitle()), word) for place, word in enumerate(found)]
        length += len(words)
        reached = set(_reached(words))
        for place, (negates, word) in enumerate(words):
            if not negates and _tells(word):
                (negated if place in reached else affirmed).update(analyse(word))
    return Stand(frozenset(affirmed), frozenset(negated), _SPACELESS.search(text) is not None, length)


def against(claim: Stand, said: Stand) -> str:
    """The word (stem) in which a statement that says the same turns the claim round; "" where none does.

    Where both negate something, they may say the same in other words. Of scripts with spaces, one or two words are no
    statement that could be turned.
    """
    if claim.denies != said.denies:
        return "not"
    if claim.length < _FEWEST:
        return ""
    if not claim.negated and (denied := (claim.affirmed & said.negated) - said.affirmed):
        return f"not {min(denied)}"
    if not said.negated and (affirmed := (claim.negated & said.affirmed) - claim.affirmed):
        return min(affirmed)
    for word in sorted(claim.affirmed - said.affirmed - said.negated):
        for opposite in sorted(_OPPOSITES.get(word, ())):
            if opposite in said.affirmed and opposite not in claim.affirmed | claim.negated:
                return opposite
    return ""


def _spread(text: str) -> str:
    """`can't` as `cannot`, `isn't` as `is not`; without what only looks like a negation."""
    text = _IDLE.sub(" ", text)
    return _SHORTENED.sub(" not", text).replace("cannot", "can not")


def _reached(words: list[tuple[bool, str]]) -> Iterator[int]:
    """The places of the words that a negation reaches."""
    telling = [place for place, (negates, word) in enumerate(words) if not negates and _tells(word)]
    for place, (negates, _) in enumerate(words):
        if negates:
            after = [other for other in telling if other > place]
            yield from after[:1] or telling[-1:]


def _tells(word: str) -> bool:
    """Whether it is no word like the, is or may."""
    return word.casefold() not in _AUXILIARIES and not only_asks(word)
