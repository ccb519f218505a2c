"""Files of rated answers: three layouts, and what is said of a wrong one."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from citewell.errors import PathError
from citewell.evaluation.judging import rated
from citewell.evaluation.judging.rated import read_rated

MTRAG = {
    "task_id": "t1",
    "model": "gpt",
    "history": [{"speaker": "user", "text": "First?"}, {"speaker": "user", "text": "How long?"}],
    "contexts": [{"id": "1", "title": "", "text": "Within 120 days."}],
    "response": "It is 120 days. It is free.",
    "human": {"faithfulness": [4, 3, 4], "naturalness": [1, 1, 1]},
}
HALUEVAL = {
    "id": "h1",
    "knowledge": "Oberoi is based in Delhi.",
    "question": "Where is Oberoi based?",
    "right_answer": "Delhi",
    "hallucinated_answers": ["It is in Mumbai.", "Mumbai"],
}
OWN = {"answer": "It is free.", "passages": ["It is free."], "supported": True, "id": "for another program"}


def written(folder: Path, *records: object) -> Path:
    path = folder / "rated.jsonl"
    path.write_text("".join(json.dumps(record) + "\n\n" for record in records), encoding="utf-8")
    return path


def test_ratings_of_mtrag(tmp_path: Path) -> None:
    (one,) = read_rated(written(tmp_path, MTRAG))
    assert one.claims == ("It is 120 days.", "It is free.")
    assert (one.passages, one.question, one.group) == (("Within 120 days.",), "How long?", "t1")
    assert one.rating == pytest.approx(11 / 3)
    assert (one.supported, one.words) == (None, 7)


def test_questions_of_halueval(tmp_path: Path) -> None:
    right, *wrong = read_rated(written(tmp_path, HALUEVAL))
    assert (right.claims, right.supported, right.words) == (("Delhi",), True, 1)
    assert [(each.claims, each.supported) for each in wrong] == [(("It is in Mumbai.",), False), (("Mumbai",), False)]
    assert {each.group for each in (right, *wrong)} == {"Where is Oberoi based?"}


def test_ones_own(tmp_path: Path) -> None:
    first, second = read_rated(written(tmp_path, OWN, {"claims": ["A.", "B."], "passages": [], "supported": False}))
    assert (first.claims, first.passages, first.supported) == (("It is free.",), ("It is free.",), True)
    assert (second.claims, second.passages, second.supported) == (("A.", "B."), (), False)


@pytest.mark.parametrize(
    "more",
    [
        {"labelled_by": "human"},
        {"human": True, "hallucinated_answers": None},
        {"question": 'Who wrote "human" and "hallucinated_answers"?'},
    ],
)
def test_the_layout_is_told_by_keys_and_not_by_what_stands_under_them(tmp_path: Path, more: dict[str, object]) -> None:
    (one,) = read_rated(written(tmp_path, OWN | more))
    assert (one.claims, one.supported) == (("It is free.",), True)
    (said,) = read_rated(written(tmp_path, MTRAG | {"response": 'The "hallucinated_answers" are free.'}))
    assert said.rating == pytest.approx(11 / 3)


def test_a_packed_file(tmp_path: Path) -> None:
    path = tmp_path / "rated.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(MTRAG).encode()))
    assert len(read_rated(path)) == 1


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"answer": "A."}, "line 1, is no rated answer: passages is missing"),
        (OWN | {"rating": 3}, "either rating or supported"),
        (OWN | {"claims": ["A."]}, "either answer or claims"),
        (MTRAG | {"human": {}}, "faithfulness is missing"),
        (MTRAG | {"history": []}, "history must not be empty"),
        ([], "line 1, is no rated answer"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, record: object, said: str) -> None:
    with pytest.raises(PathError, match=said):
        read_rated(written(tmp_path, record))


def test_a_wrong_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PathError, match=r"none\.jsonl cannot be read: No such file"):
        read_rated(tmp_path / "none.jsonl")
    with pytest.raises(PathError, match="Is a directory"):
        read_rated(tmp_path)
    with pytest.raises(PathError, match="holds no answer"):
        read_rated(written(tmp_path))
    with pytest.raises(PathError, match="ratings on some lines and labels on others"):
        read_rated(written(tmp_path, MTRAG, OWN))
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(b"{}" * 100)[:-9])
    with pytest.raises(PathError, match="it is damaged"):
        read_rated(cut)
    monkeypatch.setattr(rated, "MOST_BYTES", 20)
    cut.write_bytes(gzip.compress(b" " * 1_000))
    with pytest.raises(PathError, match="larger than 20 bytes"):
        read_rated(cut)
