"""The real tokenizer, and documents put together as the loaders do it."""

from collections.abc import Callable, Iterable

import pytest

from citewell.chunking import Chunked, chunk
from citewell.loading.parsed import TextBuilder
from citewell.models.embedder import TokenSpans
from citewell.models.minilm import MiniLM
from citewell.settings import Loading
from citewell.types import Document, ElementKind, Rights, Trust

Part = tuple[ElementKind, str] | tuple[ElementKind, str, int]
Make = Callable[..., Document]
Cut = Callable[..., Chunked]


@pytest.fixture(scope="session")
def token_spans() -> Callable[[str], TokenSpans]:
    return MiniLM().token_spans


@pytest.fixture(scope="session")
def make() -> Make:
    """A document of elements; a heading may give its level."""

    def make(parts: Iterable[Part], title: str = "Manual", pages: Iterable[int] = ()) -> Document:
        builder = TextBuilder(Loading())
        breaks = set(pages)
        for place, part in enumerate(parts):
            if place in breaks:
                number = sorted(breaks).index(place) + 1
                builder.start_page(number, f"A-{number}")
            builder.add(part[0], part[1], level=part[2] if len(part) == 3 else 1)
        parsed = builder.build(title)
        return Document(
            id="doc",
            content_hash="0123456789abcdef",
            title=title,
            source="file:///manual.txt",
            version="2",
            text=parsed.text,
            elements=parsed.elements,
            rights=Rights(frozenset({"fraud_team"})),
            pages=parsed.pages,
            trust=Trust.APPROVED,
        )

    return make


@pytest.fixture(scope="session")
def cut(token_spans: Callable[[str], TokenSpans]) -> Cut:
    """`chunk` with the real tokenizer and sizes that fit a test."""

    def cut(document: Document, size: int = 60, overlap: int = 0, max_tokens: int = 256) -> Chunked:
        return chunk(document, token_spans, size=size, overlap=overlap, max_tokens=max_tokens)

    return cut
