"""`evaluate`: the figures of a small test set, its reports, and a run that goes on where it was stopped."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from citewell.index import Index
from citewell.loading.given import from_text
from citewell.types import FileState
from tests.cli.conftest import Run
from tests.models.small_llm import served

TEXTS = {
    "disputes": "A customer may dispute a card payment within 120 days of the transaction date.",
    "fees": "The chargeback fee for a business card is EUR 45 for each case.",
    "branches": "The branch at Harbour Street opens at nine and closes at five.",
}
DAYS = {
    "id": "days",
    "question": "How many days does a customer have to dispute a card payment?",
    "expected_answer": "A customer has 120 days.",
    "must_contain": ["120 days"],
    "evidence": [{"document": "disputes.md", "quote": "within 120 days"}],
    "kind": "factoid",
}
FEE = {
    "id": "fee",
    "question": "What is the chargeback fee for a business card?",
    "expected_answer": "EUR 45 for each case.",
    "evidence": [{"document": "fees.md", "quote": "EUR 45"}],
    "kind": "factoid",
}
BREAD = {"id": "bread", "question": "How is a sourdough starter fed?", "answerable": False, "kind": "not_covered"}
LIMIT = {
    "id": "limit",
    "question": "What is the daily limit of the branch at Harbour Street?",
    "evidence": [{"document": "branches.md", "quote": "opens at nine"}],
    "must_contain": ["EUR 500"],
}


def write(path: Path, lines: Sequence[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.fixture(scope="module")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evaluated")
    with Index.create(folder / ".citewell") as index:
        index.add_documents([from_text(text, source=f"https://bank.example/{name}.md") for name, text in TEXTS.items()])
    write(folder / "testset.jsonl", [DAYS, FEE, BREAD, LIMIT])
    write(folder / "one.jsonl", [DAYS])
    write(folder / "two.jsonl", [DAYS, FEE])
    write(folder / "mixed.jsonl", [DAYS, FEE | {"reviewed": False}])
    return folder


@pytest.fixture
def folder(_made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(_made)
    return _made


def test_the_figures(folder: Path, citewell: Run) -> None:
    ran = citewell("evaluate", "testset.jsonl")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "4 questions"
    rows = {cells[0]: cells[1:] for line in lines if len(cells := re.split(r"\s{2,}", line.strip())) > 2}
    # The three with evidence find it; days, fee and bread are right, and the limit is answered beside the point.
    assert rows["recall@5"][0] == "1.000"
    assert (rows["correct"][0], rows["correct"][2]) == ("0.750", "4")
    assert (rows["refusal precision"][0], rows["refusal recall"][0]) == ("1.000", "1.000")
    assert rows["faithfulness"][0] == "1.000"
    assert rows["factoid"][:2] == ["2", "1.000"]
    assert any(line.startswith("judge aligned-1: Spearman") for line in lines)


def test_json_and_reports_hold_the_same_figures(folder: Path, citewell: Run, tmp_path: Path) -> None:
    names = [tmp_path / f"report{suffix}" for suffix in (".html", ".md", ".json")]
    ran = citewell("evaluate", "testset.jsonl", "--json", *(word for name in names for word in ("--report", str(name))))
    assert (ran.code, len(ran.err.splitlines())) == (0, 3)
    assert "report.html is written, for your eyes only" in ran.err
    shape = ran.json
    assert shape["version"] == 1
    saved = json.loads(names[2].read_text())
    correct = {one["id"]: one["values"]["correct"] for one in shape["questions"]}
    assert correct == {"days": 1, "fee": 1, "bread": 1, "limit": 0}
    assert {one["id"]: one["values"]["correct"] for one in saved["questions"]} == correct
    with Index.create(tmp_path / "other") as index:
        states = [file.state for file in index.add(*names).files]
    assert states == [FileState.SKIPPED] * 3, "they hold the test set's answers"
    assert "0.750" in names[0].read_text()
    assert "0.750" in names[1].read_text()


def test_evidence_that_is_nowhere_is_told(folder: Path, citewell: Run) -> None:
    gone = DAYS | {"id": "gone", "evidence": [{"document": "disputes.md", "quote": "within 90 days"}]}
    write(folder / "dead.jsonl", [DAYS, gone])
    ran = citewell("evaluate", "dead.jsonl", "--retrieval-only")
    assert ran.code == 0
    assert ran.err.splitlines() == [
        "citewell: the evidence of 1 question of dead.jsonl is not where it should be, which lowers the figures.",
        "  `citewell testset check dead.jsonl` names them.",
    ]


def test_retrieval_only_asks_for_no_answer(folder: Path, citewell: Run) -> None:
    shape = citewell("evaluate", "testset.jsonl", "--retrieval-only", "--json").json
    assert all(one["answer"] is None for one in shape["questions"])
    assert all("correct" not in one["values"] for one in shape["questions"])
    assert shape["questions"][0]["values"]["recall@5"] == 1


def test_drafts_are_left_out_and_it_is_said(folder: Path, citewell: Run) -> None:
    ran = citewell("evaluate", "mixed.jsonl")
    assert ran.err == "citewell: mixed.jsonl holds 1 draft, left out.\n"
    assert ran.out.startswith("1 question\n")


@pytest.mark.llm
@pytest.mark.xdist_group("llm")
def test_a_run_goes_on_with_what_the_model_wrote_before(
    folder: Path, citewell: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real model, and then none: what it was asked is remembered, what it was not has no answer."""
    monkeypatch.delenv("CITEWELL_LLM_API_KEY", raising=False)
    bench = tmp_path / "new" / "bench"
    options = ["--settings", str(tmp_path / "llm.toml"), "--workbench", str(bench), "--json"]
    with served() as url:
        keys = {"llm": "openai:smollm2", "llm_url": url, "llm_timeout_s": 250, "llm_max_tokens": 30}
        lines = (f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
        (tmp_path / "llm.toml").write_text("[models]\n" + "".join(lines))
        first = citewell("evaluate", "one.jsonl", *options)
    assert first.code == 0
    assert first.json["questions"][0]["values"]["tokens"] > 100
    assert bench.stat().st_mode & 0o777 == 0o700

    again = citewell("evaluate", "one.jsonl", *options)
    assert again.code == 0
    (before,), (after,) = first.json["questions"], again.json["questions"]
    assert before["answer"]["text"] == after["answer"]["text"]
    assert before["values"]["tokens"] == after["values"]["tokens"]

    more = citewell("evaluate", "two.jsonl", *options)
    assert more.code == 1
    assert "fee has no answer: " in more.err
    known, unknown = more.json["questions"]
    assert known["answer"]["text"] == before["answer"]["text"]
    assert (unknown["answer"], unknown["values"]["recall@5"]) == (None, 1)
