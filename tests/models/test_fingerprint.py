"""Same vectors, same model - whatever it calls itself."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from citewell.errors import FingerprintMismatch
from citewell.models.embedder import ModelIdentity, TokenSpans, Vectors
from citewell.models.fingerprint import canaries, require_same_space
from citewell.models.minilm import IDENTITY, MiniLM


class ScriptedVariant:
    """MiniLM under another identity, with a prefix before its questions or its dimensions turned round."""

    def __init__(self, identity: ModelIdentity, *, turned: bool = False) -> None:
        self.identity = identity
        self._turned = turned
        self._inner = MiniLM(threads=1)

    def token_spans(self, text: str) -> TokenSpans:
        return self._inner.token_spans(text)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        vectors = self._inner.embed_passages([self.identity.passage_prefix + text for text in texts])
        return np.flip(vectors, axis=1) if self._turned else vectors

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        vectors = self._inner.embed_queries([self.identity.query_prefix + text for text in texts])
        return np.flip(vectors, axis=1) if self._turned else vectors


@pytest.fixture(scope="module")
def recorded() -> tuple[tuple[float, ...], ...]:
    return canaries(MiniLM(threads=1))


def test_the_same_model_is_accepted_under_another_name(recorded: tuple[tuple[float, ...], ...]) -> None:
    require_same_space(ScriptedVariant(replace(IDENTITY, name="other-provider/minilm")), recorded, IDENTITY)
    with pytest.raises(FingerprintMismatch):  # the same check can fail
        require_same_space(ScriptedVariant(IDENTITY, turned=True), recorded, IDENTITY)


def test_another_query_prefix_is_seen_in_the_vectors(recorded: tuple[tuple[float, ...], ...]) -> None:
    prefixed = replace(IDENTITY, query_prefix="Represent this sentence for searching relevant passages: ")
    with pytest.raises(FingerprintMismatch, match="all-MiniLM-L6-v2-int8") as caught:
        require_same_space(ScriptedVariant(prefixed), recorded, IDENTITY)
    assert "[models]" in caught.value.remedy


def test_another_width_is_refused(recorded: tuple[tuple[float, ...], ...]) -> None:
    with pytest.raises(FingerprintMismatch):
        require_same_space(MiniLM(threads=1), [row[:256] for row in recorded], IDENTITY)
