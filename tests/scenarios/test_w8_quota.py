"""W8: an embedder that is paid by the call: it asks to wait, its quota ends, the process is killed. It is waited for,
what is committed is searchable, and no text is embedded twice."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from citewell import Index, Settings
from citewell.errors import IndexingStopped
from citewell.models.fingerprint import TEXTS
from citewell.models.minilm import MiniLM
from citewell.types import FileState
from tests.models.scripted_embedding_server import ScriptedAnswer, ScriptedEmbeddingServer, refusal, serving

FILES, PARTS = 50, 7
KILLS = int(os.environ.get("CITEWELL_TEST_KILLS", "1"))
BUSY = refusal(429, "rate_limit_exceeded", **{"Retry-After": "1"})
EXHAUSTED = refusal(429, "insufficient_quota")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedEmbeddingServer]:
    monkeypatch.delenv("CITEWELL_EMBEDDER_API_KEY", raising=False)
    with serving(MiniLM()) as scripted:
        scripted.free = {"width", *TEXTS}  # what each run asks about the model itself
        yield scripted


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(FILES):
        facts = "\n\n".join(f"## Part {part}\n\nFile {number} says {number * 31 + part}." for part in range(PARTS))
        (folder / f"{number:03}.md").write_text(f"# File {number}\n\n{facts}\n", encoding="utf-8")
    return folder


def settings_for(server: ScriptedEmbeddingServer) -> Settings:
    return Settings.model_validate({"models": {"embedder": "openai:minilm", "embedder_url": server.url}})


def assert_finished(server: ScriptedEmbeddingServer, folder: Path, index: Path) -> None:
    """One run more finishes, and over all runs each text was embedded once."""
    server.say(None)
    before = len(server.embedded)
    with Index.open(index, settings=settings_for(server)) as opened:
        report = opened.add(folder)
        assert report.embedded == FILES * PARTS - before
        assert opened.status().documents == FILES
        assert opened.status().chunks == FILES * PARTS
        assert opened.add(folder).embedded == 0
    assert len(server.embedded) == FILES * PARTS
    assert set(server.embedded.values()) == {1}, "nothing was embedded twice"


def test_a_quota_that_ends(server: ScriptedEmbeddingServer, folder: Path, tmp_path: Path) -> None:
    # At 32 texts a call the quota ends inside the 42nd document.
    server.say(*[None] * 4, BUSY, BUSY, *[None] * 6, EXHAUSTED)
    index = Index.create(tmp_path / "index", settings=settings_for(server))
    with index, pytest.raises(IndexingStopped, match="quota is used up") as caught:
        index.add(folder)
    assert "next run goes on" in caught.value.remedy
    assert len(server.requests) == 13, "after the last word nothing is tried"
    waits = [server.requests[at + 1][2] - server.requests[at][2] for at in (4, 5)]
    assert min(waits) >= 1, "it waits as told"

    report = caught.value.report
    assert report is not None
    assert report.embedded == len(server.embedded)
    assert len(report.files) == FILES, "every file is listed"
    added = {file.source for file in report.files if file.state is FileState.ADDED}
    assert 37 <= len(added) < FILES, "at least the first batch is committed"
    assert [file.source for file in report.failed] == [file.source for file in report.files if file.source not in added]

    # The endpoint refuses still; the same model in the package is the same model.
    with Index.open(tmp_path / "index") as opened:
        assert {document.source for document in opened.documents()} == added
        for number in (0, 20, 36):
            assert opened.search(f"What does file {number} say in part 3?")[0].chunk.title == f"File {number}"
    assert_finished(server, folder, tmp_path / "index")


def run(server: ScriptedEmbeddingServer, folder: Path, index: Path, *answers: ScriptedAnswer | None) -> int:
    """`citewell index` against a server that answers so, and kills it at the call after these. Its exit code."""
    command = [sys.executable, "-m", "citewell", "index", str(folder), "--index", str(index)]
    named = {"CITEWELL_MODELS__EMBEDDER": "openai:minilm", "CITEWELL_MODELS__EMBEDDER_URL": server.url}
    first = len(server.requests)
    process = subprocess.Popen(command, env=os.environ | named, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def answer_or_kill(number: int) -> ScriptedAnswer | None:
        if number - first <= len(answers):
            return answers[number - first - 1]
        process.kill()
        return ScriptedAnswer(drop=True)

    server.script = answer_or_kill
    process.communicate(timeout=100)
    return process.returncode


def test_a_kill_at_any_call(server: ScriptedEmbeddingServer, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "index"
    assert run(server, folder, path, EXHAUSTED) == 4, "the command line says that a service refused"
    committed: set[str] = set()
    for kill in range(KILLS):
        # Inside the first batch, inside the second, before the first text.
        code = run(server, folder, path, *[None] * (5, 4, 0)[kill % 3])
        assert code in (-signal.SIGKILL, 0)
        with Index.open(path) as opened:
            now = {document.source for document in opened.documents()}
            assert committed <= now
            committed = now
            assert all(len(opened.chunks(document.id)) == PARTS for document in opened.documents())
        if code == 0:
            break
    assert_finished(server, folder, path)
