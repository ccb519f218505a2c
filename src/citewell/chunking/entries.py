"""Chunks as what is embedded and searched."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.types import Chunk, Document, Entry, EntryKind


def entry_id(chunk_id: str, name: str) -> str:
    """The id of the entry that points at a chunk, by its kind or its own name."""
    return f"{chunk_id}/{name}"


def entry(
    document: Document, chunk: Chunk, kind: EntryKind, text: str, *, name: str = "", sources: Sequence[str] = ()
) -> Entry:
    """An entry that points at `chunk`, with the document's rights; `sources` if not of it alone."""
    return Entry(
        id=entry_id(chunk.id, name or kind),
        chunk_id=chunk.id,
        document_id=document.id,
        kind=kind,
        text=text,
        rights=document.rights,
        derived_from=tuple(sources) or (chunk.id,),
    )
