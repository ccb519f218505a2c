"""The one model that there is to these clients."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from citewell.errors import UnknownId
from citewell.shapes import Shape

MODEL = "citewell"

ModelName = Annotated[str, Field(max_length=200)]


def require(name: str) -> None:
    """Raises UnknownId: it is another one."""
    if name != MODEL:
        raise UnknownId(f"There is no model {name!r}.", remedy=f"The model is called {MODEL!r}.")


def model_shape() -> Shape:
    return {"id": MODEL, "object": "model", "created": 0, "owned_by": MODEL}


def models_shape() -> Shape:
    return {"object": "list", "data": [model_shape()]}
