"""Same vectors, same model - whatever it calls itself. What changes them is noticed, however little it is."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from citewell.errors import FingerprintMismatch
from citewell.models.embedder import Embedder
from citewell.models.fingerprint import SAME_SPACE, TEXTS, canaries, require_same_space
from citewell.models.minilm import IDENTITY, MiniLM
from citewell.models.onnx_folder import OnnxFolder
from citewell.models.remote import RemoteEmbedder
from citewell.models.shortened import Shortened
from tests.models.onnx_folders import another_model, another_revision, minilm_in
from tests.models.scripted_embedding_server import serving

RECORDED = canaries(MiniLM(threads=1))
# A word's worth of prefix is the least that anybody uses; the long ones differ by one word.
PREFIXES = ("query: ", "q: ", "> ", "- ", "the ", "search_query: ", "Represent this sentence for searching: ")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return minilm_in(tmp_path_factory.mktemp("models") / "minilm")


def lowest_cosine(embedder: Embedder, recorded: tuple[tuple[float, ...], ...]) -> float:
    return float((np.array(canaries(embedder)) * np.array(recorded)).sum(axis=1).min())


def assert_noticed(embedder: Embedder, recorded: tuple[tuple[float, ...], ...] = RECORDED, most: float = 0.97) -> None:
    """It is refused, and by a margin."""
    assert lowest_cosine(embedder, recorded) < most < SAME_SPACE
    with pytest.raises(FingerprintMismatch):
        require_same_space(embedder, recorded, IDENTITY)


def test_the_canaries_are_texts_as_passages_and_as_queries() -> None:
    assert np.array(RECORDED).shape == (2 * len(TEXTS), 384)


def test_the_same_files_are_accepted_under_another_name(folder: Path) -> None:
    require_same_space(OnnxFolder(folder, threads=1), RECORDED, replace(IDENTITY, name="onnx:elsewhere"))


def test_the_same_vectors_are_accepted_from_another_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CITEWELL_EMBEDDER_API_KEY", raising=False)
    with serving(MiniLM(threads=1)) as server:
        require_same_space(RemoteEmbedder("org/any-name", server.url), RECORDED, IDENTITY)


def test_another_model_of_the_same_width_is_noticed(tmp_path: Path) -> None:
    assert_noticed(OnnxFolder(minilm_in(tmp_path / "other", another_model)), most=0.5)


def test_another_revision_is_noticed(tmp_path: Path) -> None:
    assert_noticed(OnnxFolder(minilm_in(tmp_path / "revised", another_revision)))


def test_another_pooling_is_noticed(folder: Path) -> None:
    assert_noticed(OnnxFolder(folder, pooling="cls"), most=0.7)


def test_a_text_that_is_cut_early_is_noticed(folder: Path) -> None:
    assert_noticed(OnnxFolder(folder, max_tokens=12))


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_prefix_that_comes_or_goes_is_noticed(folder: Path, prefix: str) -> None:
    for embedder in (OnnxFolder(folder, query_prefix=prefix), OnnxFolder(folder, passage_prefix=prefix)):
        assert_noticed(embedder)
        assert_noticed(MiniLM(threads=1), canaries(embedder))


def test_a_prefix_that_changes_by_a_word_is_noticed(folder: Path) -> None:
    before = "Represent this sentence for searching relevant passages: "
    after = "Represent this sentence for retrieving relevant passages: "
    assert_noticed(OnnxFolder(folder, query_prefix=after), canaries(OnnxFolder(folder, query_prefix=before)))
    assert_noticed(OnnxFolder(folder, query_prefix="passage: "), canaries(OnnxFolder(folder, query_prefix="query: ")))


def test_other_dimensions_are_noticed() -> None:
    with pytest.raises(FingerprintMismatch):
        require_same_space(Shortened(MiniLM(threads=1), 256), RECORDED, IDENTITY)
    with pytest.raises(FingerprintMismatch):
        require_same_space(MiniLM(threads=1), [row[:256] for row in RECORDED], replace(IDENTITY, dimensions=256))


def test_the_refusal_says_what_differs_and_what_to_do(folder: Path) -> None:
    made = OnnxFolder(folder, query_prefix='say "it": ')
    with pytest.raises(FingerprintMismatch) as caught:
        require_same_space(Shortened(MiniLM(threads=1), 128), canaries(made), made.identity)
    message, remedy = caught.value.message, caught.value.remedy
    assert f"made with onnx:{folder} (384 dimensions, revision {IDENTITY.revision}, pooling mean, " in message
    assert 'query prefix "say \\"it\\": "' in message
    assert "all-MiniLM-L6-v2-int8 (128 dimensions, " in message
    wanted = f'Set embedder = "onnx:{folder}", query_prefix = "say \\"it\\": ", dimensions = 384 under [models]'
    assert remedy.startswith(wanted)
    assert remedy.endswith("`citewell migrate --embedder all-MiniLM-L6-v2-int8`.")
