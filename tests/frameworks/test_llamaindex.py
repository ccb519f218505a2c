"""The real LlamaIndex, where it is installed: it brings thirty packages, so it is not among those for developers."""

from __future__ import annotations

import asyncio
from datetime import date

import pytest

from citewell.filters import Equal
from citewell.index import Index
from citewell.types import Principal
from tests.frameworks.conftest import RULE

pytest.importorskip("llama_index.core", reason="the extra llamaindex is not installed")

from llama_index.core.schema import MetadataMode

from citewell.frameworks.llamaindex import CitewellRetriever

BOARD = Principal(groups=frozenset({"board"}))


def test_passages_are_nodes_with_their_place(index: Index) -> None:
    (found,) = CitewellRetriever(index, k=1).retrieve("How long may a payment be disputed?")
    hit = index.search("How long may a payment be disputed?", k=1)[0]
    assert RULE in found.text
    assert (found.node_id, found.score) == (hit.chunk.id, hit.score)
    assert found.metadata["source"] == found.metadata["link"] == hit.chunk.source
    shown = found.node.get_content(MetadataMode.LLM)
    assert "title: Disputes" in shown
    assert hit.chunk.source not in shown
    assert found.node.get_content(MetadataMode.EMBED) == hit.chunk.text


def test_rights_days_and_filters_are_passed_on(index: Index) -> None:
    def titles(retriever: CitewellRetriever) -> set[str]:
        return {each.metadata["title"] for each in retriever.retrieve("What is the code word?")}

    assert titles(CitewellRetriever(index)) == {"Disputes"}
    assert titles(CitewellRetriever(index, principal=BOARD)) == {"Disputes", "Code word"}
    assert titles(CitewellRetriever(index, principal=BOARD, k=1)) == {"Code word"}
    where = Equal("title", "Disputes")
    assert titles(CitewellRetriever(index, principal=BOARD, where=where)) == {"Disputes"}
    on = date(2001, 1, 1)
    assert titles(CitewellRetriever(index, principal=BOARD, as_of=on)) == {
        hit.chunk.title for hit in index.search("What is the code word?", principal=BOARD, as_of=on)
    }


def test_it_is_asynchronous_too(index: Index) -> None:
    retriever = CitewellRetriever(index, principal=BOARD)
    found = asyncio.run(retriever.aretrieve("What is the code word?"))
    assert [each.node_id for each in found] == [each.node_id for each in retriever.retrieve("What is the code word?")]
