"""Documents from texts that the caller has: rows of a table, answers of a service, a data set."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import date

from citewell.loading import document_id
from citewell.loading.parsed import Parsed, TextBuilder
from citewell.settings import Loading
from citewell.types import EVERYONE, Document, ElementKind, Rights, Trust


def from_text(
    text: str,
    *,
    source: str,
    title: str = "",
    groups: Iterable[str] = (EVERYONE,),
    version: str = "",
    valid_from: date | None = None,
    valid_to: date | None = None,
) -> Document:
    """A document of plain paragraphs, which blank lines divide. `source` names it for good: the same source, the same
    document. Its version is the first 8 digits of its content hash where none is given.
    """
    if isinstance(groups, str):
        raise TypeError(f"groups must be a list of names, not the string {groups!r}")
    text, title = _encodable(text), _encodable(title)
    parsed = _paragraphs(text, title)
    content_hash = hashlib.sha256(f"{title}\0{text}".encode()).hexdigest()
    return Document(
        id=document_id(source),
        content_hash=content_hash,
        title=title,
        source=source,
        version=version or content_hash[:8],
        text=parsed.text,
        elements=parsed.elements,
        rights=Rights(frozenset(groups)),
        valid_from=valid_from,
        valid_to=valid_to,
        trust=Trust.UNREVIEWED,
        own_title=title,
    )


def _paragraphs(text: str, title: str) -> Parsed:
    builder = TextBuilder(Loading())
    for paragraph in text.replace("\r\n", "\n").split("\n\n"):
        builder.add(ElementKind.PARAGRAPH, paragraph)
    return builder.build(title)


def _encodable(text: str) -> str:
    """Without lone surrogates, which JSON may hold and neither a model nor a store takes."""
    return text.encode("utf-8", "replace").decode()
