"""Headings, asked what stands below them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import regex

from citewell.chunking.sentences import sentences
from citewell.evaluation.proposals.proposal import Proposal, Wording
from citewell.types import Document, Element, ElementKind

_MOST_WORDS = 9
_ANSWER_SENTENCES = 2
_AUXILIARY = "is|are|was|were|may|must|can|should|has|have|will"
_NUMBER = regex.compile(
    r"\A(?:(?:chapter|section|part|annex)\s+)?(?:\d+(?:\.\d+)*[.)]?|\p{Lu}\.\d+(?:\.\d+)*|[IVX]+\.|§\s*\d+)\s+",
    regex.IGNORECASE,
)
_CODE = regex.compile(r"(?P<code>\p{Lu}{1,4}-?\d[\w.-]*)\s+\p{L}.*")
_HOW_TO = regex.compile(r"how to (?P<rest>.+)", regex.IGNORECASE)
_ASKING = regex.compile(
    rf"(?P<how>how|when|where|why)\s(?P<subject>.+?)\s(?P<aux>{_AUXILIARY})(?P<rest>(?:\s.+)?)", regex.IGNORECASE
)
_WHO = regex.compile(rf"(?:who\s\p{{L}}+|what\s(?:{_AUXILIARY}|\p{{L}}+ed))\b.*", regex.IGNORECASE)
_MANY_OF = regex.compile(r"(?:\p{L}+\s){0,3}\p{L}+(?<!s)s\s(?:of|for|to|on)\s.+")
# "When nothing comes", "The call", "Language, hearing, sight": no names of anything.
_NO_NAME = regex.compile(
    r"""
    (?:when|before|after|where|what|why|if|how|who|until|while|with|without|to|about|not)\b.* | the\s[^\s]+ | .*,.*
    """,
    regex.VERBOSE | regex.IGNORECASE,
)
_POINTS_BACK = regex.compile(r"\b(?:it|them|they|this|these|those|your?|we|our)\b", regex.IGNORECASE)
_SAYS_NOTHING = regex.compile(
    r"""
    (?:purpose|scope|introduction|overview|contents|table\sof\scontents|summary|background|conclusion|examples?|notes?
      |general|appendix|annex|references|index|glossary|history|about|approval|document\scontrol|miscellaneous|details
      |preface|foreword|imprint|contact|further\sreading|see\salso)\b.*
    """,
    regex.VERBOSE | regex.IGNORECASE,
)


def heading_proposals(document: Document, words: Wording) -> Iterator[Proposal]:
    """A question for each heading that is the only one of its name and has text below it."""
    names = Counter(each.heading_path[-1] for each in document.elements if each.kind is ElementKind.HEADING)
    for heading, below in zip(document.elements, document.elements[1:], strict=False):
        if heading.kind is not ElementKind.HEADING or below.kind not in (ElementKind.PARAGRAPH, ElementKind.LIST):
            continue
        section = heading.heading_path[-1]
        question = _question(section, document.title, words) if names[section] == 1 else ""
        if question:
            yield Proposal("section", question, _first(document, below), heading.start, heading.end, section)


def _question(heading: str, title: str, words: Wording) -> str:
    bare = _NUMBER.sub("", heading, count=1).strip()
    if bare.endswith(("?", ":")) or len(bare.split()) > _MOST_WORDS or _SAYS_NOTHING.fullmatch(bare) or bare == title:
        return ""
    return _asked_outright(bare) or _about(bare, title, words)


def _asked_outright(bare: str) -> str:
    """The question that the heading is: with a code, or beginning with how, when, who ..."""
    if found := _CODE.fullmatch(bare):
        return f"What is {found['code']}?"
    if _POINTS_BACK.search(bare):
        return ""
    if found := _HOW_TO.fullmatch(bare):
        return f"How do I {found['rest']}?"
    if found := _ASKING.fullmatch(bare):
        return f"{found['how'].capitalize()} {found['aux']} {found['subject']}{found['rest']}?"
    if _WHO.fullmatch(bare):
        return f"{bare}?"
    return ""


def _about(bare: str, title: str, words: Wording) -> str:
    if _POINTS_BACK.search(bare) or _NO_NAME.fullmatch(bare):
        return ""
    name = words.subject(bare)
    if _MANY_OF.fullmatch(name) and name[0].islower() and " and " not in name:
        return f"What are the {name}?"
    return f'What does "{title}" say about {name}?' if title and len(bare) > 3 else ""


def _first(document: Document, below: Element) -> str:
    text = document.text[below.start : below.end]
    spans: Sequence[tuple[int, int]] = sentences(text)[:_ANSWER_SENTENCES]
    return text[spans[0][0] : spans[-1][1]] if spans else ""
