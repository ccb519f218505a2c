"""What the framework refuses before a route has it, in our words."""

from __future__ import annotations

from typing import Final

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from citewell.serving.answers import Answered
from citewell.serving.guard import BodyTooLarge
from citewell.serving.problems import problem, wrong_request

SCHEMA: Final = "The schema is at /openapi.json."

_KINDS = {
    404: ("NotFound", "There is nothing at this path."),
    405: ("MethodNotAllowed", "This path does not take that method."),
    413: ("TooLarge", "The request is larger than it may be."),
}
# By how the framework's own words about a form begin.
_FORMS = {
    "Too many files": "The form has more than 1,000 files.",
    "Too many fields": "The form has more than 1,000 fields.",
    "Field exceeded": "A field of the form has more than 1 MB.",
    "Part exceeded": "A field of the form has more than 1 MB.",
    "Missing boundary": "The Content-Type of the form has no boundary.",
    "The Content-Disposition": "A part of the form has no name.",
}


async def wrong_values(_: Request, error: RequestValidationError) -> Answered:
    """A body or parameter that is not as it must be."""
    return Answered(wrong_request(error.errors(), SCHEMA), 422)


async def wrong_http(_: Request, error: HTTPException) -> Answered:
    """An unknown path, another method, a body that cannot be read or is too large."""
    kind, message = _KINDS.get(error.status_code, ("RequestError", _unreadable(error.detail)))
    if isinstance(error, BodyTooLarge):
        message = error.detail
    return Answered(problem(kind, message, SCHEMA), error.status_code, error.headers)


def _unreadable(detail: str) -> str:
    said = (words for begin, words in _FORMS.items() if detail.startswith(begin))
    return next(said, "The body cannot be read as what its Content-Type says.")
