"""Documents in the order in which they answer a query, in the shape that Cohere, Jina and others share."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from citewell.index import Index
from citewell.serving.compatible.model import MODEL, ModelName
from citewell.serving.compatible.sizes import require_size
from citewell.serving.narrowing import Words
from citewell.shapes import Shape

MAX_DOCUMENTS = 256


class TextDocument(BaseModel):
    """A document as an object; only its text counts."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    text: Words


class RerankBody(BaseModel):
    """`POST /v1/rerank`"""

    model_config = ConfigDict(
        extra="ignore",
        frozen=True,
        json_schema_extra={
            "examples": [
                {
                    "model": "citewell",
                    "query": "time limit for disputes",
                    "documents": ["A dispute must come within 120 days.", {"text": "The branch opens at nine."}],
                    "top_n": 1,
                }
            ]
        },
    )

    model: ModelName = MODEL
    query: Words
    documents: Annotated[list[Words | TextDocument], Field(min_length=1, max_length=MAX_DOCUMENTS)]
    top_n: int | None = Field(None, ge=1)
    return_documents: bool | None = False

    @property
    def texts(self) -> list[str]:
        return [each if isinstance(each, str) else each.text for each in self.documents]


def ranking(index: Index, body: RerankBody, request_id: str) -> Shape:
    """The documents, the best first, by the re-ranker of the index.

    Raises:
        QuestionError: the query is blank.
        TooLarge: it is too much text.
        ServiceError: the endpoint of a model failed.
    """
    texts = body.texts
    require_size((body.query, *texts))
    scores = index.rerank(body.query, texts).tolist()
    best = sorted(range(len(texts)), key=lambda place: (-scores[place], place))
    return {
        "id": request_id,
        "model": MODEL,
        "results": [
            {
                "index": place,
                "relevance_score": scores[place],
                **({"document": {"text": texts[place]}} if body.return_documents else {}),
            }
            for place in best[: body.top_n]
        ],
        "usage": {"total_tokens": sum(len(index.embedder.token_spans(text)) for text in (body.query, *texts))},
    }
