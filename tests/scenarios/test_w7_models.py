"""W7: an index made with model A, then asked with B of the same width, with A under another provider's name, with A in
another revision, and with A without its prefix. Told by vectors, never by names."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from citewell import Index, Settings
from citewell.errors import FingerprintMismatch
from citewell.models.fingerprint import TEXTS
from citewell.models.minilm import MiniLM
from citewell.models.onnx_folder import OnnxFolder
from tests.models.onnx_folders import another_model, another_revision, minilm_in
from tests.models.scripted_embedding_server import serving

QUESTION = "How many days does a customer have to dispute a card payment?"
RULE = "A customer may dispute a card payment within 120 days of the transaction date."
PREFIXES = {"query_prefix": "query: ", "passage_prefix": "passage: "}


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CITEWELL_EMBEDDER_API_KEY", raising=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The settings of model A."""
    folder = minilm_in(tmp_path_factory.mktemp("models") / "a")
    return {"embedder": f"onnx:{folder}", "threads": 1, **PREFIXES}


@pytest.fixture(scope="module")
def index(made: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("w7")
    (folder / "documents").mkdir()
    (folder / "documents" / "policy.md").write_text(f"# Policy\n\n## 4.2 Time limits\n\n{RULE}\n", encoding="utf-8")
    with Index.create(folder / "index", settings=with_models(made)) as index:
        index.add(folder / "documents")
    return folder / "index"


def with_models(models: dict[str, Any]) -> Settings:
    return Settings.model_validate({"models": models})


def assert_refused(index: Path, models: dict[str, Any]) -> FingerprintMismatch:
    with Index.open(index, settings=with_models(models)) as opened:
        for call in (opened.search, opened.ask, opened.add):
            with pytest.raises(FingerprintMismatch, match="citewell migrate --embedder") as caught:
                call(QUESTION if call != opened.add else str(index.parent / "documents"))
    return caught.value


def test_the_model_that_made_it_is_accepted(index: Path, made: dict[str, Any]) -> None:
    with Index.open(index, settings=with_models(made)) as opened:
        assert opened.search(QUESTION)[0].chunk.text.endswith(RULE)


def test_another_model_of_the_same_width_is_refused(index: Path, made: dict[str, Any], tmp_path: Path) -> None:
    other = minilm_in(tmp_path / "b", another_model)
    refused = assert_refused(index, {**made, "embedder": f"onnx:{other}"})
    assert f"made with {made['embedder']}" in refused.message
    assert f"Set embedder = {json.dumps(made['embedder'])} under [models]" in refused.remedy


def test_it_is_refused_before_the_question_is_embedded(index: Path, tmp_path: Path) -> None:
    with serving(OnnxFolder(minilm_in(tmp_path / "b", another_model))) as server:
        assert_refused(index, {"embedder": "openai:b", "embedder_url": server.url, **PREFIXES})
        sent = {text.removeprefix("query: ").removeprefix("passage: ") for text in server.embedded}
    assert sent == set(TEXTS)


def test_the_same_model_is_accepted_from_another_provider(index: Path) -> None:
    with serving(MiniLM(threads=1)) as server:
        models = {"embedder": "openai:sentence-transformers/any-name", "embedder_url": server.url, **PREFIXES}
        with Index.open(index, settings=with_models(models)) as opened:
            assert opened.search(QUESTION)[0].chunk.text.endswith(RULE)
            assert opened.add(index.parent / "documents").embedded == 0
        assert server.embedded[f"query: {QUESTION}"] == 1


def test_another_revision_is_refused(index: Path, made: dict[str, Any], tmp_path: Path) -> None:
    revised = minilm_in(tmp_path / "a", another_revision)
    assert_refused(index, {**made, "embedder": f"onnx:{revised}"})


@pytest.mark.parametrize(
    "change",
    [{"query_prefix": ""}, {"passage_prefix": ""}, {"query_prefix": "q: "}, {"pooling": "cls"}, {"dimensions": 256}],
    ids=str,
)
def test_the_same_files_used_otherwise_are_refused(index: Path, made: dict[str, Any], change: dict[str, Any]) -> None:
    refused = assert_refused(index, {**made, **change})
    (key,) = change
    assert f"{key} = " in refused.remedy, "what to set back"


def test_the_command_line_says_so(index: Path) -> None:
    command = [sys.executable, "-m", "citewell", "search", QUESTION, "--index", str(index)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=dict(os.environ))
    assert (done.returncode, done.stdout) == (3, "")
    assert "citewell migrate --embedder all-MiniLM-L6-v2-int8" in " ".join(done.stderr.split())
