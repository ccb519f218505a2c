from __future__ import annotations

import json
from dataclasses import replace

import pytest

from citewell.evaluation.calibration import Evidenced, fit
from citewell.evaluation.report.evaluated import Evaluated
from citewell.evaluation.report.shape import as_shape
from citewell.evaluation.testset import Question
from tests.evaluation.report.conftest import HOSTILE, TEXTS, made, right


def test_what_was_evaluated(small: Evaluated) -> None:
    shape = as_shape(small)
    assert shape["version"] == 1
    assert shape["at"] == "2026-11-30T08:15:00+00:00"
    assert shape["index"] == {
        "documents": 2,
        "chunks": 1_234,
        "embedder": "all-MiniLM-L6-v2-int8",
        "floor": {"origin": "calibrated", "least": 0.334},
    }
    assert shape["testset"]["unreviewed"] == 1
    assert shape["judge"] == {"name": "scripted", "agreement": [f"Spearman 0.41 {HOSTILE}"]}
    assert shape["floor_curve"] is None


def test_it_is_json_without_nan_and_says_nothing_of_the_machine(small: Evaluated) -> None:
    text = json.dumps(as_shape(small), allow_nan=False)
    assert "somewhere" not in text
    assert "file://" not in text


def test_a_slice_has_its_measures_by_name(small: Evaluated) -> None:
    slices = {each["name"]: each for each in as_shape(small)["slices"]}
    assert {name: each["questions"] for name, each in slices.items()} == {
        "all questions": 5,
        "factoid": 1,
        f"kind {HOSTILE}": 1,
        "who": 2,
        "late": 1,
        "as audit, staff": 1,
        "as everyone": 4,
    }
    measures = slices["all questions"]["measures"]
    assert measures["correct"]["mean"] == 0.5
    assert measures["correct"]["questions"] == 4
    assert measures["correct"]["low"] <= 0.5 <= measures["correct"]["high"]
    assert measures["refusal precision"]["mean"] == 0.5
    assert measures["refusal recall"]["mean"] == 1
    assert measures["recall@1"]["mean"] == pytest.approx(3 / 4)
    assert measures["recall@3"]["mean"] == 1
    assert measures["citation recall"] == {
        "mean": None,
        "low": None,
        "high": None,
        "questions": 0,
        "failed": {"time-out": 1},
    }


def test_refusals_and_times(small: Evaluated) -> None:
    shape = as_shape(small)
    assert shape["refusals"] == {
        "answerable": {"answered": 2, "refused": 1},
        "unanswerable": {"answered": 0, "refused": 1},
    }
    assert shape["latency"] == {"search": {"p50": 30, "p95": 40}, "answer": {"p50": 80, "p95": 120}}


def test_a_question_is_there_with_passages_answer_and_steps(small: Evaluated) -> None:
    question = as_shape(small)["questions"][0]
    assert question["id"] == "right-1"
    assert question["groups"] == ["audit", "staff"]
    assert question["as_of"] == "2026-05-01"
    assert question["labels"] == ["factoid"]
    assert question["evidence"][0]["rank"] == 1
    assert question["values"]["hit@1"] == 1
    assert question["failed"] == {}
    assert question["problems"] == []
    assert question["read"] == ["chunk-0", "chunk-1"]
    assert question["hits"][0] == {
        "rank": 1,
        "chunk": "chunk-0",
        "document": "doc-1",
        "title": "Rules",
        "section": "4 Disputes > 4.0 Part",
        "page": "22–23",
        "start": 0,
        "end": len(TEXTS[0]),
        "score": 0.5,
        "scale": "rrf",
        "cosine": 0.4,
        "lists": {"dense": 2, "keyword": 1},
        "evidence": [0],
    }
    assert question["answer"]["sentences"] == [{"text": "Within 120 days.", "citations": [1]}]
    assert question["answer"]["citations"][0]["page"] == "22"
    assert question["trace"][0] == {"step": "dense", "ms": 4.25, "in": 1, "out": 50}


def test_a_question_without_an_answer_has_its_error(small: Evaluated) -> None:
    question = as_shape(small)["questions"][4]
    assert question["answer"] is None
    assert question["answer_ms"] is None
    assert question["trace"] == []
    assert question["error"].startswith("no route to")
    assert question["read"] == ["chunk-0", "chunk-1"]


def test_a_calibration_adds_its_curve() -> None:
    found = [Evidenced(Question(question="q", answerable=at >= 3), at / 10) for at in range(8)]
    shape = as_shape(replace(made([right()]), floor_curve=fit(found)))["floor_curve"]
    assert shape["best"] == pytest.approx(0.25)
    assert shape["points"][0] == {"floor": 0, "refusal_precision": None, "refusal_recall": 0, "answered": 1}
    assert shape["points"][3] == {"floor": 0.25, "refusal_precision": 1, "refusal_recall": 1, "answered": 1}
