"""The version of a document that holds now."""

from __future__ import annotations

from citewell.errors import UnknownId
from citewell.index import Index
from citewell.types import Version


def current_version(index: Index, document_id: str) -> Version | None:
    """Whoever may read it. None where there is none."""
    try:
        return next((one for one in index.history(document_id) if one.current and one.document_id == document_id), None)
    except UnknownId:
        return None
