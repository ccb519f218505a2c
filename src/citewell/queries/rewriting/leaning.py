"""Where an English question leans on the conversation before it: pronouns, follow-ups, properties of nothing named."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from citewell.queries.rewriting.subjects import subjects_of
from citewell.queries.rewriting.vocabulary import (
    ASKING,
    AUXILIARY,
    CHATTER,
    DEMONSTRATIVE,
    FUNCTION_WORDS,
    MODIFYING,
    POSSESSIVE,
    PREPOSITIONS,
    PRONOUNS,
    UNIQUE,
    VERBS,
    is_general,
)
from citewell.queries.rewriting.words import Word, words_of

MOST_FRAGMENT_WORDS = 6


class Kind(StrEnum):
    """How it leans."""

    IT = "it"
    THEY = "they"
    PERSON = "person"
    POSSESSIVE = "possessive"
    THIS = "this"
    THIS_KIND = "this kind"
    """A demonstrative before its noun: `this tradition`."""
    THERE = "there"
    OTHER = "other"
    """`the former`, `another one`, `what else`: beside something that is not said."""
    FOLLOW_UP = "follow-up"
    """`What about X?`, `And X?`: what was asked before, now of X."""
    BARE = "bare"
    """`Why?`, `How much?`: more about what was asked before."""
    GENERAL = "general"
    """Asks for a property and does not say of what: `What are the main types?`"""
    DEFINITE = "definite"
    """A thing spoken of as known: `Why was the system chosen?`"""
    FRAGMENT = "fragment"
    """Some words and no question: `streaming services?`"""


@dataclass(frozen=True, slots=True)
class Leaning:
    """`question[start:end]`, which something from before must fill; the whole where something is only missing."""

    kind: Kind
    start: int
    end: int


_FOLLOW_UP = re.compile(
    r"""^(?:(?:ok|okay|oh|yes|no|so|and|but)[,.!]?\s+)*
    (?:(?:what|how)\sabout|and|or|i\smean|i\smeant)\s+(?P<what>.+?)[?.!\s]*$""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_BARE = re.compile(
    r"""^(?:(?:ok|okay|oh|so|and|but)[,.!]?\s+)?
    (?:why(?:\s(?:not|so|is\sthat))?|how(?:\s(?:so|much|many|long|often|come))?|when|where|who|which(?:\sones?)?
    |(?:since|until|by)\swhen|(?:what|anything)\selse|for\sexample|such\sas)[?.!\s]*$""",
    re.IGNORECASE | re.VERBOSE,
)
_ELSEWHERE = re.compile(
    r"""^(?:(?:und|aber|oder|et|mais|ou|y|e|pero|o|ed|ma|en|maar|of)\s+(?:\S+\s+){0,5}\S+
    |(?:und\s|et\s|y\s|e\s|en\s)?(?:warum(?:\snicht)?|wieso|weshalb|wann|wo|wer|wie\s(?:viel|viele|lange|oft|hoch)|wieviel
    |pourquoi(?:\spas)?|quand|o\u00f9|qui|combien|por\squ\u00e9|cu\u00e1ndo|d\u00f3nde|qui\u00e9n|cu\u00e1nto|perch\u00e9|quando|dove|chi|quanto
    |waarom|wanneer|waar|wie|hoeveel|porqu\u00ea|por\sque|onde|quem))[?.!\s]*$""",
    re.IGNORECASE | re.VERBOSE,
)
_OTHER = re.compile(
    r"""\b(?:the\s(?:former|latter|same|others?|ones?|(?:first|second|last)\sone|two) | which\sones? | others?(?=\W*$)
    | (?:an)?other(?!\sthan|\s\w+\sthan)(?=\s+\w) | also | as\swell | else | ones | one(?=\W*$) | both(?=\W*$)
    | instead(?!\sof) | any(?=\s+\w+ed\b|\W*$))\b""",
    re.IGNORECASE | re.VERBOSE,
)
_JUDGED = (
    "allowed|bad|best|better|common|dangerous|difficult|easy|good|hard|important|legal|necessary|normal|ok|okay|possible"
    "|required|safe|true|worth"
)
# "it" and "there" that stand for nothing: "is it safe to", "how long does it take to", "are there".
_EMPTY = re.compile(
    rf"""\b(?:does|do|did|will|would|can)\sit\s(?:take|mean|cost|matter)(?:\s\w+)?\sto\b
    | \b(?:(?:is|was|be)\sit|it['\u2019]s|it\s(?:is|was|be))\s(?:\w+\s)?(?:{_JUDGED})
        (?:\sfor\s(?:\w+\s)?\w+)?\s(?:to|that|if)\b
    | \b(?:is|are|was|were|be|been|exists?|isn't|aren't)\sthere\b
    | \bthere(?:['\u2019]s|\s(?:is|are|was|were|be|a|any|should|will|must|could|can|may|might))\b""",
    re.IGNORECASE | re.VERBOSE,
)
_SENTENCE = re.compile(r"\S.*?(?:[.!?]+(?=\s|$)|$)", re.DOTALL)
_PAUSE = re.compile(r"[,;:?!.](?=\s)|\b(?:and|but|or|if|when|because|while|so|since|that|who|which)\b", re.IGNORECASE)


def leanings_of(question: str) -> tuple[Leaning, ...]:
    """Every place that leans, in order; () where the question stands alone."""
    if follow_up := _FOLLOW_UP.match(question):
        return (Leaning(Kind.FOLLOW_UP, follow_up.start("what"), follow_up.end("what")),)
    if _BARE.match(question):
        return (Leaning(Kind.BARE, 0, len(question)),)
    words = _asking(question)
    found = [*_pointing(question, words), *(Leaning(Kind.OTHER, *match.span()) for match in _OTHER.finditer(question))]
    if not found and (kind := _as_a_whole(question, words)):
        found.append(Leaning(kind, 0, len(question)))
    return tuple(sorted(found, key=lambda leaning: leaning.start))


def leans_elsewhere(question: str) -> bool:
    """Whether a question in another language is a follow-up by its first word, or a question word alone."""
    return _ELSEWHERE.match(question.lstrip("\u00bf\u00a1 ")) is not None


def _asking(question: str) -> list[Word]:
    """The words of the sentences that ask, where there are any: what is said besides them needs no answer."""
    asked = [match.span() for match in _SENTENCE.finditer(question) if match[0].endswith("?")]
    return [word for word in words_of(question) if not asked or any(start <= word.start < end for start, end in asked)]


def _pointing(question: str, words: list[Word]) -> list[Leaning]:
    """The pronouns that stand for something which the question has not named before them."""
    empty = [match.span() for match in _EMPTY.finditer(question)]
    named = _names_its_subject_from(question)
    found = []
    for place, word in enumerate(words):
        kind = _kind(question, words, place)
        if not kind or any(start <= word.start < end for start, end in empty) or word.start >= named:
            continue
        found.append(Leaning(kind, word.start, word.end))
    return found


def _kind(question: str, words: list[Word], place: int) -> Kind | None:
    word = words[place]
    if word.written.isupper() and len(word.written) > 1 and not question.isupper():  # the acronym IT
        return None
    pronoun = word.low.partition("'")[0]
    after = words[place + 1] if place + 1 < len(words) else None
    if pronoun in PRONOUNS:
        return Kind(PRONOUNS[pronoun])
    if word.low == "her":
        return Kind.POSSESSIVE if after and after.low not in FUNCTION_WORDS else Kind.PERSON
    if word.low in POSSESSIVE:
        return Kind.POSSESSIVE
    if word.low in DEMONSTRATIVE:
        return _demonstrative(question, words, place)
    return Kind.THERE if word.low == "there" else None


def _demonstrative(question: str, words: list[Word], place: int) -> Kind | None:
    """`that` after a noun, a verb or an adjective opens a clause: `foods that help`, `I heard that it rains`."""
    word, before = words[place], words[place - 1] if place else None
    after = words[place + 1] if place + 1 < len(words) else None
    if after is None or not question[word.end : after.start].isspace():
        return Kind.THIS
    if word.low == "that" and before and before.low not in AUXILIARY | PREPOSITIONS:
        return None
    return Kind.THIS_KIND if after.low not in FUNCTION_WORDS else Kind.THIS


def _names_its_subject_from(question: str) -> int:
    """Where the clause after the first that names something begins: a pronoun from there on may stand for that."""
    first = next((item.start + len(item.text) for item in subjects_of(question)), len(question))
    return next((match.start() for match in _PAUSE.finditer(question) if match.start() >= first), len(question))


def _as_a_whole(question: str, words: list[Word]) -> Kind | None:
    """What is missing from a question without a word that points back; None where it names its subject."""
    content = [word for word in words if word.low not in FUNCTION_WORDS | CHATTER]
    if not content or any(item.named for item in subjects_of(question)):
        return None
    asks = any(word.low in ASKING | AUXILIARY for word in words)
    if asks and all(is_general(word.low) for word in content):
        return Kind.GENERAL
    if not asks and len(words) <= MOST_FRAGMENT_WORDS and not any(word.low in VERBS for word in words):
        return Kind.FRAGMENT
    return Kind.DEFINITE if _speaks_of_the_known(question, words) else None


def _speaks_of_the_known(question: str, words: list[Word]) -> bool:
    """Whether a noun stands after `the` with nothing after it that would say which."""
    for place, word in enumerate(words):
        if word.low != "the":
            continue
        end = place + 1
        while end < len(words) and words[end].low not in FUNCTION_WORDS | VERBS and _follows(question, words, end):
            end += 1
        if end == place + 1 or words[end - 1].low in UNIQUE:
            continue
        if end == len(words) or words[end].low not in MODIFYING or not _follows(question, words, end):
            return True
    return False


def _follows(question: str, words: list[Word], place: int) -> bool:
    return question[words[place - 1].end : words[place].start].isspace()
