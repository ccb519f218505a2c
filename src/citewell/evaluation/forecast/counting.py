"""An index counted: every document of it, or of a large one some that are drawn at random, always the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean

import numpy as np

from citewell.errors import UsageError
from citewell.evaluation.forecast.collection import Asking, Collection, Counted
from citewell.evaluation.forecast.rates import Assumptions
from citewell.generation.prompt import CHARS_PER_TOKEN, build_prompt
from citewell.index import Index
from citewell.models.embedder import Embedder
from citewell.models.token_vectors import codec_for, row_bytes
from citewell.settings import Settings
from citewell.types import Chunk, Document, Hit, Principal, Scale

MOST_DOCUMENTS = 300
MOST_PASSAGES = 200
"""Looked at to measure a prompt."""

PLACEHOLDER = "?"
"""Stands for the question in a prompt that is measured."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """The documents counted, each with its chunks, of `documents` that somebody may read."""

    documents: int
    taken: tuple[tuple[Document, tuple[Chunk, ...]], ...]

    @property
    def hits(self) -> list[Hit]:
        """Every passage, as a search would bring it."""
        return [hit for _, chunks in self.taken for hit in _hits(chunks)]


def draw(index: Index, most: int = MOST_DOCUMENTS) -> Drawn:
    """Take at most so many documents of an index. The owner's call.

    Raises:
        UsageError: there is no passage in what was taken.
    """
    listed = [each for each in index.stored(texts=False) if each.rights.groups]
    anyone = Principal(groups=frozenset().union(*(each.rights.groups for each in listed)))
    places = np.random.default_rng(0).permutation(len(listed))[:most]
    found = (index.show(listed[place].id, principal=anyone) for place in sorted(places))
    documents = [each for each in found if isinstance(each, Document)]
    drawn = Drawn(len(listed), tuple((each, index.chunks(each.id, principal=anyone)) for each in documents))
    if not drawn.hits:
        raise UsageError("There is no text in the index to count.", remedy="Add documents with `citewell index`.")
    return drawn


def counted(drawn: Drawn, entries: int, embedder: Embedder, *, token_vectors: bool) -> Collection:
    """The collection that the documents were drawn from; `entries` are all of its vectors. Those of tokens are kept
    with `token_vectors`, where the embedder gives some."""

    @cache
    def above(title: str, section: str) -> int:
        return tokens_of(f"{title} {section}", embedder)

    def count(document: Document, chunks: Sequence[Chunk]) -> Counted:
        passages = [hit.chunk for hit in _hits(chunks)]
        lengths = [tokens_of(passage.text, embedder) for passage in passages]
        return Counted(
            tokens=tokens_of(document.text, embedder),
            passages=len(passages),
            passage_tokens=sum(lengths),
            embedded_tokens=sum(lengths) + sum(above(passage.title, passage.section) for passage in passages),
            pages=len(document.pages),
        )

    return Collection(
        documents=drawn.documents,
        counted=tuple(count(document, chunks) for document, chunks in drawn.taken),
        entries=entries,
        dimensions=embedder.identity.dimensions,
        token_bytes=row_bytes(embedder.identity.dimensions) if codec_for(embedder, keep=token_vectors) else 0,
    )


def asked(drawn: Drawn, settings: Settings, assumed: Assumptions, embedder: Embedder) -> Asking:
    """A question with passages of the mean length, and the instructions that `ask` puts around them."""
    hits = drawn.hits
    some = hits[:: max(1, len(hits) // MOST_PASSAGES)]
    bodies = [_body(hit.passage) for hit in some]
    keep = settings.retrieval.keep
    built = build_prompt(PLACEHOLDER, some[:: max(1, len(some) // keep)][:keep], settings)
    around = tokens_of(f"{built.prompt.system}\n{built.prompt.user}", embedder) - sum(
        tokens_of(_body(hit.passage), embedder) for hit in built.hits
    )
    room = int(settings.generation.passage_tokens * CHARS_PER_TOKEN / fmean(map(len, bodies)))
    return Asking(
        passages=max(1, min(keep, room, len(hits))),
        room=max(1, min(room, len(hits))),
        passage_tokens=fmean(tokens_of(body, embedder) for body in bodies),
        instruction_tokens=around + assumed.question_tokens,
        answer_tokens=min(assumed.answer_tokens, settings.models.llm_max_tokens),
        candidates=min(settings.retrieval.rerank_candidates, len(hits)),
    )


def _hits(chunks: Sequence[Chunk]) -> list[Hit]:
    by_id = {chunk.id: chunk for chunk in chunks}
    read_only = {chunk.parent_id for chunk in chunks}
    return [
        Hit(chunk, chunk.id, 0.0, Scale.RRF, 1, {}, 0.0, by_id.get(chunk.parent_id or ""))
        for chunk in chunks
        if chunk.id not in read_only
    ]


def _body(chunk: Chunk) -> str:
    return f"{chunk.preamble}\n{chunk.text}" if chunk.preamble else chunk.text


def tokens_of(text: str, embedder: Embedder) -> int:
    return len(embedder.token_spans(text))
