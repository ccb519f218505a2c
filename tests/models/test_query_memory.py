"""What was made of a query is made once, for each set of readers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from citewell.errors import ServiceUnreachable
from citewell.models.embedder import Embedder, QueryTokens, Vectors, token_embedder
from citewell.models.encoding import Encoders
from citewell.models.minilm import MiniLM
from citewell.models.query_memory import QueryMemory
from citewell.models.sparse import SparseVector
from tests.scripted_embedder import ScriptedEmbedder
from tests.scripted_sparse import ScriptedSparse

LEGAL, EVERYONE = frozenset({"legal"}), frozenset({"everyone"})


class Counting(MiniLM):
    """The real embedder, which notes each query that it reads."""

    def __init__(self) -> None:
        super().__init__(threads=1)
        self.read: list[str] = []

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.read += texts
        return super().embed_queries(texts)

    def embed_query_tokens(self, query: str) -> QueryTokens:
        self.read.append(f"tokens of {query}")
        return super().embed_query_tokens(query)


class CountingSparse(ScriptedSparse):
    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def encode_query(self, text: str) -> SparseVector:
        self.read.append(text)
        return super().encode_query(text)


def test_a_query_is_read_once() -> None:
    embedder, sparse = Counting(), CountingSparse()
    memory = QueryMemory(Encoders(embedder, sparse), 10)
    for _ in range(2):
        mine = memory.read_for(LEGAL)
        of_tokens = token_embedder(mine.embedder)
        assert of_tokens is not None
        assert mine.sparse is not None
        np.testing.assert_array_equal(
            mine.embedder.embed_queries(["fee", "card"]), MiniLM().embed_queries(["fee", "card"])
        )
        assert of_tokens.embed_query_tokens("the fee").words == ("the", "fee")
        assert mine.sparse.words(mine.sparse.encode_query("fee").terms.tolist()) == sparse.words(
            ScriptedSparse().encode_query("fee").terms.tolist()
        )
    assert embedder.read == ["fee", "card", "tokens of the fee"]
    assert sparse.read == ["fee"]


def test_no_reader_learns_by_the_time_what_another_asked() -> None:
    embedder = Counting()
    memory = QueryMemory(Encoders(embedder), 10)
    for readers in (LEGAL, EVERYONE, None):
        memory.read_for(readers).embedder.embed_queries(["a secret plan"])
    assert embedder.read == ["a secret plan"] * 3


def test_the_oldest_is_forgotten_first_and_none_is_kept_where_none_is_to_be() -> None:
    embedder = Counting()
    few = QueryMemory(Encoders(embedder), 2).read_for(None).embedder
    for text in ("one", "two", "three", "two", "one"):
        few.embed_queries([text])
    assert embedder.read == ["one", "two", "three", "one"]
    none = QueryMemory(Encoders(embedder), 0).read_for(None).embedder
    none.embed_queries(["one"])
    none.embed_queries(["one"])
    assert embedder.read[4:] == ["one", "one"]


def test_what_one_asks_pushes_nothing_of_anothers_out() -> None:
    embedder = Counting()
    memory = QueryMemory(Encoders(embedder), 1)
    memory.read_for(LEGAL).embedder.embed_queries(["mine"])
    for text in ("theirs", "more of theirs"):
        memory.read_for(EVERYONE).embedder.embed_queries([text])
    memory.read_for(LEGAL).embedder.embed_queries(["mine"])
    assert embedder.read.count("mine") == 1


def test_passages_and_what_the_embedder_is_are_its_own() -> None:
    plain: Embedder = ScriptedEmbedder("scripted", 8)
    read = QueryMemory(Encoders(plain), 5).read_for(LEGAL)
    assert read.sparse is None
    assert token_embedder(read.embedder) is None
    assert read.embedder.identity == plain.identity
    np.testing.assert_array_equal(read.embedder.embed_passages(["x"]), plain.embed_passages(["x"]))
    np.testing.assert_array_equal(read.embedder.token_spans("ab"), plain.token_spans("ab"))


def test_nobody_changes_what_others_are_given() -> None:
    memory = QueryMemory(Encoders(Counting()), 5)
    first = memory.read_for(None).embedder.embed_queries(["fee"])
    first[:] = 0
    assert np.linalg.norm(memory.read_for(None).embedder.embed_queries(["fee"])[0]) == pytest.approx(1, abs=1e-5)


def test_nothing_is_asked_of_an_endpoint_before_there_is_a_query() -> None:
    """Opening an index must not need its embedder: nor may looking what kind it is."""

    class Unreachable(ScriptedEmbedder):
        def __init__(self) -> None:
            """Without an identity."""

        def __getattr__(self, name: str) -> object:
            raise ServiceUnreachable(f"{name} is asked for.", remedy="Wait.")

    memory = QueryMemory(Encoders(Unreachable()), 5)
    assert memory.read_for(None).sparse is None
