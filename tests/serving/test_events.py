"""Who goes away while an answer streams: the answer ends, and nobody takes it for a failure."""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from citewell.index import Index
from citewell.models.llm import Completion, Prompt, Stream
from citewell.serving.app import app_for
from tests.serving.conftest import QUESTION, settings_at
from tests.serving.served import serving

SOON_S = 30


class ScriptedSlow:
    """Writes a word, and the next ones only when it may."""

    def __init__(self) -> None:
        self.begun, self.go, self.closed = threading.Event(), threading.Event(), threading.Event()
        self.written = 0

    def complete(self, _: Prompt) -> Completion:
        raise AssertionError

    def stream(self, _: Prompt) -> Stream:
        return Stream(self._pieces())

    def _pieces(self) -> Generator[str | Completion, None, None]:
        try:
            for _ in range(1_000):
                self.written += 1
                yield "word "
                self.begun.set()
                assert self.go.wait(SOON_S)
        finally:
            self.closed.set()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/ask", {"question": QUESTION, "stream": True}),
        (
            "/v1/chat/completions",
            {"model": "citewell", "messages": [{"role": "user", "content": QUESTION}], "stream": True},
        ),
    ],
)
def test_an_answer_ends_when_who_asked_goes_away(
    built: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, path: str, body: dict[str, object]
) -> None:
    slow, settings = ScriptedSlow(), settings_at(tmp_path)
    index = Index.open(built / "index", settings=settings, llm=slow)
    caplog.set_level(logging.INFO, "citewell.serving")
    with serving(app_for(index, str(built / "index"), settings)) as served:
        client = served.client("ann")
        with client.stream("POST", path, json=body) as answer:
            pieces = answer.iter_text()  # kept: without it the answer would be closed
            assert next(pieces)
            assert slow.begun.wait(SOON_S)
        while f"POST {path} 200" not in caplog.text:  # the service has seen that they are gone
            slow.closed.wait(0.02)
        slow.go.set()
        assert slow.closed.wait(SOON_S)
        assert slow.written == 1 + 1  # the one that told it that nobody listens
        while served.service.asking.inside:
            slow.closed.wait(0.02)
        audit = (served.service.state.folder / "audit.jsonl").read_text()
    assert '"outcome": "left"' in audit
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
