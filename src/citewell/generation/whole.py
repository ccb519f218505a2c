"""All that a reader may read, whole: what is shown where the passages found do not answer (Self-Route).

Li, Li, Zhang, Mei and Bendersky, "Retrieval Augmented Generation or Long-Context LLMs? A Comprehensive Study and Hybrid
Approach", 2024, arXiv:2407.16490, section 5: from passages first, and from the whole text only where the model says
that they do not answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from citewell.chunking.entries import entry_id
from citewell.generation.prompt import CHARS_PER_TOKEN, body
from citewell.models.embedder import Vectors
from citewell.stores.store import Reader, Scope
from citewell.types import Chunk, EntryKind, Hit, Scale

FOUND_BY = (EntryKind.CHUNK, EntryKind.ROW)
"""The entries that are a chunk's own text."""


def whole(question: Vectors, reader: Reader, scope: Scope, most_tokens: int) -> tuple[Hit, ...]:
    """Every passage in scope, by source and in reading order; () where they are more than `most_tokens` (of 4
    characters).

    Each has the cosine of `question`, shape (dimensions,), to the nearest of what was embedded in it.
    """
    left = most_tokens * CHARS_PER_TOKEN
    shown: list[Hit] = []
    for document in reader.documents(scope):
        chunks = reader.document_chunks(document.id, scope)
        vectors = reader.vectors([entry_id(chunk.id, kind) for chunk in chunks for kind in FOUND_BY], scope)
        cosines = {entry: float(vector @ question) for entry, vector in vectors.items()}
        for passage, inside in _apart(chunks):
            left -= len(body(passage))
            if left < 0:
                return ()
            shown += _hit(passage, inside, len(shown) + 1, cosines)
    return tuple(shown)


def _hit(passage: Chunk, inside: Sequence[Chunk], rank: int, cosines: Mapping[str, float]) -> list[Hit]:
    """None of a passage in which nothing was embedded: nothing could be told of it."""
    entries = {entry_id(chunk.id, kind): chunk for chunk in (passage, *inside) for kind in FOUND_BY}
    known = [entry for entry in entries if entry in cosines]
    if not known:
        return []
    nearest = max(known, key=lambda entry: cosines[entry])
    chunk, cosine = entries[nearest], cosines[nearest]
    parent = passage if chunk is not passage else None
    return [Hit(chunk, nearest, cosine, Scale.COSINE, rank, {}, cosine, parent)]


def _apart(chunks: Sequence[Chunk]) -> list[tuple[Chunk, list[Chunk]]]:
    """The chunks that lie in no other one, each with those that lie in it, as rows do in their table."""
    kept: list[tuple[Chunk, list[Chunk]]] = []
    for chunk in sorted(chunks, key=lambda each: (each.start, -each.end)):
        if kept and chunk.end <= kept[-1][0].end:
            kept[-1][1].append(chunk)
        else:
            kept.append((chunk, []))
    return kept
