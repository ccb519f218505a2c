"""Chunks as what is embedded and searched."""

from __future__ import annotations

from citewell.chunking.structure import Chunked
from citewell.types import Document, Entry, EntryKind


def entries(document: Document, chunked: Chunked) -> tuple[Entry, ...]:
    """One entry a chunk, in order: the chunk's text below its prefix, with the document's rights and validity."""
    return tuple(
        Entry(
            id=f"{chunk.id}/chunk",
            chunk_id=chunk.id,
            document_id=document.id,
            kind=EntryKind.CHUNK,
            text=above + chunk.text,
            rights=document.rights,
            derived_from=(chunk.id,),
            valid_from=document.valid_from,
            valid_to=document.valid_to,
        )
        for chunk, above in zip(chunked.chunks, chunked.prefixes, strict=True)
    )
