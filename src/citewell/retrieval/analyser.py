"""Text to the tokens that the keyword leg matches: the same for a document's text and for a query.

A token never holds white space: the store joins them by spaces and splits there. BM25 reads them as a bag, so their
order says nothing.
"""

from __future__ import annotations

import re
import unicodedata

from citewell.retrieval.amounts import amount_tokens
from citewell.retrieval.codes import lump_tokens, lumps_of, spaced_tokens
from citewell.retrieval.words import QUERY, Reading

ANALYSER_VERSION = "1"
"""Changes whenever a text may give other tokens; an index made by another version must be built anew."""

_ASKING = """
a about all also am an and any are as at be been being between but by can could did do does doing for from
had has have having how i if in into is it its me my no not of on or our should so such than that the their
them then there these they this those to was we were what when where which who whom whose why will with
would you your
"""
# Words that only ask. Left out of queries, not of documents: a query of nothing else still finds what it says.
STOP_WORDS = frozenset(_ASKING.split())

_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_APOSTROPHES = "\u2018\u2019\u02bc\u2032"
# Soft hyphen, joiners, direction marks: a reader does not see them, so they do not tell two words apart.
_INVISIBLE = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
_ZEROS = "\u0660\u06f0\u0966\u09e6\u0e50\u0ed0\u1040\u17e0"  # of scripts with digits of their own
_SAME = str.maketrans(
    {
        **dict.fromkeys(_DASHES, "-"),
        **dict.fromkeys(_APOSTROPHES, "'"),
        **{chr(ord(zero) + n): str(n) for zero in _ZEROS for n in range(10)},
        "\u2044": "/",
    }
)
_UNSEEN = re.compile(f"[{_INVISIBLE}]")
# Both begin with the rare sign and then look back, so that a search goes from one such sign to the next.
_SPACED_THOUSANDS = re.compile("[\u00a0\u2009\u202f](?<=\\d.)(?=\\d{3}(?!\\d))")
# A footnote's number or a fraction right after a number is not one of its digits: 120², 2½.
_RAISED = re.compile("([²³¹¼-¾⁰⁴-⁹⅐-⅞])(?<=\\d.)")


def analyse(text: str, language: str = "") -> list[str]:
    """A document's tokens. `language` is its tag (`de`, `pt-BR`), or "" for unknown, which is read as English."""
    text = _normal(text)
    return _tokens(text, lumps_of(text), Reading.document(language))


def analyse_query(text: str) -> list[str]:
    """A query's tokens, each once, in the order of their first appearance. Words that only ask are left out."""
    text = _normal(text)
    lumps = lumps_of(text)
    shouted = text.isupper()
    telling = [
        lump
        for lump in lumps
        if lump.casefold() not in STOP_WORDS or (lump.isupper() and not shouted)  # WHO, IT, vitamin A
    ]
    return list(dict.fromkeys(_tokens(text, telling or lumps, QUERY)))


def _tokens(text: str, lumps: list[str], reading: Reading) -> list[str]:
    tokens = [token for lump in lumps for token in lump_tokens(lump, reading)]
    tokens += spaced_tokens(text, reading)
    tokens += amount_tokens(text)
    return tokens


def _normal(text: str) -> str:
    """One spelling for what looks the same: NFKC, one hyphen, one apostrophe, nothing invisible, European digits."""
    if text.isascii():
        return text
    text = _RAISED.sub(r" \1", _SPACED_THOUSANDS.sub("", _UNSEEN.sub("", text)))
    return unicodedata.normalize("NFKC", text).translate(_SAME)
