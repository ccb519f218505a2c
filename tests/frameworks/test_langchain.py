"""The real LangChain: a retriever by itself, in a chain, and in asynchronous code."""

from __future__ import annotations

import asyncio
from datetime import date

import pytest
from langchain_core.documents import Document
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from citewell.filters import Equal
from citewell.frameworks.langchain import CitewellRetriever
from citewell.index import Index
from citewell.types import Principal
from tests.frameworks.conftest import RULE

BOARD = Principal(groups=frozenset({"board"}))


def test_passages_are_documents_with_their_place(index: Index) -> None:
    (found, *_) = CitewellRetriever(index=index, k=1).invoke("How long may a payment be disputed?")
    assert RULE in found.page_content
    hit = index.search("How long may a payment be disputed?", k=1)[0]
    assert found.id == hit.chunk.id
    assert found.metadata["title"] == "Disputes"
    assert found.metadata["source"] == found.metadata["link"] == hit.chunk.source
    assert (found.metadata["page"], found.metadata["page_number"]) == ("", None)
    assert found.metadata["trust"] == "unreviewed"
    assert found.metadata["score"] == hit.score


def test_rights_days_and_filters_are_passed_on(index: Index) -> None:
    def titles(**given: object) -> set[str]:
        found = CitewellRetriever.model_validate({"index": index, **given}).invoke("What is the code word?")
        return {each.metadata["title"] for each in found}

    assert titles() == {"Disputes"}
    assert titles(principal=BOARD) == {"Disputes", "Code word"}
    assert titles(principal=BOARD, k=1) == {"Code word"}
    assert titles(principal=BOARD, where=Equal("title", "Disputes")) == {"Disputes"}
    assert titles(principal=BOARD, as_of=date(2001, 1, 1)) == {
        hit.chunk.title for hit in index.search("What is the code word?", principal=BOARD, as_of=date(2001, 1, 1))
    }


def test_it_is_a_part_of_a_chain(index: Index) -> None:
    def joined(documents: list[Document]) -> str:
        return "\n".join(each.page_content for each in documents)

    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    chain = {
        "context": CitewellRetriever(index=index) | RunnableLambda(joined),
        "question": RunnablePassthrough(),
    } | prompt
    assert RULE in chain.invoke("How long may a payment be disputed?").to_string()


def test_it_is_asynchronous_too(index: Index) -> None:
    retriever = CitewellRetriever(index=index, principal=BOARD)
    found = asyncio.run(retriever.ainvoke("What is the code word?"))
    assert [each.id for each in found] == [each.id for each in retriever.invoke("What is the code word?")]


def test_errors_are_those_of_the_index(index: Index) -> None:
    from citewell.errors import QuestionError

    with pytest.raises(QuestionError):
        CitewellRetriever(index=index).invoke(" ")
