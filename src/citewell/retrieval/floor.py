"""When nothing found is near enough to the question, retrieval says no.

A fused score cannot tell: some passage always ranks first. The floor looks at what a rank hides, the cosine of question
and passage and the share of the question's words that the passage holds. Their weighted sum tells questions that
SQuAD's paragraphs answer from the same questions with the article taken away better than either alone; docs/floor.md
has the figures and how they were made.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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

    A question that names a code (`R-17`) which none of them holds has no answer here, however near the rest comes.
    """
    if floor == "off":
        return tuple(hits)
    least = CALIBRATED if floor == "calibrated" else floor
    asked = _content(question)
    held = {hit.chunk.id: asked.intersection(_tokens(hit)) for hit in hits}
    passing = tuple(hit for hit in hits if hit.cosine + COVERAGE_WEIGHT * len(held[hit.chunk.id]) / len(asked) >= least)
    codes = {token for token in asked if _CODE.fullmatch(token)}.difference(amount_tokens(question))
    if codes and not any(codes & held[hit.chunk.id] for hit in passing):
        return ()
    return passing


def _content(question: str) -> frozenset[str]:
    """The question's tokens without the words that only ask, read as those of a document are."""
    read = frozenset(analyse(question))
    return read.intersection(analyse_query(question)) or read or frozenset((question,))


def _tokens(hit: Hit) -> list[str]:
    chunk = hit.chunk
    return analyse("\n".join((chunk.title, *chunk.heading_path, chunk.text)))
