"""Documents put together as the loaders do it, cut with the real tokenizer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from citewell.chunking import Chunked, chunk
from citewell.loading.parsed import TextBuilder
from citewell.models.minilm import MiniLM
from citewell.settings import Chunking, Loading
from citewell.types import Document, ElementKind, Rights, Trust

Manual = Callable[..., Document]
Cut = Callable[..., Chunked]

WORDS = ("Aurora", "Basalt", "Cobalt", "Dune", "Ember", "Fjord", "Garnet", "Harbour", "Indigo", "Juniper")
LONG = "The branch writes down what the customer says, reads it out, and has it signed before anything else is done."


@pytest.fixture(scope="session")
def embedder() -> MiniLM:
    return MiniLM(threads=1)


@pytest.fixture(scope="session")
def manual() -> Manual:
    """A document of one section for each text, under a heading of its own; each becomes one passage."""

    def make(texts: list[str], trust: Trust = Trust.APPROVED, title: str = "Manual of cards") -> Document:
        builder = TextBuilder(Loading())
        for number, text in enumerate(texts):
            builder.add(ElementKind.HEADING, f"Section of {WORDS[number % 10]} {number}", level=1)
            builder.add(ElementKind.PARAGRAPH, text)
        parsed = builder.build(title)
        return Document(
            id="doc",
            content_hash="0123456789abcdef",
            title=title,
            own_title=title,
            source="file:///manual.txt",
            version="2",
            text=parsed.text,
            elements=parsed.elements,
            rights=Rights(frozenset({"fraud_team"})),
            trust=trust,
        )

    return make


@pytest.fixture(scope="session")
def cut(embedder: MiniLM) -> Cut:
    def cut(document: Document, size: int = 60) -> Chunked:
        return chunk(document, Chunking(size=size, overlap=0), embedder)

    return cut


def nothing_kept(_: object) -> None:
    """For tests that do not look at what is kept."""
