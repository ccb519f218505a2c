"""What the schema says of every route: its errors, its examples, its tags."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel

from citewell.serving.problems import problem
from citewell.serving.schemas import ProblemBody
from citewell.shapes import Shape

Responses = dict[int | str, dict[str, Any]]

TAGS = [
    {"name": "ask", "description": "Questions, and the passages that answer them."},
    {"name": "conversations", "description": "Questions in a row, kept for who asked them."},
    {"name": "documents", "description": "What there is to ask, for the caller."},
    {"name": "jobs", "description": "What takes longer than a request."},
    {"name": "evaluations", "description": "How good answers are, on a test set. For admins."},
    {"name": "compatible", "description": "For clients of other services: docs/connect.md."},
    {"name": "service", "description": "For whoever runs it."},
]

_EXAMPLE = "x-example"

_EXAMPLES: dict[int, tuple[str, Shape]] = {
    400: (
        "The request is wrong.",
        problem("FilterError", "There is no field 'departmnt'.", "Declared are: department."),
    ),
    401: (
        "No key, or one that does not hold.",
        problem(
            "Unauthenticated", "The key or token does not hold.", "Send `Authorization: Bearer` and one that does."
        ),
    ),
    403: (
        "Known, and not allowed.",
        problem("Forbidden", "That needs a key of the scope write.", "Ask whoever runs the service for one."),
    ),
    404: (
        "There is none, or not for this caller: the two look the same.",
        problem("UnknownId", "There is no document '0f'.", "GET /v1/documents lists those that are yours to see."),
    ),
    409: (
        "It does not go together with what is there just now.",
        problem("IndexLocked", "The index is being written to.", "Try again in a moment."),
    ),
    413: ("The body is too large.", problem("TooLarge", "A request may hold 2,000,000 bytes.", "Send less at once.")),
    416: (
        "The file has none of these bytes; `Content-Range` says how many it has.",
        problem("RangeNotSatisfiable", "The file has 1,200 bytes, and none of these.", "Ask for others, or for all."),
    ),
    422: (
        "The body or a parameter is not as it must be.",
        problem("RequestError", "body.question is missing.", "The schema is at /openapi.json."),
    ),
    429: (
        "Too much is asked just now; `Retry-After` says when to come again.",
        problem("TooBusy", "Too many are asking just now.", "Try again in a moment."),
    ),
    500: ("A fault of the service.", problem("Unexpected", "Something went wrong in the service.", "It was logged.")),
    502: (
        "A model's endpoint failed.",
        problem("ServiceUnreachable", "The service cannot do this now.", "Try again later, or ask whoever runs it."),
    ),
    503: (
        "The service cannot do that now.",
        problem("FingerprintMismatch", "The service cannot do this now.", "Try again later, or ask whoever runs it."),
    ),
    507: ("No room on the disk.", problem("DiskFull", "The service cannot do this now.", "Try again later.")),
}

ALWAYS = (401, 403, 422, 429, 500, 503)
"""Errors that every guarded route may have."""


def errors(*more: int) -> Responses:
    """The errors of a route: those of every one, and these."""
    return {
        status: {
            "model": ProblemBody,
            "description": _EXAMPLES[status][0],
            "content": {"application/json": {"example": _EXAMPLES[status][1]}},
        }
        for status in sorted({*ALWAYS, *more})
    }


def answers(status: int, model: type[BaseModel], description: str, example: Shape) -> Responses:
    """The good answer of a route."""
    # FastAPI would drop what is null from an example; `completed` puts it back.
    content = {"application/json": {_EXAMPLE: json.dumps(example)}}
    return {status: {"model": model, "description": description, "content": content}}


def completed(schema: Shape) -> Shape:
    """The schema with its examples whole."""
    for operations in schema["paths"].values():
        for operation in operations.values():
            for response in operation["responses"].values():
                for content in response.get("content", {}).values():
                    if _EXAMPLE in content:
                        content["example"] = json.loads(content.pop(_EXAMPLE))
    return schema
