"""What a test set's file may hold, and what is said of one that is wrong."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from citewell.errors import PathError
from citewell.evaluation.testset import Evidence, Question, retrieval_questions

BANK = Path(__file__).parents[2] / "examples" / "bank" / "testset.jsonl"


def test_the_questions_with_evidence_are_read(tmp_path: Path) -> None:
    path = tmp_path / "testset.jsonl"
    path.write_text(
        '{"question": "How long?", "evidence": [{"document": "a.md", "quote": "120 days", "page": "4"}],'
        ' "groups": ["team"], "as_of": "2026-01-31", "id": "x"}\n'
        "\n"
        '{"question": "Who?", "evidence": [], "as_of": null}\n'
        '{"question": "For me?", "answerable": false, "evidence": [{"document": "secret.md", "quote": "no"}]}\n'
        '{"question": "What?", "evidence": [{"document": "b.md", "quote": "that"}]}\n',
        encoding="utf-8",
    )
    first, second = retrieval_questions(path)
    assert first == Question(
        question="How long?",
        evidence=(Evidence(document="a.md", quote="120 days"),),
        groups=("team",),
        as_of=date(2026, 1, 31),
    )
    assert (second.question, second.groups, second.as_of) == ("What?", (), None)


def test_the_examples_test_set_is_one() -> None:
    questions = retrieval_questions(BANK)
    assert len(questions) > 80
    assert all(question.evidence and question.answerable for question in questions)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no question with evidence"),
        ('{"question": "Who?"}', "has no question with evidence"),
        ("{", "line 1, is no question: .*JSON"),
        ('\n{"evidence": []}', "line 2, is no question: question: "),
        ('{"question": "", "evidence": []}', "question: .*at least 1"),
        ('{"question": "Who?", "evidence": [{"document": "a.md"}]}', r"evidence\.0\.quote"),
        ('{"question": "Who?", "as_of": "tomorrow"}', "as_of: .*date"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "testset.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PathError, match=said):
        retrieval_questions(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(PathError, match=r"none\.jsonl cannot be read: No such file"):
        retrieval_questions(tmp_path / "none.jsonl")
    with pytest.raises(PathError, match="Is a directory"):
        retrieval_questions(tmp_path)
