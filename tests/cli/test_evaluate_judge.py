"""`evaluate-judge`: what it prints, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

KEYS = [
    "data", "measure", "value", "low", "high", "answers", "false_alarms", "by_length", "matched", "without_claims",
    "not_judged",
]  # fmt: skip


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """Two questions, each with a right answer and a wrong one that is no longer."""
    passages = ["A customer may dispute a payment within 120 days. The fee is EUR 25."]
    answers = {"How long?": ("120 days", "90 days"), "Which fee?": ("EUR 25", "EUR 45")}
    path = tmp_path / "labels.jsonl"
    path.write_text(
        "".join(
            json.dumps({"question": question, "passages": passages, "answer": text, "supported": supported}) + "\n"
            for question, pair in answers.items()
            for text, supported in zip(pair, (True, False), strict=True)
        )
    )
    return path


def test_labels(labels: Path, citewell: Run) -> None:
    ran = citewell("evaluate-judge", labels)
    assert (ran.code, ran.err) == (0, "")
    lines = [line.split() for line in ran.out.splitlines()]
    assert lines[0] == ["judge", "aligned-1"]
    assert lines[2] == ["labels", "balanced", "accuracy", "1.000", "1.000", "to", "1.000", "4"]
    assert "labels: the number of words alone reaches 0.500" in ran.out
    assert "where a wrong answer is no longer than the right one: 1.000 (1.000 to 1.000), 4 answers" in ran.out
    assert "false alarms, right answers found unsupported: 0.000" in ran.out


def test_ratings_as_json(labels: Path, tmp_path: Path, citewell: Run) -> None:
    ratings = tmp_path / "mine.jsonl"
    records = [
        {"answer": "The fee is EUR 25.", "passages": ["The fee is EUR 25."], "rating": 4},
        {"answer": "The branch opens at nine.", "passages": ["The fee is EUR 25."], "rating": 1},
        {"answer": "I don't know.", "passages": ["The fee is EUR 25."], "rating": 4},
    ]
    ratings.write_text("".join(json.dumps(record) + "\n" for record in records))
    ran = citewell("evaluate-judge", ratings, labels, "--json")
    assert (ran.code, ran.json["version"], ran.json["judge"]) == (0, 1, "aligned-1")
    mine, theirs = ran.json["agreements"]
    assert list(mine) == list(theirs) == KEYS
    assert (mine["data"], mine["measure"], mine["value"], mine["answers"]) == ("mine", "Spearman", pytest.approx(1), 2)
    assert (mine["without_claims"], mine["matched"], mine["false_alarms"]) == (1, None, None)
    assert theirs["matched"]["answers"] == 4


def test_what_cannot_be_judged(labels: Path, tmp_path: Path, citewell: Run) -> None:
    assert citewell("evaluate-judge", tmp_path / "none.jsonl").code == 2
    other = citewell("evaluate-judge", labels, "--judge", "oracle")
    assert (other.code, "There is no judge 'oracle'" in other.err) == (2, True)
    missing = citewell("evaluate-judge", labels, "--judge", f"nli:{tmp_path / 'model'}")
    assert (missing.code, "has no model.onnx" in missing.err) == (2, True)
    llm = citewell("evaluate-judge", labels, "--judge", "llm")
    assert (llm.code, "the settings name none" in llm.err) == (2, True)
