"""Sentences and lines of a glossary that say what something is."""

from __future__ import annotations

import regex

from citewell.evaluation.proposals.figures import stands_alone
from citewell.evaluation.proposals.proposal import Wording

GLOSSARY = regex.compile(r"\b(?:glossary|definitions?|abbreviations?|terms)\b", regex.IGNORECASE)

_MOST_WORDS = 6
_SENTENCE = regex.compile(
    r"""
    (?P<term> [\p{Lu}][\p{L}\p{N}'’ -]{1,60}? ) \s
    (?: (?P<means> means ) \s | is \s (?: an? \s | the \s (?= \p{Ll}+ \s ) ) )
    (?! matter\s | way\s | lot\s | few\s | same\s | case\s ) .{12,} [.]
    """,
    regex.VERBOSE,
)
_ENTRY = regex.compile(
    r"(?P<term>[\p{L}\p{N}][\p{L}\p{N}'’ /-]{1,40}?)(?:\.|:|\s[–—-])\s(?P<meaning>\S.{12,})", regex.DOTALL
)
_INDEFINITE = regex.compile(r"(?P<article>An?)\s")
_NAME = regex.compile(r"(?:The\s)?(?:\p{Lu}[\p{L}\p{N}-]*)(?:\s\p{Lu}[\p{L}\p{N}-]*)+|(?:Code\s)?\p{Lu}+-?\d+")
_REFERS = regex.compile(r"see\s", regex.IGNORECASE)


def definition_question(sentence: str, words: Wording) -> str:
    """What the sentence defines, asked for; "" where it defines nothing."""
    found = _SENTENCE.fullmatch(sentence)
    if found is None or not stands_alone(found["term"]) or len(found["term"].split()) > _MOST_WORDS:
        return ""
    term = found["term"]
    if found["means"]:
        return f"What does {words.inside(_INDEFINITE.sub('', term))} mean?"
    # "The proof that counts is ..." and "The limit is the ..." define nothing: only what is new, or a name, is defined.
    if _INDEFINITE.match(term) or _NAME.fullmatch(term):
        return f"What is {words.inside(term)}?"
    return ""


def entry_question(paragraph: str, words: Wording) -> str:
    """The term of a glossary's entry ("Waiver. The decision not to ..."), asked for; "" where it is none."""
    found = _ENTRY.fullmatch(paragraph)
    if found is None or _REFERS.match(found["meaning"]):
        return ""
    return f'What does "{words.inside(found["term"])}" mean?'
