"""`diagnose` and `tune`: what they print of a small bank, and a planted setting that they name."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from citewell.evaluation import tuning
from citewell.evaluation.answers import measured
from citewell.evaluation.measures import Measured
from citewell.evaluation.runs import Outcome
from citewell.evaluation.testset import read_testset
from citewell.evaluation.tuning import Tuned
from tests.cli.conftest import Run

QUESTIONS = (
    {
        "id": "days",
        "kind": "factoid",
        "question": "How many days to dispute a card payment?",
        "must_contain": ["120 days"],
        "evidence": [{"document": "manuals/manual-2026.md", "quote": "120 days from the transaction date"}],
    },
    {
        "id": "velocity",
        "kind": "factoid",
        "question": "How many payments does the velocity rule flag?",
        "evidence": [{"document": "manuals/scoring.md", "quote": "nine payments within one hour"}],
    },
    {
        "id": "both",
        "kind": "multi_part",
        "question": "How many days to dispute a card payment, and what does code R-17 mean?",
        "evidence": [
            {"document": "manuals/manual-2026.md", "quote": "120 days from the transaction date"},
            {"document": "manuals/manual-2026.md", "quote": "suspected fraud"},
        ],
    },
    {"id": "mars", "kind": "not_covered", "question": "Is there a branch on Mars?", "answerable": False},
)
KEYS = ["version", "questions", "failed", "untold", "kinds", "labels", "proposals"]


@pytest.fixture
def testset(bank: Path, tmp_path: Path) -> Path:
    path = tmp_path / "testset.jsonl"
    path.write_text("".join(json.dumps(question) + "\n" for question in QUESTIONS))
    return path


@pytest.fixture
def one_kept(tmp_path: Path) -> Path:
    """The planted regression."""
    path = tmp_path / "one.toml"
    path.write_text("[retrieval]\nkeep = 1\n")
    return path


def test_what_failed_and_what_to_try(testset: Path, one_kept: Path, citewell: Run) -> None:
    ran = citewell("diagnose", testset, "--settings", one_kept)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "4 questions, 2 failed."
    assert any(line.startswith("not allowed ") and "factoid 1" in line for line in lines)
    assert any(
        line.startswith("velocity ") and "scoring.md is for fraud_team; asked as everyone" in line for line in lines
    )
    assert any(line.startswith("both ") and "keep is 1, candidates 100" in line for line in lines)
    first = next(at for at, line in enumerate(lines) if "keep 5: could mend 1" in line)
    assert lines[first + 1] == "   retrieval.keep = 5"
    assert "ms a question. Risk: More passages" in lines[first + 2]
    assert "check the access rules" in ran.out


def test_the_floor_that_nobody_calibrated(testset: Path, citewell: Run) -> None:
    """One question is refused for a code, and for calibrating there are 19 and 20 too few."""
    lost = {**QUESTIONS[0], "question": "How many days to dispute a card payment by rule Q-99?"}
    testset.write_text(json.dumps(lost))
    ran = citewell("diagnose", testset)
    assert "and none has the code that the question names; the floor is 0.40, built-in\n" in ran.out
    assert "1. no floor: could mend 1 (below the floor 1)\n" in ran.out
    assert "lower floor" not in ran.out
    assert "calibrate" not in ran.out


def test_nothing_failed(testset: Path, tmp_path: Path, citewell: Run) -> None:
    testset.write_text(json.dumps(QUESTIONS[0]) + "\n")
    ran = citewell("diagnose", testset)
    assert (ran.code, ran.out) == (0, "1 question, 0 failed.\n")


def test_as_json(testset: Path, one_kept: Path, citewell: Run) -> None:
    ran = citewell("diagnose", testset, "--settings", one_kept, "--retrieval-only", "--json")
    assert (ran.code, ran.err) == (0, "")
    shape = ran.json
    assert list(shape) == KEYS
    assert (shape["version"], shape["questions"], shape["untold"]) == (1, 4, ["mars"])
    velocity, both = shape["failed"]
    assert (velocity["id"], velocity["kind"], velocity["rank"]) == ("velocity", "not allowed", None)
    assert velocity["evidence"]["quote"] == "nine payments within one hour"
    assert (both["id"], both["kind"], both["rank"]) == ("both", "below k", 2)
    assert set(both["ranks"]) == {"dense", "keyword"}
    assert sum(each["questions"] for each in shape["kinds"]) == 2
    keep = next(each for each in shape["proposals"] if each["name"] == "keep 5")
    assert (keep["settings"], keep["questions"], keep["available"]) == ({"retrieval.keep": 5}, 1, True)
    assert set(keep["cost"]) == {"build", "bytes", "query_ms", "model_calls"}
    assert all((each["cost"] is None) or each["available"] for each in shape["proposals"])


def test_a_broken_analyser_is_named(
    testset: Path, one_kept: Path, citewell: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = {**QUESTIONS[0], "question": "Does code R-17 tell the transaction date?", "must_contain": ["x"]}
    testset.write_text(json.dumps(lost))
    assert "a leg is broken" not in citewell("diagnose", testset, "--settings", one_kept).out
    monkeypatch.setattr("citewell.retrieval.legs.analyse_query", lambda text: [word[::-1] for word in text.split()])
    ran = citewell("diagnose", testset, "--settings", one_kept)
    assert "the keyword leg found 0 passages and not this one, though both hold transaction" in ran.out
    assert "1. mend the keyword leg: could mend 1 (a leg is broken 1)" in ran.out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["diagnose", "none.jsonl"], 2, "none.jsonl cannot be read"),
        (["diagnose", "{testset}", "--judge", "nobody"], 2, "There is no judge 'nobody'"),
        (["diagnose", "{testset}", "--index", "nowhere"], 2, "There is no index in nowhere"),
        (["tune", "none.jsonl"], 2, "none.jsonl cannot be read"),
        (["tune", "{testset}", "--budget", "5", "--questions", "5"], 2, "not both"),
        (["tune", "{testset}", "--out", "{testset}"], 2, "exists already"),
        (["tune", "{testset}"], 2, "4 questions are too few"),
    ],
)
def test_what_is_refused(testset: Path, citewell: Run, arguments: list[str], code: int, said: str) -> None:
    ran = citewell(*(each.replace("{testset}", str(testset)) for each in arguments))
    assert ran.code == code
    assert said in ran.err
    assert ran.out == ""


def test_tuning_mends_what_was_planted(
    testset: Path, one_kept: Path, tmp_path: Path, citewell: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [json.dumps({**QUESTIONS[2], "id": f"both-{number}"}) for number in range(16)]
    testset.write_text("\n".join(lines))
    to, results, tuned = tmp_path / "found.toml", list[Tuned](), tuning.tune

    def once(*arguments: Any, **named: Any) -> Tuned:
        """Printed twice, and tuned once."""
        if not results:
            results.append(tuned(*arguments, **named))
        return results[0]

    monkeypatch.setattr(tuning, "tune", once)
    common = (testset, "--settings", one_kept, "--questions", "12", "--workbench", tmp_path / "bench")
    ran = citewell("tune", *common, "--out", to)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("8 questions to tune on, 8 to confirm with. Of the first 8 failed.\n")
    assert "Of the 8 other questions 8 failed before and 0 after (-1.000, " in ran.out
    assert "Add to citewell.toml:\n[retrieval]\nkeep = " in ran.out
    assert tomllib.loads(to.read_text())["retrieval"]["keep"] > 1

    shape = citewell("tune", *common, "--json").json
    assert len(results) == 1
    assert (shape["tuning"], shape["confirming"], shape["failed"], shape["kept"]) == (8, 8, 8, True)
    assert shape["best"]["settings"] == {"retrieval.keep": tomllib.loads(to.read_text())["retrieval"]["keep"]}
    assert (shape["confirmation"]["before"], shape["confirmation"]["after"]) == (0, 1)


def test_what_the_other_half_does_not_confirm_is_not_written(
    testset: Path, one_kept: Path, tmp_path: Path, citewell: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Right answers to the half that tunes, and wrong ones to the other, whatever the settings."""
    questions = [{**QUESTIONS[2], "id": f"both-{number}"} for number in range(16)]
    testset.write_text("\n".join(map(json.dumps, questions)))
    confirming = {question.id for question in tuning.halves(read_testset(testset))[1]}

    def scripted(outcome: Outcome, *arguments: Any) -> Measured:
        found = measured(outcome, *arguments)
        right = {"correct": float(outcome.question.id not in confirming)}
        return replace(found, values={**found.values, **right})

    monkeypatch.setattr("citewell.evaluation.scored.measured", scripted)
    to = tmp_path / "found.toml"
    common = ("--settings", one_kept, "--questions", "12", "--workbench", tmp_path / "bench")
    ran = citewell("tune", testset, *common, "--out", to)
    assert ran.code == 0
    assert "\nNot confirmed: keep 5\nOf the 8 other questions 8 failed before and 8 after" in ran.out
    assert "\nTo try it all the same, in citewell.toml:\n[retrieval]\nkeep = 5\n" in ran.out
    assert "there is nothing that was confirmed" in ran.err
    assert not to.exists()


def test_what_is_not_confirmed_is_not_written(testset: Path, tmp_path: Path, citewell: Run) -> None:
    testset.write_text("\n".join(json.dumps({**QUESTIONS[0], "id": f"days-{number}"}) for number in range(16)))
    to = tmp_path / "found.toml"
    ran = citewell("tune", testset, "--questions", "16", "--workbench", tmp_path / "bench", "--out", to)
    assert ran.code == 0
    assert "there is nothing that was confirmed" in ran.err
    assert ran.out.endswith("Nothing that was tried fails less often.\n")
    assert not to.exists()
