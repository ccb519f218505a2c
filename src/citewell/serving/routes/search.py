"""`POST /v1/search`"""

from __future__ import annotations

from fastapi import APIRouter

from citewell.serving import examples
from citewell.serving.answers import Answered
from citewell.serving.asked import SearchBody
from citewell.serving.narrowing import condition, principal_for
from citewell.serving.openapi import answers, errors
from citewell.serving.schemas import FoundPassages
from citewell.serving.service import MayRead, RequestId, Serving
from citewell.shapes import Shape, search_shape

router = APIRouter(tags=["ask"])


@router.post(
    "/v1/search",
    response_class=Answered,
    responses={**answers(200, FoundPassages, "The best passages.", examples.SEARCH), **errors(400, 413, 502)},
)
async def search(body: SearchBody, caller: MayRead, service: Serving, request_id: RequestId) -> Answered:
    """The best passages for a query, without an answer."""
    principal, index = principal_for(caller, body.groups), service.index

    def found() -> Shape:
        hits = index.search(
            body.query,
            k=body.k,
            principal=principal,
            as_of=body.as_of,
            where=condition(body.where, index.fields),
        )
        shown = [hit.chunk.document_id for hit in hits]
        service.audit.write("search", caller=caller, request=request_id, asked=body.query, documents=shown)
        return search_shape(body.query, hits)

    return Answered(await service.reading.run(found))
