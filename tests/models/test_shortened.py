"""Vectors cut to their first numbers."""

import numpy as np
import pytest

from citewell.errors import SettingsError
from citewell.models.minilm import IDENTITY, MiniLM
from citewell.models.shortened import Shortened

TEXTS = ["A customer may dispute a card payment.", "How long may I contest a charge on my card?", "Opening hours"]
WHOLE = MiniLM(threads=1)


def test_the_first_numbers_stay_at_length_one() -> None:
    short = Shortened(WHOLE, 128)
    whole = WHOLE.embed_passages(TEXTS)
    for vectors in (short.embed_passages(TEXTS), short.embed_queries(TEXTS)):
        assert vectors.shape == (3, 128)
        assert vectors.dtype == np.float32
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)
        cosines = (vectors * whole[:, :128]).sum(axis=1) / np.linalg.norm(whole[:, :128], axis=1)
        assert cosines == pytest.approx(1, abs=1e-6)
    assert short.embed_passages([]).shape == (0, 128)


def test_it_says_what_it_is() -> None:
    identity = Shortened(WHOLE, 128).identity
    assert (identity.dimensions, identity.revision) == (128, f"{IDENTITY.revision}[:128]")
    assert identity.name == IDENTITY.name


def test_it_counts_tokens_as_the_whole_does() -> None:
    assert np.array_equal(Shortened(WHOLE, 128).token_spans(TEXTS[0]), WHOLE.token_spans(TEXTS[0]))


def test_more_than_there_is_cannot_be_kept() -> None:
    short = Shortened(WHOLE, 385)
    for call in (lambda: short.identity, lambda: short.embed_queries(TEXTS)):
        with pytest.raises(SettingsError, match=r"models\.dimensions is 385, .* 384 numbers") as caught:
            call()
        assert "at most 384" in caught.value.remedy
