"""A judge that goes on where it was stopped."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest

from citewell.checking.judge import Failure, Judgement
from citewell.errors import DiskFull
from citewell.evaluation.judging.remembered import RememberedJudge
from tests.evaluation.scripted_judge import ScriptedJudge

PASSAGES = ["a secret passage", "another"]


def test_a_second_run_judges_nothing(tmp_path: Path) -> None:
    path, inner = tmp_path / "bench" / "judgements.jsonl", ScriptedJudge()
    claims = ["secret", "missing", "another"]
    first = RememberedJudge(inner, path).judge(claims, PASSAGES, "Q?")
    again = RememberedJudge(inner, path).judge(claims, PASSAGES, "Q?")
    assert [one.support for one in first] == [one.support for one in again] == [1, 0, 1]
    assert inner.asked == claims
    assert RememberedJudge(inner, path).name == "scripted"


@pytest.mark.parametrize(
    ("claim", "passages", "question"),
    [
        ("other", PASSAGES, "Q?"),
        ("secret", PASSAGES[:1], "Q?"),
        ("secret", PASSAGES[::-1], "Q?"),
        ("secret", PASSAGES, ""),
    ],
)
def test_what_differs_is_judged_anew(tmp_path: Path, claim: str, passages: list[str], question: str) -> None:
    path, inner = tmp_path / "judgements.jsonl", ScriptedJudge()
    RememberedJudge(inner, path).judge(["secret"], PASSAGES, "Q?")
    RememberedJudge(inner, path).judge([claim], passages, question)
    assert len(inner.asked) == 2


def test_another_judge_is_another_judgement(tmp_path: Path) -> None:
    path, inner, other = tmp_path / "judgements.jsonl", ScriptedJudge(), ScriptedJudge()
    other.name = "other"
    RememberedJudge(inner, path).judge(["secret"], PASSAGES)
    RememberedJudge(other, path).judge(["secret"], PASSAGES)
    assert other.asked == ["secret"]


def test_failures_are_judged_again_and_contradictions_kept(tmp_path: Path) -> None:
    path = tmp_path / "judgements.jsonl"
    replies = {"a": Judgement(None, Failure.TIME_OUT), "b": Judgement(0.2, contradicted=True, reason="a secret")}

    def rule(claim: str, passages: Sequence[str]) -> Judgement:
        return replies[claim]

    first = RememberedJudge(ScriptedJudge(rule), path).judge(["a", "b"], PASSAGES)
    assert [one.failure for one in first] == [Failure.TIME_OUT, None]
    replies["a"] = Judgement(1.0)
    inner = ScriptedJudge(rule)
    assert RememberedJudge(inner, path).judge(["a", "b"], PASSAGES) == [
        Judgement(1.0),
        Judgement(0.2, contradicted=True),
    ]
    assert inner.asked == ["a"]


def test_the_file_is_the_owners_and_holds_no_text(tmp_path: Path) -> None:
    path = tmp_path / "judgements.jsonl"
    RememberedJudge(ScriptedJudge(lambda *_: Judgement(0.75, reason="secret")), path).judge(["secret"], PASSAGES)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "secret" not in path.read_text()
    assert '"support":0.75' in path.read_text()


def test_a_line_that_a_kill_cut_is_passed_over(tmp_path: Path) -> None:
    path, inner = tmp_path / "judgements.jsonl", ScriptedJudge()
    RememberedJudge(inner, path).judge(["secret", "missing"], PASSAGES)
    path.write_bytes(path.read_bytes().rstrip()[:-9])
    RememberedJudge(inner, path).judge(["secret", "missing", "another"], PASSAGES)
    RememberedJudge(inner, path).judge(["secret", "missing", "another"], PASSAGES)
    assert inner.asked == ["secret", "missing", "missing", "another"]


def test_lines_that_are_no_judgement_are_passed_over(tmp_path: Path) -> None:
    path, inner = tmp_path / "judgements.jsonl", ScriptedJudge()
    RememberedJudge(inner, path).judge(["secret"], PASSAGES)
    line = path.read_text().strip()
    path.write_text(line.replace("1.0", "NaN") + "\n\xff\n[]\n" + line.replace("1.0", "7") + "\n")
    assert [one.support for one in RememberedJudge(inner, path).judge(["secret"], PASSAGES)] == [1]
    assert len(inner.asked) == 2


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    judge = RememberedJudge(ScriptedJudge(), tmp_path / "judgements.jsonl")
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(DiskFull, match="no room left"):
        judge.judge(["secret"], PASSAGES)
