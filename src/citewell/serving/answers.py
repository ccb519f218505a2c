"""Responses in JSON: ASCII, as docs/json.md says, so that no text of a document can break them."""

from __future__ import annotations

import json

from starlette.responses import JSONResponse

from citewell.shapes import Shape


class Answered(JSONResponse):
    """A shape."""

    def render(self, content: Shape) -> bytes:
        return dumped(content).encode()


def dumped(shape: Shape) -> str:
    return json.dumps(shape, allow_nan=False, separators=(",", ":"))
