"""Documents as callers see them: what is there for them, and what of it they may change."""

from __future__ import annotations

import re
from datetime import date

from citewell.errors import UnknownId
from citewell.index import Index
from citewell.serving.caller import Caller
from citewell.serving.problems import Forbidden, no_such
from citewell.serving.uploads import Uploads
from citewell.shapes import VERSION, Shape, page_shape
from citewell.types import EVERYONE, Document, Element, Page, PageState, Principal, Version

MAX_TEXT = 200_000
"""Characters of a document in one answer."""
_ID = re.compile(r"[0-9a-f]{16}")


def require_id(document_id: str) -> None:
    """The index also takes paths and chunks; a path of the server is nobody's business here.

    Raises:
        UnknownId: no document can have that id.
    """
    if not _ID.fullmatch(document_id):
        raise no_such("document", document_id)


def readable(index: Index, document_id: str, principal: Principal, as_of: date | None = None) -> Document:
    """The document of that id.

    Raises:
        UnknownId: there is none, or not for this principal.
    """
    require_id(document_id)
    try:
        found = index.show(document_id, principal=principal, as_of=as_of)
    except UnknownId:
        raise no_such("document", document_id) from None
    if not isinstance(found, Document) or found.id != document_id:
        raise no_such("document", document_id)
    return found


def changeable(index: Index, uploads: Uploads, document_id: str, caller: Caller) -> Version:
    """The current version of a document that the caller may take away or say something else of: an upload of their
    own, one that is for no others than groups of theirs, and for an admin any.

    Raises:
        UnknownId: there is none, or the caller may not read it.
        Forbidden: the caller may read it, and no more.
    """
    require_id(document_id)
    if not caller.is_admin:
        readable(index, document_id, caller.principal)
    current = index.current([document_id]).get(document_id)
    if current is None:
        raise no_such("document", document_id)
    groups = current.rights.groups
    # A key or a token may name `everyone`; what is for all is not for no others.
    own = uploads.is_of(current.source, caller.name) or (groups and groups <= caller.principal.groups - {EVERYONE})
    if not (own or caller.is_admin):
        raise Forbidden(
            "It is not yours to change.",
            remedy="Change what you have uploaded, or what is for no others than your groups.",
        )
    return current


def text_shape(document: Document, start: int, end: int) -> Shape:
    """The text from `start` to `end`, with the elements and pages that it touches."""
    start = min(start, len(document.text))
    end = max(start, min(end, len(document.text), start + MAX_TEXT))
    return {
        "version": VERSION,
        "document": document.id,
        "title": document.title,
        "number": document.number,
        "characters": len(document.text),
        "start": start,
        "end": end,
        "text": document.text[start:end],
        "elements": [_element(one) for one in document.elements if one.start < end and one.end > start],
        "pages": [_page(one) for one in document.pages if one.start <= end and one.end >= start],
    }


def problem_pages(document: Document) -> list[Shape]:
    """The pages that are not plain text."""
    return [_page(page) for page in document.pages if page.state is not PageState.TEXT]


def _element(element: Element) -> Shape:
    return {
        "kind": element.kind.value,
        "start": element.start,
        "end": element.end,
        "headings": list(element.heading_path),
        "page_number": element.page,
        "box": list(element.box) if element.box is not None else None,
        "header_rows": element.header_rows,
    }


def _page(page: Page) -> Shape:
    return {**page_shape(page), "start": page.start, "end": page.end}
