"""`GET /v1/me`"""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from pydantic import Field

from citewell.serving.answers import Answered
from citewell.serving.openapi import answers, errors
from citewell.serving.schemas import Model
from citewell.serving.service import MayRead
from citewell.shapes import VERSION, Shape

router = APIRouter(tags=["service"])


class Me(Model):
    """Who asks, as the service knows them."""

    version: Literal[1]
    name: str
    scopes: list[str]
    groups: list[str] = Field(description="Whose documents may be read: a request may name fewer of them.")


EXAMPLE: Shape = {
    "version": VERSION,
    "name": "key:page",
    "scopes": ["read", "write"],
    "groups": ["everyone", "fraud_team"],
}


@router.get("/v1/me", response_class=Answered, responses={**answers(200, Me, "You.", EXAMPLE), **errors()})
async def me(caller: MayRead) -> Answered:
    """The caller's name, scopes and groups."""
    said = {"name": caller.name, "scopes": sorted(caller.scopes), "groups": sorted(caller.principal.readable)}
    return Answered({"version": VERSION, **said})
