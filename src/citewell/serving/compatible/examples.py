"""Examples of good answers, for the OpenAPI schema."""

from __future__ import annotations

from citewell.serving.answers import dumped
from citewell.serving.compatible.completions import Chunks, completion
from citewell.serving.compatible.model import MODEL
from citewell.serving.examples import ANSWER
from citewell.shapes import Shape

_CREATED = 1_770_091_506
_ID = "9c2a7f00d1e4b356"
_CHUNKS = Chunks(_ID, _CREATED, with_usage=False)

COMPLETION: Shape = completion(ANSWER, _ID, _CREATED)
STREAM = "".join(f"data: {dumped(chunk)}\n\n" for chunk in (_CHUNKS.begin(), *_CHUNKS.rest(ANSWER)))
EMBEDDINGS: Shape = {
    "object": "list",
    "data": [{"object": "embedding", "index": 0, "embedding": [0.0123, -0.0456, 0.0789]}],
    "model": MODEL,
    "usage": {"prompt_tokens": 5, "total_tokens": 5},
}
RANKING: Shape = {
    "id": _ID,
    "model": MODEL,
    "results": [{"index": 0, "relevance_score": 0.7125}],
    "usage": {"total_tokens": 23},
}
