"""All that a reader may read, whole: what is shown where the passages found do not answer (Self-Route).

Li, Li, Zhang, Mei and Bendersky, "Retrieval Augmented Generation or Long-Context LLMs? A Comprehensive Study and Hybrid
Approach", 2024, arXiv:2407.16490, section 5: from passages first, and from the whole text only where the model says
that they do not answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.generation.prompt import CHARS_PER_TOKEN
from citewell.stores.store import Reader, Scope
from citewell.types import Chunk, Hit, Scale

COSINE_UNKNOWN = 0.0


def whole(reader: Reader, scope: Scope, most_tokens: int) -> tuple[Hit, ...]:
    """Every passage in scope, by source and in reading order; () where they are more than `most_tokens` (of 4
    characters)."""
    left = most_tokens * CHARS_PER_TOKEN
    shown: list[Chunk] = []
    for document in reader.documents(scope):
        for chunk in _apart(reader.document_chunks(document.id, scope)):
            left -= len(chunk.text)
            if left < 0:
                return ()
            shown.append(chunk)
    return tuple(
        Hit(chunk, chunk.id, 0.0, Scale.COSINE, rank, {}, COSINE_UNKNOWN) for rank, chunk in enumerate(shown, start=1)
    )


def _apart(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Without those that lie in another one, as a row does in its table."""
    kept: list[Chunk] = []
    for chunk in sorted(chunks, key=lambda each: (each.start, -each.end)):
        if not kept or chunk.end > kept[-1].end:
            kept.append(chunk)
    return kept
