"""What a request may say of what it wants to see: fewer groups than the caller has, a day, a filter. Never more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from citewell.filtering import MAX_EXPRESSION, from_json, parse
from citewell.filters import FieldType, Filter
from citewell.question import MAX_QUESTION_CHARS
from citewell.serving.caller import Caller
from citewell.serving.problems import Forbidden
from citewell.types import Principal

MAX_GROUPS = 100

Group = Annotated[str, Field(min_length=1, max_length=200)]
Groups = Annotated[list[Group], Field(max_length=MAX_GROUPS)]
Words = Annotated[str, Field(min_length=1, max_length=MAX_QUESTION_CHARS)]
Where = Annotated[str, Field(max_length=MAX_EXPRESSION)] | dict[str, Any]


class Narrowed(BaseModel):
    """The part of a body that says it; closed, like all bodies."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    as_of: date | None = Field(None, description="What was in force on that day; today where it is not given.")
    where: Where | None = Field(
        None, description='Only documents that meet it: "department = legal", or {"field": ..., "equal": ...}.'
    )
    groups: Groups | None = Field(None, description="Read with these of one's groups only.")


def principal_for(caller: Caller, groups: Sequence[str] | None) -> Principal:
    """The caller with these groups alone, or with all where none are named.

    Raises:
        Forbidden: one is not the caller's.
    """
    if groups is None:
        return caller.principal
    if not frozenset(groups) <= caller.principal.readable:
        raise Forbidden("You are not in all of these groups.", remedy="Name groups of your own, or none.")
    return Principal(caller.principal.user, frozenset(groups))


def condition(where: str | dict[str, Any] | None, declared: Mapping[str, FieldType]) -> Filter | None:
    """The filter of a request.

    Raises:
        FilterError: it is not written as one.
    """
    if where is None or where == "":
        return None
    return parse(where, declared) if isinstance(where, str) else from_json(where)
