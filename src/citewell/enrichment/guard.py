"""What a language model wrote that must not be searched: what it made up, and what a text that it read made it say.

A passage may hold an instruction, and a model may follow it. It is asked about one passage at a time; so what can be
spoiled is what is written of that passage, unless words of a neighbour come along. That is what is looked for here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from typing import Self

import regex

from citewell.chunking import sentences
from citewell.models.fenced import disarm
from citewell.models.reply import prose
from citewell.retrieval.analyser import analyse
from citewell.security.scan import scan
from citewell.signs import UNSEEN

TAGS = ("title", "outline", "section", "before", "passage", "after", "document")
"""The names of all tags in our prompts."""

MOST_REPEATED = 8
"""Tokens in a row: as many of another text are a copy of it."""

LEAST_SUSPICION = 0.25
"""Of what may be an instruction. Lower than for a document: what is dropped here costs one sentence."""

_ADDRESS = re.compile(r"\w://|\bwww\.", re.IGNORECASE)
_MARKUP = re.compile(r"</?[a-z!][^\s<>]*", re.IGNORECASE)
_LABEL = re.compile(r"\**(?:the\s+)?(?:context|summary)\**\s*:\**\s*", re.IGNORECASE)
# Thai, Lao and Khmer mark no end of a sentence.
_WHOLE = regex.compile(r"[\p{SB=STerm}\p{SB=ATerm}][\p{Pe}\p{Pf}\"'*]*\Z|[\p{Thai}\p{Lao}\p{Khmer}]\Z")


@dataclass(frozen=True, slots=True)
class Shown:
    """What a model was shown: `own` is what it writes of, `around` what lies near, `rules` what it was told to do."""

    own: str
    rules: str
    around: str = ""
    language: str = ""

    def allowing(self) -> Callable[[str], bool]:
        """Whether a text holds no code or number that was not shown, no copy of what is around, and nothing that
        only an instruction would have brought there: an address, a tag, an unseen sign, talk of instructions."""
        own, around, rules = (_Read.of(text, self.language) for text in (self.own, self.around, self.rules))
        copies, shown = (around.runs | rules.runs) - own.runs, own.figures | around.figures

        def allows(text: str) -> bool:
            if any(sign.search(text) for sign in (UNSEEN, _ADDRESS)) or disarm(text, TAGS) != text:
                return False
            if scan(text, LEAST_SUSPICION):
                return False
            said = _Read.of(text, self.language)
            return (
                all(tag in self.own for tag in _MARKUP.findall(text))
                and said.runs.isdisjoint(copies)
                and said.figures <= shown
            )

        return allows

    def told(self, reply: str) -> tuple[str, ...]:
        """The sentences of a reply in prose, up to the first that is not whole or not allowed."""
        text = prose(reply)
        label = _LABEL.match(text)
        text = text[label.end() :] if label else text
        allows = self.allowing()
        said = (text[start:end] for start, end in sentences(text))
        return tuple(takewhile(lambda sentence: _WHOLE.search(sentence) and allows(sentence), said))


@dataclass(frozen=True, slots=True)
class _Read:
    """A text's tokens in runs, and its codes and numbers, whatever their spelling: `R-17` and `R 17` are one."""

    runs: frozenset[tuple[str, ...]]
    figures: frozenset[str]

    @classmethod
    def of(cls, text: str, language: str) -> Self:
        tokens = analyse(text, language)
        runs = (tuple(tokens[at : at + MOST_REPEATED]) for at in range(len(tokens) - MOST_REPEATED + 1))
        return cls(frozenset(runs), frozenset(token for token in tokens if any(sign.isdigit() for sign in token)))
