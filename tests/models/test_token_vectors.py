"""Token vectors packed, and MaxSim over them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from citewell.models.embedder import Vectors, token_embedder, unit_rows
from citewell.models.minilm import MiniLM
from citewell.models.shortened import Shortened
from citewell.models.token_vectors import CODEC, codec_for, embed, maxsim, pack

QUESTION = "How many days does a customer have to dispute a card payment?"
PASSAGES = (
    "A customer may dispute a card payment within 120 days of the transaction date.",
    "The canteen serves soup on Mondays.",
    "Disputes are handled by the fraud team; the customer is told the outcome by letter within 15 working days.",
)


def drawn(count: int, width: int, seed: int) -> Vectors:
    return unit_rows(np.random.default_rng(seed).standard_normal((count, width)).astype(np.float32))


def exact(query: Vectors, tokens: Vectors) -> float:
    return float((query @ tokens.T).max(axis=1).mean())


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


@pytest.mark.parametrize(("width", "bytes_each"), [(384, 96), (128, 32), (30, 8), (5, 2)])
def test_two_bits_a_number(width: int, bytes_each: int) -> None:
    assert len(pack(drawn(7, width, 1))) == 7 * bytes_each


def test_a_packed_vector_is_near_the_whole_one() -> None:
    """On average over 500 pairs a cosine is what it was, with the deviation that four levels leave."""
    tokens, queries = drawn(500, 384, 1), drawn(500, 384, 2)
    near = unit_rows(tokens + 0.05 * queries)
    errors = [maxsim(one[None], [pack(other[None])])[0] - one @ other for one, other in zip(tokens, near, strict=True)]
    assert abs(np.mean(errors)) < 0.005
    assert np.std(errors) < 0.03


def test_scores_are_those_of_whole_vectors_nearly(minilm: MiniLM) -> None:
    query = minilm.embed_query_tokens(QUESTION).vectors
    _, passages = minilm.embed_passage_tokens(PASSAGES)
    found = maxsim(query, [pack(each) for each in passages])
    wanted = [exact(query, each) for each in passages]
    np.testing.assert_allclose(found, wanted, atol=0.05)
    assert found.dtype == np.float32
    assert list(np.argsort(-found)) == list(np.argsort(np.negative(wanted))) == [0, 2, 1]


def test_one_token_each() -> None:
    query, tokens = drawn(3, 64, 1), drawn(2, 64, 2)
    apart = maxsim(query, [pack(tokens[:1]), pack(tokens[1:])])
    together = maxsim(query, [pack(tokens)])
    assert together[0] >= max(apart)


def test_vectors_of_a_passage_are_the_same_with_and_without_tokens(minilm: MiniLM) -> None:
    vectors, tokens = minilm.embed_passage_tokens(PASSAGES)
    np.testing.assert_array_equal(vectors, minilm.embed_passages(PASSAGES))
    lengths: list[NDArray[np.float32]] = [np.linalg.norm(each, axis=1) for each in tokens]
    np.testing.assert_allclose(np.concatenate(lengths), 1, atol=1e-5)


def test_the_tokens_of_a_query_and_their_words(minilm: MiniLM) -> None:
    query = minilm.embed_query_tokens(QUESTION + " Dysprosium-7?")
    assert query.words[:12] == tuple(QUESTION.strip("?").split())
    assert set(query.words[12:-1]) == {"Dysprosium"}
    assert query.words[-1] == "7"
    assert query.vectors.shape == (len(query.words), 384)
    (same,) = minilm.embed_passage_tokens([QUESTION + " Dysprosium-7?"])[1]
    np.testing.assert_array_equal(query.vectors, same)


@pytest.mark.parametrize(("text", "tokens"), [("card", 1), ("card, card!", 2), ("...", 3), ("", 2)])
def test_punctuation_counts_only_where_there_is_nothing_else(minilm: MiniLM, text: str, tokens: int) -> None:
    assert [len(each) for each in minilm.embed_passage_tokens([text])[1]] == [tokens]


def test_an_embedder_without_them_has_vectors_alone(minilm: MiniLM) -> None:
    short = Shortened(minilm, 128)
    assert token_embedder(short) is None
    assert codec_for(short, keep=True) == codec_for(minilm, keep=False) == ""
    assert codec_for(minilm, keep=True) == CODEC
    assert [each.tokens for each in embed(short, PASSAGES, CODEC)] == [b"", b"", b""]
    assert [each.tokens for each in embed(minilm, PASSAGES, "")] == [b"", b"", b""]
    whole = embed(minilm, PASSAGES, CODEC)
    assert [len(each.tokens) // 96 for each in whole] == [14, 6, 19]
    np.testing.assert_array_equal([each.vector for each in whole], minilm.embed_passages(PASSAGES))
