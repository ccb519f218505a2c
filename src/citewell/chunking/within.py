"""Where to cut inside a sentence, a table row or a line that is longer than a chunk may be."""

from __future__ import annotations

import regex

from citewell.chunking.sentences import sentences

# What follows a cut begins a grapheme: no white space, no combining mark.
_BEGINS = r"(?=[^\s\p{GCB=EX}\p{GCB=SM}\p{GCB=ZWJ}])"
# (?r) searches backwards, so that the first match is the last border.
_CELL = regex.compile(rf"(?r)(?:\s\|\s+|\t\s*){_BEGINS}")
_CLAUSE = regex.compile(rf"(?r)(?:[,;:–—][\p{{Pe}}\p{{Pf}}\"']?\s+|[،؛，、；：][\p{{Pe}}\p{{Pf}}]?\s*){_BEGINS}")
_WORD = regex.compile(rf"(?r)\s{_BEGINS}")
_GRAPHEME = regex.compile(r"\X")
# Characters. Unicode's stream-safe form has 30 marks at most; hostile text has thousands.
LONGEST_GRAPHEME = 64


def cut_within(text: str, low: int, high: int) -> int:
    """Where to cut `text` after `low` and up to `high`: between cells, sentences, clauses, words, or else graphemes.

    `low` begins a grapheme. Where that one reaches beyond `high` the cut is behind it, unless it is longer than any
    of a real text: then it is cut itself. Cells and clauses count from the middle of the span on: a crumb before a
    long rest is worth less than a full chunk.
    """
    middle = (low + high) // 2
    cell = _last(_CELL, text, middle, high)
    if cell:
        return cell
    starts = [low + start for start, _ in sentences(text[low : high + 1])]
    if len(starts) > 1:
        return starts[-1]
    return _last(_CLAUSE, text, middle, high) or cut_at_word(text, low, high)


def cut_at_word(text: str, low: int, high: int) -> int:
    """Where to cut `text` after `low` and up to `high`: between words, or else graphemes. See `cut_within`."""
    return _last(_WORD, text, low, high) or _last_grapheme(text, low, high)


def _last(border: regex.Pattern[str], text: str, low: int, high: int) -> int:
    """End of the last match that begins in [low, high) and ends by `high`; 0 where there is none."""
    # One character more than the span, for the look-ahead.
    found = border.search(text, low, high + 1)
    return found.end() if found else 0


def _last_grapheme(text: str, low: int, high: int) -> int:
    """Where the last grapheme that fits ends, or the first where none fits."""
    last = low
    for grapheme in _GRAPHEME.finditer(text, low, max(high, low + LONGEST_GRAPHEME) + 1):
        if last > low and grapheme.end() > high:
            break
        last = grapheme.end()
    return last if last <= max(high, low + LONGEST_GRAPHEME) else max(high, low + 1)
