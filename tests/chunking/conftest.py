"""The real tokenizer, and documents put together as the loaders do it."""

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from citewell.chunking import Chunked, chunk
from citewell.loading.parsed import Details, TextBuilder
from citewell.models.embedder import ModelIdentity, TokenSpans
from citewell.models.minilm import IDENTITY, MiniLM
from citewell.settings import Chunking, Loading
from citewell.types import Chunk, Document, ElementKind, Rights, Trust

Part = tuple[ElementKind, str] | tuple[ElementKind, str, int] | tuple[ElementKind, str, Details]
Make = Callable[..., Document]
Cut = Callable[..., Chunked]


class Narrow(MiniLM):
    """The default embedder, as if it took fewer tokens."""

    def __init__(self, max_tokens: int = 256) -> None:
        super().__init__()
        self._identity = replace(IDENTITY, max_tokens=max_tokens)

    @property
    def identity(self) -> ModelIdentity:
        return self._identity


@pytest.fixture(scope="session")
def embedder() -> MiniLM:
    return MiniLM()


@pytest.fixture(scope="session")
def token_spans(embedder: MiniLM) -> Callable[[str], TokenSpans]:
    return embedder.token_spans


@pytest.fixture(scope="session")
def make() -> Make:
    """A document of elements; a heading may give its level, a table or code its details."""

    def make(parts: Iterable[Part], title: str = "Manual", pages: Iterable[int] = ()) -> Document:
        builder = TextBuilder(Loading())
        breaks = set(pages)
        for place, part in enumerate(parts):
            if place in breaks:
                number = sorted(breaks).index(place) + 1
                builder.start_page(number, f"A-{number}")
            last = part[2] if len(part) == 3 else 1
            if isinstance(last, Details):
                builder.add(part[0], part[1], more=last)
            else:
                builder.add(part[0], part[1], level=last)
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
            pages=parsed.pages,
            trust=Trust.APPROVED,
        )

    return make


@pytest.fixture(scope="session")
def cut() -> Cut:
    """`chunk` with the real embedder and sizes that fit a test; switches by name."""
    embedders = {most: Narrow(most) for most in (64, 256)}

    def cut(
        document: Document, size: int = 60, overlap: int = 0, max_tokens: int = 256, **switches: str | float | bool
    ) -> Chunked:
        settings = Chunking.model_validate({"size": size, "overlap": overlap, **switches})
        return chunk(document, settings, embedders[max_tokens])

    return cut


def small(chunked: Chunked) -> list[Chunk]:
    """The chunks that the document was cut into, without rows and parents."""
    return [piece for piece in chunked.chunks if piece.id.rpartition("#")[2].isdigit()]
