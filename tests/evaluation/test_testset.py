"""What a test set's file may hold, and what is said of one that is wrong."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from citewell.errors import PathError
from citewell.evaluation.testset import Evidence, Question, as_lines, read_testset, retrieval_questions, to_score

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
        id="x",
        question="How long?",
        evidence=(Evidence(document="a.md", quote="120 days", page="4"),),
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
        ("", "holds no question"),
        ('{"question": "Who?"}', "has no question with evidence"),
        ("{", "line 1, is no question: .*JSON"),
        ('\n{"evidence": []}', "line 2, is no question: question is missing"),
        ('{"question": "", "evidence": []}', "question must not be blank"),
        ('{"question": " \\n"}', "question must not be blank"),
        (f'{{"question": "{"a" * 20_001}"}}', "question must have 20000 characters or fewer"),
        ('{"question": "Who?", "evidence": [{"document": "a.md"}]}', r"evidence\.0: .*needs a quote or a section"),
        ('{"id": "a", "question": "Who?"}\n{"id": "a", "question": "What?"}', "has the id 'a' twice"),
        ('{"question": "Who?", "answerabel": false}', "no key 'answerabel'; it is written 'answerable'"),
        ('{"question": "Who?", "must_contian": ["a"]}', "it is written 'must_contain'"),
        ('{"question": "Who?", "group": ["a"]}', "it is written 'groups'"),
        ('{"question": "Who?", "evidence": [{"document": "a", "qoute": "b"}]}', "evidence.0: .*it is written 'quote'"),
        ('{"question": "Who?", "answerable": "no"}', "answerable must be true or false"),
        ("# Fees", "is no question: it is not valid JSON from character 1 on"),
        ('{"question": "Who?", "as_of": "tomorrow"}', "as_of must be a day, written as 2026-01-31"),
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


def test_drafts_are_scored_only_where_nothing_is_reviewed() -> None:
    checked, draft = Question(id="a", question="Who?"), Question(id="b", question="What?", reviewed=False)
    assert to_score([checked, draft]) == (checked,)
    assert to_score([draft]) == (draft,)


def test_a_file_written_is_read_again(tmp_path: Path) -> None:
    questions = read_testset(BANK)
    path = tmp_path / "testset.jsonl"
    path.write_text(as_lines(questions), encoding="utf-8")
    assert read_testset(path) == questions
