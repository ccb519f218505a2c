"""The floor: what evidence is, who passes, and which floor is in force."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date

import pytest

from citewell.models.minilm import IDENTITY
from citewell.retrieval.floor import (
    BUILT_IN,
    NO_CALIBRATION,
    NOTHING_SEPARATES,
    above_floor,
    best_evidence,
    evidence,
    floor_of,
    floor_warnings,
)
from citewell.stores.home import Calibration
from citewell.types import Chunk, ElementKind, Floor, FloorOrigin, Hit, Rights, Scale, Trust

OTHER = replace(IDENTITY, name="onnx:/models/other")
MADE = date(2026, 5, 4)


def hit(text: str, cosine: float) -> Hit:
    rights = Rights(frozenset({"everyone"}))
    chunk = Chunk(
        text, "d", "", "file:///d.md", "1", text, 0, len(text), (), (), ElementKind.PARAGRAPH, rights, Trust.APPROVED
    )
    return Hit(chunk, text, 0.3, Scale.RRF, 1, {"dense": 1}, cosine)


def calibration(least: float | None, generation: int = 1) -> Calibration:
    return Calibration(least, generation, IDENTITY, 40, 30, 0.9, 0.8, MADE)


# Evidence


def test_evidence_is_the_cosine_and_the_share_of_the_questions_words() -> None:
    hits = [hit("The ferry leaves the harbour at nine.", 0.5), hit("Umbrellas are sold upstairs.", 0.1)]
    # "when", "does" and "the" only ask: ferry and leave are left.
    assert evidence("When does the ferry leave?", hits) == pytest.approx((0.5 + 0.15, 0.1))
    assert evidence("When does the ferry sink?", hits) == pytest.approx((0.5 + 0.15 / 2, 0.1))
    assert best_evidence("When does the ferry leave?", hits) == pytest.approx(0.65)


def test_a_code_decides_by_itself() -> None:
    held, other = hit("R-17 means suspected fraud.", 0.05), hit("A card may be blocked.", 0.9)
    assert evidence("What does R-17 mean?", [held, other])[0] == math.inf
    assert evidence("What does R-17 mean?", [other]) == (-math.inf,)
    assert above_floor("What does R-17 mean?", [held, other], 1.1) == (held,)
    assert above_floor("What does R-17 mean?", [other], None) == ()


def test_where_nothing_is_found_there_is_no_evidence() -> None:
    assert evidence("What is it?", []) == ()
    assert best_evidence("What is it?", []) == -math.inf


def test_who_passes_keeps_the_order() -> None:
    hits = [hit("Rivers run.", 0.45), hit("Hills stand.", 0.2), hit("Seas wait.", 0.6)]
    assert above_floor("What is a mountain?", hits, 0.45) == (hits[0], hits[2])
    assert above_floor("What is a mountain?", hits, 0.61) == ()
    assert above_floor("What is a mountain?", hits, None) == tuple(hits)


# Which floor is in force


def test_the_settings_come_first() -> None:
    assert floor_of("off", calibration(0.5), 1, IDENTITY) == Floor(FloorOrigin.OFF)
    assert floor_of(0.3, calibration(0.5), 1, IDENTITY) == Floor(FloorOrigin.SETTINGS, 0.3)


def test_a_calibration_counts_for_the_embedder_and_generation_it_was_made_with() -> None:
    fitted = calibration(0.5)
    assert floor_of("calibrated", fitted, 1, IDENTITY) == Floor(FloorOrigin.CALIBRATED, 0.5, MADE)
    assert floor_of("calibrated", fitted, 2, OTHER) == Floor(FloorOrigin.NOT_CALIBRATED)
    # An endpoint may serve another model under the name and in the width of the old one.
    assert floor_of("calibrated", replace(fitted, embedder=OTHER), 2, OTHER) == Floor(FloorOrigin.NOT_CALIBRATED)
    assert floor_of("calibrated", fitted, 2, IDENTITY) == Floor(FloorOrigin.BUILT_IN, BUILT_IN)


def test_without_a_calibration_only_the_built_in_embedder_has_a_floor() -> None:
    assert floor_of("calibrated", None, 1, IDENTITY) == Floor(FloorOrigin.BUILT_IN, 0.40)
    assert floor_of("calibrated", None, 1, OTHER) == Floor(FloorOrigin.NOT_CALIBRATED)
    assert floor_of("calibrated", None, 1, replace(IDENTITY, dimensions=128)) == Floor(FloorOrigin.NOT_CALIBRATED)


def test_an_answer_says_what_is_wrong_with_its_floor() -> None:
    nothing = floor_of("calibrated", calibration(None), 1, IDENTITY)
    assert nothing == Floor(FloorOrigin.NOTHING_SEPARATES, None, MADE)
    assert floor_warnings(nothing) == (NOTHING_SEPARATES,)
    assert floor_warnings(Floor(FloorOrigin.NOT_CALIBRATED)) == (NO_CALIBRATION,)
    for origin in (FloorOrigin.OFF, FloorOrigin.SETTINGS, FloorOrigin.BUILT_IN, FloorOrigin.CALIBRATED):
        assert floor_warnings(Floor(origin, 0.4)) == ()
