"""A question has its line in the audit log, whatever becomes of it."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from citewell.index import Index
from citewell.models.llm import Completion, Prompt, Stream
from citewell.serving.app import app_for
from citewell.serving.audit import Audit
from citewell.serving.unanswered import unanswered
from tests.serving.conftest import QUESTION, settings_at
from tests.serving.served import serving


class ScriptedBreaking:
    """Writes a word, and breaks."""

    def complete(self, _: Prompt) -> Completion:
        raise RuntimeError

    def stream(self, _: Prompt) -> Stream:
        return Stream(self._pieces())

    def _pieces(self) -> Generator[str | Completion, None, None]:
        yield "word "
        raise RuntimeError


@pytest.mark.parametrize("stream", [True, False])
def test_a_question_that_failed_is_in_the_log(built: Path, tmp_path: Path, *, stream: bool) -> None:
    settings = settings_at(tmp_path)
    index = Index.open(built / "index", settings=settings, llm=ScriptedBreaking())
    with serving(app_for(index, str(built / "index"), settings)) as served:
        ann = served.client("ann")
        answer = ann.post("/v1/ask", json={"question": QUESTION, "stream": stream})
        assert "Unexpected" in answer.text
        lines = map(json.loads, (served.service.state.folder / "audit.jsonl").read_text().splitlines())
        assert [(line["asked"], line["outcome"]) for line in lines if line["action"] == "ask"] == [(QUESTION, "failed")]


def test_documents_whose_place_alone_was_shown_are_in_the_log(built: Path, tmp_path: Path) -> None:
    settings = settings_at(tmp_path)
    with serving(app_for(Index.open(built / "index", settings=settings), str(built / "index"), settings)) as served:
        answer = served.client("ann").post("/v1/ask", json={"question": "How tall is a giraffe of the savanna?"}).json()
        lines = map(json.loads, (served.service.state.folder / "audit.jsonl").read_text().splitlines())
        (logged,) = [set(line["documents"]) for line in lines if line["action"] == "ask"]
    assert answer["abstained"]
    assert answer["kept_back"]
    assert {each["document"] for each in answer["kept_back"]} <= logged


FOLLOW_UPS = [
    ([], QUESTION, ""),
    ([("What does parking cost?", "I don't know.")], QUESTION, ""),
    (
        [("What does parking cost?", "I don't know.")],
        "And for a motorbike?",
        "What does parking cost? And for a motorbike?",
    ),
    # What it leans on is named by the answer alone: no text of documents goes into the log.
    ([("Who is in charge?", "Quentin Ashgrove is the head of cards.")], "Where does he live?", None),
]


@pytest.mark.parametrize(("before", "asked", "understood"), FOLLOW_UPS)
def test_a_follow_up_is_in_the_log_as_it_was_understood_in_the_callers_words(
    before: list[tuple[str, str]], asked: str, understood: str | None, built: Path, tmp_path: Path
) -> None:
    settings = settings_at(tmp_path)
    with serving(app_for(Index.open(built / "index", settings=settings), str(built / "index"), settings)) as served:
        turns = [{"question": question, "answer": answer} for question, answer in before]
        assert served.client("ann").post("/v1/ask", json={"question": asked, "turns": turns}).status_code == 200
        log = (served.service.state.folder / "audit.jsonl").read_text()
    (line,) = [one for one in map(json.loads, log.splitlines()) if one["action"] == "ask"]
    assert line["asked"] == asked
    if understood is not None:
        assert line.get("understood", "") == understood
    assert "Ashgrove" not in log


@pytest.mark.parametrize("outcome", ["left", "failed"])
def test_it_does_not_count_as_answered(tmp_path: Path, outcome: str) -> None:
    log = Audit(tmp_path)
    for each in ("abstained", outcome):
        log.write("ask", caller=None, request="1", asked="Who pays?", outcome=each)
    assert [each.question for each in unanswered(tmp_path)] == ["Who pays?"]
