"""The default embedder: its files, its vectors and its counting."""

import hashlib
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.models.minilm import IDENTITY, MiniLM

TEXTS = (
    "A customer may dispute a card payment within 120 days.",
    "How long do I have to contest a charge on my card?",
    "Branches are open from nine to five on weekdays.",
    "",
)


@pytest.fixture(scope="module")
def embedder() -> MiniLM:
    return MiniLM(threads=1)


def test_the_revision_is_the_hash_of_the_file() -> None:
    data = (files("citewell.models") / "minilm" / "model.onnx").read_bytes()
    assert hashlib.sha256(data).hexdigest().startswith(IDENTITY.revision)


def test_vectors_have_length_one_and_nearness_has_meaning(embedder: MiniLM) -> None:
    vectors = embedder.embed_passages(TEXTS)
    assert vectors.shape == (4, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert vectors[0] @ vectors[1] > 0.5 > vectors[0] @ vectors[2] + 0.2


def test_order_and_company_do_not_change_a_vector(embedder: MiniLM) -> None:
    together = embedder.embed_passages([*TEXTS, "A long text. " * 60, "x"])
    alone = np.concatenate([embedder.embed_passages([text]) for text in [*TEXTS, "A long text. " * 60, "x"]])
    assert np.array_equal(together, alone)


def test_no_texts(embedder: MiniLM) -> None:
    assert embedder.embed_passages([]).shape == (0, 384)


def test_only_the_first_256_tokens_count(embedder: MiniLM) -> None:
    start = "word " * 254
    first, second = embedder.embed_passages([start, start + "and then something else entirely"])
    assert first @ second == pytest.approx(1, abs=1e-3)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_token_spans_are_ordered_spans_of_the_text(text: str) -> None:
    spans = SHARED.token_spans(text)
    assert spans.shape == (len(spans), 2)
    assert (spans[:, 0] < spans[:, 1]).all() or not text.strip()
    assert (np.diff(spans[:, 0]) >= 0).all()
    assert len(spans) == 0 or (spans.min() >= 0 and spans.max() <= len(text))


SHARED = MiniLM(threads=1)


def test_a_long_unknown_word_is_not_one_token(embedder: MiniLM) -> None:
    assert len(embedder.token_spans("A" * 4_000)) == 1_000
    assert len(embedder.token_spans("a dispute")) == 2
