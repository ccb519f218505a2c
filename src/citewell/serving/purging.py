"""Purging a document: nothing of it is left in the index, in the uploads or in what the service keeps."""

from __future__ import annotations

from citewell.errors import UnknownId
from citewell.index import Index
from citewell.serving import uploads
from citewell.serving.problems import no_such
from citewell.serving.service import Service
from citewell.shapes import VERSION, Shape, receipt_shape


def purge(service: Service, document_id: str) -> Shape:
    """What was removed. It needs our turn to write.

    Evaluations and comparisons go whole, those that run among them: their results quote documents. One that was cut
    short may have left turns alone; called again, it removes them.

    Raises:
        UnknownId: there is nothing of it.
        Refused: as `ConversationStore.forget`.
    """
    source, receipt = _source(service.index, document_id), None
    named = service.conversations.named(document_id)
    if source is None and document_id not in named:
        service.conversations.forget(())  # the file may have been read when its turns went, and was not rewritten
        raise no_such("document", document_id)
    service.jobs.forget_texts()
    if source is not None:
        receipt = service.index.purge(document_id)
        path = service.uploads.path(source)
        if path is not None:
            uploads.remove(path)
    service.jobs.forget_texts()  # those begun meanwhile; before the turns, as removing these rewrites the file
    removed = {each.document_id for each in receipt.removed} if receipt is not None else set()
    turns = service.conversations.forget(removed | (named if document_id in named else set()))
    if receipt is not None:
        return {**receipt_shape(receipt), "turns": turns}
    return {
        "version": VERSION,
        "deleted": document_id,
        "purged": True,
        "kept_until": None,
        "removed": [],
        "turns": turns,
    }


def _source(index: Index, document_id: str) -> str | None:
    """Where it was read from; None where nothing of it is stored. The index also takes paths, which are no ids."""
    try:
        return next((one.source for one in index.history(document_id) if one.document_id == document_id), None)
    except UnknownId:
        return None
