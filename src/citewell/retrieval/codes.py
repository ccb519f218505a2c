"""Codes, identifiers and paths: one token for the whole, equal in every spelling, and one for each part.

`R-17`, `R17` and `R – 17` give `r17`, `r`, `17`; `run_target` gives `runtarget`, `run`, `target`; `4.2(b)` and
`4.2 (b)` give `4.2b`, `4.2`, `b`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, groupby, islice, pairwise
from typing import Literal

from citewell.retrieval.amounts import NUMBER, UNIT_WORDS, plain_number
from citewell.retrieval.words import MAX_LENGTH, Reading, fold, gram_tokens, word_tokens

# Han, kana and hangul are read in pairs; scripts of South-East Asia, whose words are longer, in threes.
_PAIRED = (
    "\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_TRIPLED = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u1780-\u17d3"
# `\w` leaves out the combining marks, without which a word of Hindi falls to pieces.
_MARKS = "".join(char for char in map(chr, range(0x300, 0x1E00)) if unicodedata.category(char).startswith("M"))
_WORD = rf"[\w{_MARKS}]"
_LETTER = rf"(?:[^\W\d_{_PAIRED}{_TRIPLED}]|[{_MARKS}])"
_SIGNS = r"(?:(?:\+\+|#)(?![^\W\d]))?"  # C++, C#

_LUMP = re.compile(rf"{_WORD}+{_SIGNS}(?:(?:[-./&']|(?<=\d)[,:](?=\d)){_WORD}+{_SIGNS})*")
_PIECE = re.compile(
    rf"(?P<paired>[{_PAIRED}]+)|(?P<tripled>[{_TRIPLED}]+)|(?P<number>{NUMBER})"
    rf"|(?P<letters>{_LETTER}+(?:'{_LETTER}+)*{_SIGNS})"
)
_CLUSTER = re.compile(rf"[^{_MARKS}][{_MARKS}]*|[{_MARKS}]+")
_CAMEL = re.compile("[A-Z]+s?(?![a-z])|[A-Z]?[a-z]+")

_MOST_PIECES = 16  # of a whole; more is a path or a line of program text, which nobody types in another spelling
_LONGEST_UNBROKEN = 3  # pieces with nothing between them; more is a hash, whose parts mean nothing
_LONGEST_REMEMBERED = 32  # characters; a longer lump hardly comes twice

# The letters of a code that is written with a space. In a document only capitals or one letter (but not the article),
# or every number in prose would make a token; a query may be typed without care.
_SPACED = r"(?<!\w)({letters})(?:\s{{1,3}}-?\s{{0,3}}|-\s{{1,3}})(\d+(?:\.\d+)*)"
_SPACED_IN_DOCUMENT = re.compile(_SPACED.format(letters="[A-Z]{1,4}|[b-z]"))
_SPACED_IN_QUERY = re.compile(_SPACED.format(letters="[A-Za-z]{1,4}"))
_PARAGRAPH = re.compile(r"(?<![\d.])(\d+(?:\.\d+)*)\s?((?:\((?:[A-Za-z]|[ivxIVX]{2,4})\)){1,4})")


def lumps_of(text: str) -> list[str]:
    """What stands together without a space: a word, a number, or several joined by signs (`O-RING-9/B`)."""
    return _LUMP.findall(text)


def lump_tokens(lump: str, reading: Reading) -> tuple[str, ...]:
    """The tokens of one lump: of each part, and of the whole where it has several."""
    return _remembered(lump, reading) if len(lump) <= _LONGEST_REMEMBERED else _take_apart(lump, reading)


def spaced_tokens(text: str, reading: Reading) -> Iterator[str]:
    """The wholes of codes written with a space in them: `R 17`, `R - 17`, `4.2 (b)`."""
    for letters, number in (_SPACED_IN_QUERY if reading.is_query else _SPACED_IN_DOCUMENT).findall(text):
        if letters.casefold() not in UNIT_WORDS:
            yield fold(letters) + number
    for number, brackets in _PARAGRAPH.findall(text):
        yield from islice(accumulate(re.findall(r"\w+", fold(brackets)), initial=number), 1, None)


_Kind = Literal["letters", "number", "mixed"]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a code: letters, a number, or both where they are not taken apart; `joiner` is the sign before it."""

    kind: _Kind
    text: str
    joiner: str


def _take_apart(lump: str, reading: Reading) -> tuple[str, ...]:
    tokens: list[str] = []
    for spaceless, group in groupby(_PIECE.finditer(lump), lambda match: match.lastgroup in ("paired", "tripled")):
        if spaceless:
            for match in group:
                units, n = (list(match[0]), 2) if match.lastgroup == "paired" else (_CLUSTER.findall(match[0]), 3)
                tokens += gram_tokens(units, n, reading)
        else:
            tokens += _compound(list(_pieces(list(group), lump)), reading)
    return tuple(tokens)


_remembered = lru_cache(maxsize=1 << 16)(_take_apart)


def _pieces(matches: list[re.Match[str]], lump: str) -> Iterator[_Piece]:
    unbroken: list[list[re.Match[str]]] = []
    for match in matches:
        if unbroken and unbroken[-1][-1].end() == match.start():
            unbroken[-1].append(match)
        else:
            unbroken.append([match])
    end = matches[0].start()
    for run in unbroken:
        if len(run) > _LONGEST_UNBROKEN:
            start, stop = run[0].start(), run[-1].end()
            yield _Piece("mixed", lump[start:stop], joiner=lump[end:start])
            end = stop
            continue
        for match in run:
            kind: _Kind = "number" if match.lastgroup == "number" else "letters"
            yield _Piece(kind, match[0], joiner=lump[end : match.start()])
            end = match.end()


def _compound(pieces: list[_Piece], reading: Reading) -> Iterator[str]:
    for piece in pieces:
        yield from _part(piece, reading)
    if 1 < len(pieces) <= _MOST_PIECES:
        yield from _whole(pieces, reading)
    if 2 < len(pieces) <= _MOST_PIECES:
        for letters, number in pairwise(pieces):
            if letters.kind == "letters" and number.kind == "number":
                yield fold(letters.text) + plain_number(number.text)


def _part(piece: _Piece, reading: Reading) -> Iterator[str]:
    if piece.kind == "letters":
        yield from _letters(piece.text, reading)
    elif piece.kind == "mixed":
        yield fold(piece.text)[:MAX_LENGTH]
    else:
        yield plain_number(piece.text)[:MAX_LENGTH]


def _letters(text: str, reading: Reading) -> Iterator[str]:
    word = text.rstrip("+#")
    if word != text:
        yield fold(text)
        if len(word) == 1:  # C++ is not C
            return
    if unit := UNIT_WORDS.get(word.casefold()):
        yield unit
        return
    yield from word_tokens(word, reading.languages)
    parts = _CAMEL.findall(word) if word.isascii() and word.isalpha() and len(word) <= MAX_LENGTH else []
    if len(parts) > 1:
        for part in parts:
            if len(part) > 1:
                yield from word_tokens(part, reading.languages)


def _whole(pieces: list[_Piece], reading: Reading) -> tuple[str, ...]:
    """The code without its signs, but for one between two digits: `r17`, `v1.2.3`, `27001:2022`."""
    whole = ""
    for piece in pieces:
        text = plain_number(piece.text) if piece.kind == "number" else piece.text
        whole += (piece.joiner if whole[-1:].isdigit() and text[0].isdigit() else "") + text
    if all(piece.kind == "letters" for piece in pieces):
        return word_tokens(whole, reading.languages)
    return (fold(whole)[:MAX_LENGTH],)
