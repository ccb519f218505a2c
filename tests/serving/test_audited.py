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


@pytest.mark.parametrize("outcome", ["left", "failed"])
def test_it_does_not_count_as_answered(tmp_path: Path, outcome: str) -> None:
    log = Audit(tmp_path)
    for each in ("abstained", outcome):
        log.write("ask", caller=None, request="1", asked="Who pays?", outcome=each)
    assert [each.question for each in unanswered(tmp_path)] == ["Who pays?"]
