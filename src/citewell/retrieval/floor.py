"""When nothing found is near enough to the question, retrieval says no.

A fused score cannot tell: some passage always ranks first. The floor looks at what a rank hides, the cosine of question
and passage and the share of the question's words that the passage holds. Their weighted sum tells questions that
SQuAD's paragraphs answer from the same questions with the article taken away better than either alone; docs/floor.md
has the figures and how they were made.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from citewell.retrieval.amounts import amount_tokens
from citewell.retrieval.analyser import analyse, analyse_query
from citewell.types import Hit

# As the analyser joins the parts of a code. Digits first would take in times and ordinals (3pm, 2nd).
_CODE = re.compile(r"[a-z]{1,4}\d+")

COVERAGE_WEIGHT = 0.15
CALIBRATED = 0.40
"""For the default embedder: 99 % of answerable questions pass, 72 % of those about an absent article do not."""


def above_floor(question: str, hits: Sequence[Hit], floor: Literal["calibrated", "off"] | float) -> tuple[Hit, ...]:
    """The hits whose evidence reaches the floor, in the order given.

    A code that the question names (`R-17`) decides by itself: a passage that holds it passes, whatever its cosine, and
    where none does the question has no answer here, however near the rest comes.
    """
    if floor == "off":
        return tuple(hits)
    least = CALIBRATED if floor == "calibrated" else floor
    asked = _content(question)
    tokens = {hit.chunk.id: frozenset(_tokens(hit)) for hit in hits}
    codes = _codes(asked).difference(amount_tokens(question))
    if codes and all(codes.isdisjoint(held) for held in tokens.values()):
        return ()
    # A query may be typed without care: `ex 409` is a code where a passage has it, and proves nothing where none has.
    perhaps = codes | _codes(analyse_query(question))

    def passes(hit: Hit) -> bool:
        held = tokens[hit.chunk.id]
        evidence = hit.cosine + COVERAGE_WEIGHT * len(asked & held) / len(asked)
        return evidence >= least or not perhaps.isdisjoint(held)

    return tuple(filter(passes, hits))


def _codes(tokens: Iterable[str]) -> frozenset[str]:
    return frozenset(token for token in tokens if _CODE.fullmatch(token))


def _content(question: str) -> frozenset[str]:
    """The question's tokens without the words that only ask, read as those of a document are."""
    read = frozenset(analyse(question))
    return read.intersection(analyse_query(question)) or read or frozenset((question,))


def _tokens(hit: Hit) -> list[str]:
    chunk = hit.chunk
    return analyse("\n".join((chunk.title, *chunk.heading_path, chunk.preamble, chunk.text)))
