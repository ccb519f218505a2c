"""`citewell testset`: drafts, imports and checks, on the small bank's index."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest
import typer
from typer.testing import CliRunner

from citewell.cli import testset
from citewell.errors import PathError
from citewell.evaluation.layouts import Layout
from citewell.evaluation.testset import read_testset

QUESTION = '{"id": "days", "question": "How long may a card payment be disputed?", "evidence": [%s], "as_of": %s}\n'
GOOD = '{"document": "manual-2026.md", "quote": "120 days from the transaction date"}'
STALE = '{"document": "manual-2026.md", "quote": "90 days from the transaction date to dispute"}'


def run(*arguments: str | Path) -> tuple[int, str]:
    """The exit code and standard output; our own errors are raised, as `cli.program` takes them."""
    result = CliRunner().invoke(testset.app, [str(argument) for argument in arguments])
    if isinstance(result.exception, PathError):
        raise result.exception
    return result.exit_code, result.stdout


def test_the_layouts_are_all_offered() -> None:
    assert get_args(testset.LayoutName) == tuple(Layout)


@pytest.mark.usefixtures("bank")
def test_draft_writes_what_check_accepts(tmp_path: Path) -> None:
    path = tmp_path / "drafts.jsonl"
    code, out = run("draft", "--count", "3", "--out", path)
    assert code == 0
    assert out.startswith(f"{path}: 3 questions (")
    assert 'set its "reviewed" to true' in out
    assert [question.reviewed for question in read_testset(path)] == [False] * 3
    assert path.stat().st_mode & 0o777 == 0o600, "it quotes documents that not everyone may read"
    assert run("check", path) == (0, f"{path}: all evidence of 3 questions is where it should be.\n")
    with pytest.raises(PathError, match=r"drafts\.jsonl exists"):
        run("draft", "--out", path)
    code, out = run("draft", "--count", "1000", "--out", path, "--force", "--json")
    told = json.loads(out)
    assert (code, told["questions"]) == (0, len(read_testset(path)))
    assert told["questions"] == sum(told["kinds"].values()) > 3
    assert (told["version"], told["reviewed"], told["unusable"]) == (1, 0, 0)
    assert (
        f"The documents gave {told['questions']} of 1,000"
        in run("draft", "--count", "1000", "--out", path, "--force")[1]
    )


@pytest.mark.usefixtures("bank")
def test_check_names_what_is_dead(tmp_path: Path) -> None:
    path = tmp_path / "testset.jsonl"
    path.write_text(QUESTION % (GOOD, "null"), encoding="utf-8")
    assert run("check", path)[0] == 0
    path.write_text(
        QUESTION % (STALE, "null") + QUESTION.replace("days", "then") % (GOOD, '"2025-06-01"'), encoding="utf-8"
    )
    code, out = run("check", path)
    assert code == 1
    now = "A customer has 120 days from the transaction date to dispute a card payment."
    assert out.splitlines() == [
        "days  quote gone: manual-2026.md",
        "  The quote '90 days from the transaction date to dispute' is not in it.",
        f"  Nearest to it is '{now}'; if that is meant, put it there.",
        "then  not in force: manual-2026.md",
        "  It is asked about 2025-06-01, and the document is in force from 2026-01-01.",
        "  Set as_of to a day on which it is in force.",
        f"{path}: 2 of 2 questions must be mended.",
    ]
    code, out = run("check", path, "--json")
    told = json.loads(out)
    assert (code, told["version"], told["questions"]) == (1, 1, 2)
    assert [(one["question"], one["fault"]) for one in told["findings"]] == [
        ("days", "quote gone"),
        ("then", "not in force"),
    ]
    assert told["findings"][0].keys() == {"question", "fault", "document", "problem", "remedy", "nearest"}


@pytest.mark.usefixtures("bank")
def test_what_a_test_set_says_cannot_steer_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "testset.jsonl"
    evil = '{"document": "a\\u001b[31m.md", "quote": "x\\u202e\\ny"}'
    path.write_text(QUESTION.replace("days", "d\\u001b]0;x") % (evil, "null"), encoding="utf-8")
    out = run("check", path)[1]
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "no document: a[31m.md" in out


def test_import_of_a_table(tmp_path: Path) -> None:
    source, path = tmp_path / "questions.csv", tmp_path / "testset.jsonl"
    source.write_text("question,document,quote,answerable\nHow long?,a.md,120 days,\nWho?,,,no\n", encoding="utf-8")
    assert run("import", source, "--out", path) == (0, f"{path}: 2 questions (from csv, 1 not answerable).\n")
    assert [question.answerable for question in read_testset(path)] == [True, False]
    with pytest.raises(PathError, match="exists"):
        run("import", source, "--out", path)
    code, out = run("import", source, "--out", path, "--force", "--json", "--format", "csv")
    assert (code, json.loads(out)) == (
        0,
        {"version": 1, "path": str(path), "questions": 2, "reviewed": 2, "format": "csv", "left_out": {}},
    )
    with pytest.raises(PathError, match="is not valid JSON"):
        run("import", source, "--out", path, "--force", "--format", "squad")
    assert run("import", source, "--out", path, "--format", "xml")[0] == 2


@pytest.mark.parametrize("command", [["draft"], ["import", "nothing.csv"]])
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_what_could_not_be_written_is_refused_before_the_work(
    tmp_path: Path, command: list[str], force: list[str]
) -> None:
    """Here is no index, and no such table: a run that began would say so."""
    with pytest.raises(PathError, match="There is no folder"):
        run(*command, "--out", tmp_path / "none" / "testset.jsonl", *force)
    with pytest.raises(PathError, match="is a folder"):
        run(*command, "--out", tmp_path, *force)


@pytest.mark.usefixtures("bank")
def test_ragas_is_looked_up_in_the_index(tmp_path: Path) -> None:
    source, path = tmp_path / "ragas.jsonl", tmp_path / "testset.jsonl"
    record = {
        "user_input": "How long may a payment be disputed?",
        "reference_contexts": [
            "A customer has 120 days from the transaction date to dispute a card payment.",
            "Not there.",
        ],
        "reference": "120 days",
    }
    source.write_text(json.dumps(record) + "\n", encoding="utf-8")
    code, out = run("import", source, "--out", path)
    assert (code, out.splitlines()) == (
        0,
        [
            f"{path}: 1 question (from ragas, 1 not reviewed).",
            "  left out: 1 passages that stand in no document of the index",
        ],
    )
    (question,) = read_testset(path)
    assert question.evidence[0].document == "manual-2026.md"
    assert not question.reviewed


@pytest.mark.usefixtures("bank")
def test_it_can_be_a_part_of_the_program(tmp_path: Path) -> None:
    whole = typer.Typer()
    whole.add_typer(testset.app, name="testset")
    whole.command()(lambda: None)
    result = CliRunner().invoke(whole, ["testset", "draft", "--count", "1", "--out", str(tmp_path / "one.jsonl")])
    assert result.exit_code == 0
