"""Texts as vectors, in the shape of OpenAI's embeddings."""

from __future__ import annotations

from base64 import b64encode
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from citewell.errors import UsageError
from citewell.models.embedder import Embedder, Vectors
from citewell.serving.compatible.model import MODEL, ModelName
from citewell.serving.compatible.sizes import require_size
from citewell.serving.narrowing import Words
from citewell.shapes import Shape

MAX_INPUTS = 256


class EmbeddingsBody(BaseModel):
    """`POST /v1/embeddings`"""

    model_config = ConfigDict(
        extra="ignore",
        frozen=True,
        json_schema_extra={"examples": [{"model": "citewell", "input": ["time limit for disputes"]}]},
    )

    model: ModelName = MODEL
    input: Words | Annotated[list[Words], Field(min_length=1, max_length=MAX_INPUTS)]
    encoding_format: Literal["float", "base64"] | None = "float"
    dimensions: int | None = Field(None, description="Those that the embedder has.")
    input_type: Literal["document", "query"] | None = Field(
        "document", description="Our own: some embedders read queries and passages differently."
    )

    @property
    def texts(self) -> list[str]:
        return [self.input] if isinstance(self.input, str) else self.input


def embeddings(embedder: Embedder, body: EmbeddingsBody) -> Shape:
    """What the embedder makes of the texts.

    Raises:
        UsageError: it has another number of dimensions.
        TooLarge: it is too much text.
        ServiceError: its endpoint failed.
    """
    has = embedder.identity.dimensions
    if body.dimensions not in (None, has):
        raise UsageError(f"The embedder has {has} dimensions.", remedy="Leave out `dimensions`.")
    texts = body.texts
    require_size(texts)
    read = embedder.embed_queries if body.input_type == "query" else embedder.embed_passages
    tokens = sum(len(embedder.token_spans(text)) for text in texts)
    return {
        "object": "list",
        "data": _listed(read(texts), packed=body.encoding_format == "base64"),
        "model": MODEL,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def _listed(vectors: Vectors, *, packed: bool) -> list[Shape]:
    return [
        {
            "object": "embedding",
            "index": place,
            "embedding": b64encode(vector.astype("<f4").tobytes()).decode() if packed else vector.tolist(),
        }
        for place, vector in enumerate(vectors)
    ]
