"""A test set is never indexed; whatever only looks like one is."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from citewell.errors import EmptyFile
from citewell.evaluation.testset import Question
from citewell.index import Index
from citewell.loading.testsets import _KEYS, CSV_COLUMNS, refuse_testset
from citewell.types import FileState

BANK = Path(__file__).parents[2] / "examples" / "bank" / "testset.jsonl"
ASKED: dict[str, Any] = {"question": "How long?"}
EVIDENCE = ASKED | {"evidence": [{"document": "a.md", "quote": "120 days"}]}
TABLE = "question,expected_answer,document,quote\nHow long?,120 days,a.md,within 120 days\n"


def lines(*records: object) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


@pytest.mark.parametrize(
    "data",
    [
        lines(EVIDENCE),
        lines(ASKED, EVIDENCE),
        lines(ASKED | {"answerable": False}),
        lines(ASKED | {"expected_answer": "120 days", "id": "a", "groups": ["x"]}),
        lines(ASKED | {"must_contain": ["120 days"], "groups": ["x"]}),
        lines(ASKED | {"must_not_contain": ["90 days"]}),
        b"\xef\xbb\xbf\r\n" + lines(EVIDENCE).replace(b"\n", b"\r\n\r\n"),
        lines(EVIDENCE) + b'{"question": "broken by hand\n',
        BANK.read_bytes(),
        TABLE.encode(),
        b'\xef\xbb\xbf"question";"quote";"document"\r\nHow long?;120 days;a.md\r\n',
        TABLE.encode("utf-16"),
        TABLE.encode("utf-16-be"),
        TABLE.encode("utf-32"),
        lines(EVIDENCE).decode().encode("utf-16-le"),
    ],
)
def test_a_test_set_is_refused(data: bytes) -> None:
    with pytest.raises(EmptyFile, match="It is a test set, and is not indexed"):
        refuse_testset(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b'question,quote,tags\nWhat annoys you?,"The queue.",branch\n',
        lines(ASKED),
        lines(ASKED | {"answer": "120 days"}),
        lines(ASKED | {"expected_answer": "120 days", "points": 3}),
        lines(ASKED | {"evidence": "a photograph"}),
        lines(ASKED | {"evidence": [{"kind": "photograph"}]}),
        lines(ASKED | {"answerable": "by the head office"}),
        lines(EVIDENCE, {"ticket": 5}),
        lines(EVIDENCE, ["a", "b"]),
        lines({"question": 7, "answerable": True}),
        json.dumps([EVIDENCE]).encode(),
        json.dumps({"question": "a", "answer": "b"}, indent=2).encode(),
        b'# Test sets\n\n```json\n{"question": "How long?", "evidence": []}\n```\n',
        b'{\n  "faqs": [\n    {"question": "Is it safe?", "answerable": true}\n  ],\n  "text": "long document"\n}\n',
        b'{\n"title": "Quiz",\n"items": [\n{"question": "Where is the exit?", "expected_answer": "left"}\n]}\n',
        b'{% extends "base.md" %}\n# How we test\n{"question": "How long?", "answerable": false}\nMore words.\n',
        lines(ASKED | {"must_contain": ["120 days"], "points": 3}),
        b"question,answer\nHow long?,120 days\n",
        "question,answer\nHow long?,120 days\n".encode("utf-16"),
        b"\xff\xfe" + bytes(range(256)) * 8,
        b"question,expected_answer,points\nHow long?,120 days,3\n",
        b"document,quote,section\na.md,b,c\n",
        b"A question, an expected answer, a document.\n",
        b"[" * 100_000 + b'{"question": 1',
        b'{"question":' + b"[" * 100_000,
    ],
)
def test_what_a_company_may_well_have_is_not(data: bytes) -> None:
    refuse_testset(data)


def test_the_keys_are_those_of_a_question() -> None:
    assert Question.model_fields.keys() == _KEYS
    assert set(CSV_COLUMNS) - {"document", "quote", "section"} < _KEYS


def test_it_is_skipped_whatever_its_name_and_wherever_it_lies(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "faq.jsonl").write_bytes(lines(*[ASKED | {"answer": "120 days"}] * 2))
    for name in ("testset.jsonl", "notes.md", "data.json"):
        (folder / name).write_bytes(lines(EVIDENCE))
    (folder / "table.csv").write_bytes(TABLE.encode("utf-16"))
    with zipfile.ZipFile(folder / "all.zip", "w") as archive:
        archive.writestr("inner.jsonl", lines(EVIDENCE))
        archive.writestr("inner.txt", "The word is plinth.")
    with Index.create(tmp_path / "index") as index:
        report = index.add(folder)
        states = {file.source.rpartition("/")[2]: file.state for file in report.files}
        assert states == {
            "faq.jsonl": FileState.ADDED,
            "testset.jsonl": FileState.SKIPPED,
            "notes.md": FileState.SKIPPED,
            "data.json": FileState.SKIPPED,
            "table.csv": FileState.SKIPPED,
            "all.zip": FileState.ADDED,
            "inner.jsonl": FileState.SKIPPED,
            "inner.txt": FileState.ADDED,
        }
        reasons = {file.reason for file in report.files if file.state is FileState.SKIPPED}
        assert len(reasons) == 1
        assert reasons.pop().startswith("It is a test set, and is not indexed")
        assert not any("a.md" in document.text for document in index.stored())


def test_a_document_that_becomes_a_test_set_leaves_the_index(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "questions.jsonl"
    file.parent.mkdir()
    file.write_bytes(lines(*[ASKED | {"answer": "120 days"}] * 2))
    with Index.create(tmp_path / "index") as index:
        index.add(file.parent)
        assert [document.source for document in index.stored()] == [file.as_uri()]
        file.write_bytes(lines(EVIDENCE))
        assert [one.state for one in index.add(file.parent).files] == [FileState.REMOVED]
        assert index.stored() == ()
