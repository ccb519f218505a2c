"""`/v1/documents`: what there is for the caller; its text; its file."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from citewell.serving import examples
from citewell.serving.answers import Answered
from citewell.serving.documents import MAX_TEXT, readable, text_shape
from citewell.serving.narrowing import MAX_GROUPS, Group, condition, principal_for
from citewell.serving.openapi import Responses, answers, errors
from citewell.serving.originals import Original, original
from citewell.serving.schemas import DocumentList, DocumentText, WholeDocument
from citewell.serving.service import MayRead, RequestId, Serving
from citewell.shapes import Shape, document_shape, documents_shape

router = APIRouter(tags=["documents"])

MAX_WHERE = 4_000
"""A filter in an address: encoded it may be twelve times as long, and the server takes 64 KB of a request's head."""

DocumentId = Annotated[str, Path(min_length=1, max_length=200, examples=["5d0f3a4c9be1a7f2"])]
AsOf = Annotated[date | None, Query(description="What was in force on that day.")]
Groups = Annotated[list[Group] | None, Query(max_length=MAX_GROUPS, description="Read with these groups only.")]

_BYTES = {
    kind: {"schema": {"type": "string", "format": "binary"}}
    for kind in ("application/pdf", "image/png", "image/jpeg", "image/gif", "application/octet-stream")
}
_FILE: Responses = {
    200: {
        "description": "The bytes that were indexed. PDF and images to be shown, all else to be saved.",
        "content": _BYTES,
    },
    206: {"description": "Those that `Range` asks for; `Content-Range` says which.", "content": _BYTES},
}


@router.get(
    "/v1/documents",
    response_class=Answered,
    responses={**answers(200, DocumentList, "By source.", examples.DOCUMENTS), **errors(400)},
)
async def documents(
    caller: MayRead,
    service: Serving,
    request_id: RequestId,
    *,
    as_of: AsOf = None,
    where: Annotated[str | None, Query(max_length=MAX_WHERE, examples=["department = legal"])] = None,
    groups: Groups = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 200,
    offset: Annotated[int, Query(ge=0, le=1_000_000_000)] = 0,
) -> Answered:
    """The documents that the caller may read and that are in force, without their text."""
    principal, index = principal_for(caller, groups), service.index

    def listed() -> Shape:
        found = index.documents(principal=principal, as_of=as_of, where=condition(where, index.fields))
        shown = found[offset : offset + limit]
        service.audit.write(
            "list", caller=caller, request=request_id, asked=where or "", documents=[one.id for one in shown]
        )
        return {**documents_shape(shown), "total": len(found), "offset": offset}

    return Answered(await service.reading.run(listed))


@router.get(
    "/v1/documents/{document_id}",
    response_class=Answered,
    responses={**answers(200, WholeDocument, "Its facts and outline.", examples.WHOLE), **errors(404)},
)
async def document(
    document_id: DocumentId,
    caller: MayRead,
    service: Serving,
    request_id: RequestId,
    *,
    as_of: AsOf = None,
    groups: Groups = None,
) -> Answered:
    """A document's facts, pages that are not plain text, and outline."""
    principal, index = principal_for(caller, groups), service.index

    def shown() -> Shape:
        found = readable(index, document_id, principal, as_of)
        service.audit.write("document", caller=caller, request=request_id, documents=[found.id])
        return document_shape(found, len(index.chunks(found.id, principal=principal, as_of=as_of)))

    return Answered(await service.reading.run(shown))


@router.get(
    "/v1/documents/{document_id}/text",
    response_class=Answered,
    responses={**answers(200, DocumentText, "A stretch of its text.", examples.TEXT), **errors(404)},
)
async def text(
    document_id: DocumentId,
    caller: MayRead,
    service: Serving,
    request_id: RequestId,
    *,
    start: Annotated[int, Query(ge=0, le=1_000_000_000)] = 0,
    end: Annotated[int, Query(ge=0, le=1_000_000_000, description=f"{MAX_TEXT:,} from start at most.")] = MAX_TEXT,
    as_of: AsOf = None,
    groups: Groups = None,
) -> Answered:
    """A stretch of a document's text, in characters, with the elements and pages that it touches."""
    principal, index = principal_for(caller, groups), service.index

    def shown() -> Shape:
        found = readable(index, document_id, principal, as_of)
        service.audit.write("text", caller=caller, request=request_id, documents=[found.id])
        return text_shape(found, start, end)

    return Answered(await service.reading.run(shown))


@router.head("/v1/documents/{document_id}/file", response_class=Response, include_in_schema=False)
@router.get("/v1/documents/{document_id}/file", response_class=Response, responses={**_FILE, **errors(404, 416)})
async def file(
    request: Request,
    document_id: DocumentId,
    caller: MayRead,
    service: Serving,
    request_id: RequestId,
    *,
    groups: Groups = None,
    ranged: Annotated[str | None, Header(alias="Range", description="One stretch: `bytes=0-99`, `bytes=-100`.")] = None,
    if_range: Annotated[
        str | None, Header(alias="If-Range", description="The `ETag` of the file that `Range` is about.")
    ] = None,
) -> Response:
    """The file that the document was read from, or a stretch of it, where it is still the same."""
    principal = principal_for(caller, groups)
    wanted = ranged if request.method == "GET" else None  # of a HEAD it has no meaning

    def opened() -> Original:
        found = readable(service.index, document_id, principal)
        service.audit.write("file", caller=caller, request=request_id, documents=[found.id])
        return original(found, service.checked, wanted, if_range)

    return _Sent(await service.reading.run(opened))


class _Sent(StreamingResponse):
    """A file. Its copy is closed when it is sent, and when whoever asked goes away before: `pieces` then has no end."""

    def __init__(self, sent: Original) -> None:
        super().__init__(sent.pieces(), sent.status, sent.headers, sent.media_type)
        self._data = sent.data

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._data.close()
