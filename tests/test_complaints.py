"""What is wrong with a value, in our words, for every kind of check that models of ours make."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from citewell.complaints import complaints, explained


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Inner(BaseModel):
    name: str


class Given(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: str = Field("x", min_length=1, max_length=5, pattern="^[a-z]+$")
    many: Annotated[list[int], Field(min_length=1, max_length=2)] = [1]
    row: tuple[int, ...] = ()
    names: set[str] = set()
    groups: frozenset[str] = frozenset()
    whole: int = Field(1, ge=1, le=9)
    part: float = Field(0.5, gt=0, lt=1, allow_inf_nan=False)
    on: bool = True
    day: date = date(2026, 1, 1)
    colour: Colour = Colour.RED
    long: str = Field("xyz", min_length=3)
    word: Literal["a", "b"] = "a"
    inner: Inner = Inner(name="x")
    table: dict[str, float] = {}
    either: str | dict[str, Any] = ""
    nothing: None = None

    @model_validator(mode="after")
    def _red_only(self) -> Given:
        if self.colour is Colour.BLUE:
            raise ValueError("blue goes with nothing")
        return self


def told(**given: object) -> str:
    with pytest.raises(ValidationError) as wrong:
        Given.model_validate(given)
    return complaints(wrong.value.errors())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"text": ""}, "text must not be empty"),
        ({"long": "x"}, "long must have 3 characters or more"),
        ({"text": "abcdef"}, "text must have 5 characters or fewer"),
        ({"text": "A"}, "text has characters that it may not have, or is written in another way"),
        ({"text": 7}, "text must be text"),
        ({"text": "\ud800"}, "text must be valid Unicode"),
        ({"many": []}, "many must not be empty"),
        ({"many": [1, 2, 3]}, "many must have 2 entries or fewer"),
        ({"many": "1"}, "many must be a list"),
        ({"row": 1}, "row must be a list"),
        ({"names": 1}, "names must be a list"),
        ({"groups": "x"}, "groups must be a list"),
        ({"many": ["x"]}, "many.0 must be a whole number"),
        ({"whole": 0}, "whole must be 1 or more"),
        ({"whole": 10}, "whole must be 9 or less"),
        ({"whole": 1.5}, "whole must be a whole number"),
        ({"whole": "9" * 5_000}, "whole must be a whole number"),
        ({"part": 0}, "part must be more than 0.0"),
        ({"part": 1}, "part must be less than 1.0"),
        ({"part": "x"}, "part must be a number"),
        ({"part": float("nan")}, "part must be a finite number"),
        ({"on": "perhaps"}, "on must be true or false"),
        ({"day": "soon"}, "day must be a day, written as 2026-01-31"),
        ({"day": "2026-02-30"}, "day must be a day, written as 2026-01-31"),
        ({"day": []}, "day must be a day, written as 2026-01-31"),
        ({"day": "2026-01-01T10:00:00"}, "day must be a day, written as 2026-01-31"),
        ({"colour": "green"}, "colour must be 'red' or 'blue'"),
        ({"word": "c"}, "word must be 'a' or 'b'"),
        ({"inner": 1}, "inner must be an object"),
        ({"inner": {}}, "inner.name is missing"),
        ({"table": {"k": "x"}}, "table.k must be a number"),
        ({"either": 1}, "either must be text, or must be an object"),
        ({"nothing": 1}, "nothing must be null"),
        ({"else": 1}, "else is not known"),
        ({"colour": "blue"}, "blue goes with nothing"),
        ({"whole": 0, "text": ""}, "text must not be empty; whole must be 1 or more"),
    ],
)
def test_every_kind_has_our_words(given: dict[str, object], words: str) -> None:
    assert told(**given) == words


def test_no_more_than_five_places_and_no_long_name() -> None:
    said = told(**{f"{number}" * 300: 1 for number in range(9)})
    assert said.count(" is not known") == 5
    assert len(said) < 400


def test_json_that_is_none() -> None:
    with pytest.raises(ValidationError) as wrong:
        Given.model_validate_json("{")
    assert complaints(wrong.value.errors()) == "it is not valid JSON from character 1 on"
    with pytest.raises(ValidationError) as wrong:
        Given.model_validate_json('{"text":\n "x",}')
    assert explained(wrong.value) == "it is not valid JSON from line 2, column 6 on"
    assert complaints([{"type": "json_invalid", "loc": ("body", 4), "msg": "?"}]) == (
        "body is not valid JSON from character 5 on"
    )


def test_what_nobody_has_foreseen_is_told_without_the_library() -> None:
    assert complaints([{"type": "new_kind", "loc": ("body", "x"), "msg": "Secret"}]) == "body.x is not as it must be"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"colur": "red"}, "colur is not known (is colour meant?)"),
        ({"zzz": 1}, "zzz is not known"),
        ({"inner": {"name": "x", "nam": 1}}, "inner.nam is not known (is name meant?)"),
    ],
)
def test_the_key_that_was_meant_is_named(given: dict[str, object], words: str) -> None:
    class Closed(Inner):
        model_config = ConfigDict(extra="forbid")

    class Whole(Given):
        inner: Closed = Closed(name="x")

    with pytest.raises(ValidationError) as wrong:
        Whole.model_validate(given)
    assert explained(wrong.value, Whole) == words
