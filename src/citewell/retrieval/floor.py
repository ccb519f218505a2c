"""When nothing found is near enough to the question, retrieval says no.

A fused score cannot tell: some passage always ranks first. The floor looks at what a rank hides, the cosine of question
and passage and the share of the question's words that the passage holds. Their weighted sum tells questions that
SQuAD's paragraphs answer from others whose article is taken away better than the cosine alone; docs/floor.md has the
figures and how they were made.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Literal

from citewell.models.embedder import ModelIdentity
from citewell.models.minilm import IDENTITY
from citewell.retrieval.amounts import amount_tokens
from citewell.retrieval.analyser import analyse, analyse_query
from citewell.stores.home import Calibration
from citewell.types import Floor, FloorOrigin, Hit

# As the analyser joins the parts of a code. Digits first would take in times and ordinals (3pm, 2nd).
_CODE = re.compile(r"[a-z]{1,4}\d+")

COVERAGE_WEIGHT = 0.15
BUILT_IN = 0.40
"""For the built-in embedder where nobody has calibrated."""

NO_CALIBRATION = (
    "The floor is not calibrated for this embedder, so passages about something else are not stopped; "
    "`citewell calibrate TESTSET` fits it."
)
NOTHING_SEPARATES = (
    "The last calibration found no floor that tells answerable questions from others; the answer was only checked for "
    "a sentence that is about the question."
)
_WARNINGS = {FloorOrigin.NOT_CALIBRATED: NO_CALIBRATION, FloorOrigin.NOTHING_SEPARATES: NOTHING_SEPARATES}


def floor_of(
    setting: Literal["calibrated", "off"] | float,
    calibration: Calibration | None,
    generation: int,
    embedder: ModelIdentity,
) -> Floor:
    """The floor in force in a generation made with `embedder`. A calibration of another one counts for nothing."""
    if setting == "off":
        return Floor(FloorOrigin.OFF)
    if setting != "calibrated":
        return Floor(FloorOrigin.SETTINGS, setting)
    if calibration is not None and calibration.fits(generation, embedder):
        fitted = FloorOrigin.NOTHING_SEPARATES if calibration.least is None else FloorOrigin.CALIBRATED
        return Floor(fitted, calibration.least, calibration.made)
    return Floor(FloorOrigin.BUILT_IN, BUILT_IN) if embedder == IDENTITY else Floor(FloorOrigin.NOT_CALIBRATED)


def floor_warnings(floor: Floor) -> tuple[str, ...]:
    """What an answer is to say about it."""
    return (_WARNINGS[floor.origin],) if floor.origin in _WARNINGS else ()


def above_floor(question: str, hits: Sequence[Hit], least: float | None) -> tuple[Hit, ...]:
    """The hits whose evidence reaches `least`, in the order given; with None, those that no code rules out."""
    found = zip(hits, evidence(question, hits), strict=True)
    return tuple(hit for hit, value in found if value > -math.inf and (least is None or value >= least))


def holds(words: str, hit: Hit) -> bool:
    """Whether the hit holds one of these words at least."""
    return not frozenset(analyse(words)).isdisjoint(_tokens(hit))


def best_evidence(question: str, hits: Sequence[Hit]) -> float:
    """Of all hits. The question is refused at every floor above it; at any floor where there is no hit (-inf)."""
    return max(evidence(question, hits), default=-math.inf)


def evidence(question: str, hits: Sequence[Hit]) -> tuple[float, ...]:
    """How much speaks for each hit's being about the question: cosine + 0.15 * coverage, -1 to 1.15.

    Coverage is the share of the question's words that the passage holds. A code that the question names (`R-17`)
    decides by itself: inf for a passage that holds it, however low its cosine, and -inf for all where none does,
    because the question then has no answer here, however near they come.
    """
    asked = content_words(question)
    tokens = [frozenset(_tokens(hit)) for hit in hits]
    codes = named_codes(question)
    if codes and all(codes.isdisjoint(held) for held in tokens):
        return (-math.inf,) * len(hits)
    # A query may be typed without care: `ex 409` is a code where a passage has it, and proves nothing where none has.
    perhaps = codes | _codes(analyse_query(question))
    return tuple(
        hit.cosine + COVERAGE_WEIGHT * len(asked & held) / len(asked) if perhaps.isdisjoint(held) else math.inf
        for hit, held in zip(hits, tokens, strict=True)
    )


def named_codes(question: str) -> frozenset[str]:
    """The tokens of the codes that a question names for certain; amounts (`EUR25`) are none."""
    return _codes(content_words(question)).difference(amount_tokens(question))


def _codes(tokens: Iterable[str]) -> frozenset[str]:
    return frozenset(token for token in tokens if _CODE.fullmatch(token))


def content_words(question: str) -> frozenset[str]:
    """The question's tokens without the words that only ask, read as those of a document are; never none."""
    read = frozenset(analyse(question))
    return read.intersection(analyse_query(question)) or read or frozenset((question,))


def _tokens(hit: Hit) -> list[str]:
    chunk = hit.chunk
    return analyse("\n".join((chunk.title, *chunk.heading_path, chunk.preamble, chunk.text)))
