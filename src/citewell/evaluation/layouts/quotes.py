"""Which words of a passage stand for it: a sentence, since a chunk ends within one only where it must."""

from __future__ import annotations

from citewell.chunking.sentences import sentences
from citewell.evaluation.words import words

LONGEST = 300
"""Characters of a quote, some 70 tokens: less than a chunk of any useful size."""
FEWEST_WORDS = 4
"""In a first sentence that stands for its passage; shorter ones ("BACKGROUND:") are passed over."""


def opening(text: str) -> str:
    """The first sentence of a passage: what stands for it where all that is known is that it is relevant.

    Any other choice would have to guess what answers, by words that the question shares, and so help keyword search.
    """
    spans = sentences(text)
    start, end = next((span for span in spans if len(text[slice(*span)].split()) >= FEWEST_WORDS), (0, len(text)))
    return _bounded(text[start:end])


def around(text: str, offset: int) -> str:
    """The sentence in which an answer begins."""
    start, end = next(((start, end) for start, end in sentences(text) if offset < end), (0, len(text)))
    if end - start > LONGEST:
        start = max(start, offset - LONGEST // 2)
        start = offset if start > offset else text.rfind(" ", 0, start) + 1
    return _bounded(text[start:end])


def sharing(text: str, answer: str) -> str:
    """The sentence that has most of an answer's words, the first of several."""
    wanted = words(answer)
    spans = sentences(text) or [(0, len(text))]
    start, end = max(spans, key=lambda span: len(wanted & words(text[slice(*span)])))
    return _bounded(text[start:end])


def _bounded(text: str) -> str:
    text = text.strip()
    return text if len(text) <= LONGEST else text[: LONGEST + 1].rpartition(" ")[0].strip() or text[:LONGEST]
