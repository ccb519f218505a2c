"""The parts of a version, made to agree with what its document now says: its place, number, title and rights."""

from __future__ import annotations

from dataclasses import replace

from citewell.retrieval.analyser import analyse
from citewell.stores.store import IndexedDocument
from citewell.types import Chunk, Document, Entry


def tokens_of(text: str, document: Document) -> str:
    """What the keyword leg matches of an embedded text: its tokens, and those of a title that it does not hold.

    Only what a document calls itself is embedded with its text. A title from a rule or a file's name is found by its
    words, and so can change without anything being embedded again.
    """
    given = document.title if document.title != document.own_title else ""
    return " ".join(analyse(f"{given}\n{text}" if given else text, document.language))


def agreeing(indexed: IndexedDocument, document: Document) -> IndexedDocument:
    """The same version as a part of `document`, which has the same text; nothing of it is embedded again."""
    old, new = (f"{one.id}@{one.number}#" for one in (indexed.document, document))

    def renamed(part_id: str) -> str:
        return new + part_id.removeprefix(old)

    def chunk(made: Chunk) -> Chunk:
        return replace(
            made,
            id=renamed(made.id),
            parent_id=renamed(made.parent_id) if made.parent_id is not None else None,
            document_id=document.id,
            title=document.title,
            source=document.source,
            version=document.version,
            rights=document.rights,
            trust=document.trust,
        )

    def entry(made: Entry) -> Entry:
        return replace(
            made,
            id=renamed(made.id),
            chunk_id=renamed(made.chunk_id),
            document_id=document.id,
            rights=document.rights,
            derived_from=tuple(map(renamed, made.derived_from)),
        )

    entries = (
        replace(item, entry=entry(item.entry), tokens=tokens_of(item.entry.text, document)) for item in indexed.entries
    )
    return replace(indexed, document=document, chunks=tuple(map(chunk, indexed.chunks)), entries=tuple(entries))
