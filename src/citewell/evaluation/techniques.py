"""The decision table, techniques.toml: for each way to fail, what to try first and next, with its price."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from citewell.evaluation.facts import Fact
from citewell.evaluation.stages import Kind
from citewell.settings import Settings

TABLE = "techniques.toml"

Value = bool | int | float | str | tuple[str, ...]
Patch = dict[str, Value]
"""Settings to change, as `{"retrieval.keep": 10}`."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Cost(_Table):
    """A forecast. `build` is in times the work of embedding the index as it is (0: it stays), `bytes` in times its size
    now, `query_ms` in milliseconds and `model_calls` in calls more a question."""

    build: float = Field(0, ge=0)
    bytes: float = Field(1, gt=0)
    query_ms: float = 0
    model_calls: float = Field(0, ge=0)


class Technique(_Table):
    """Something to try: settings to `set`, `raise` or `lower`, or what a person must `do`; of use only `where` settings
    have these values, and for failures of which what it `needs` is true. What is to be done `before_all` mends a
    fault. What `calibrates` fits the floor to the questions.

    The first of the settings is what it is for, and others go with it. `cost` is None where nobody measured it.
    """

    name: str
    set_: Patch = Field({}, alias="set")
    raise_: Patch = Field({}, alias="raise")
    lower: Patch = {}
    do: str = ""
    where: Patch = {}
    needs: Fact | None = None
    available: bool = True
    before_all: bool = False
    calibrates: bool = False
    cost: Cost | None = None
    risk: str = Field(min_length=1)

    @model_validator(mode="after")
    def _does_one_thing(self) -> Self:
        settings = Settings.model_construct()
        for values in (self.set_, self.raise_, self.lower, self.where):
            for key, value in values.items():
                _current(settings, key)
                patched(settings, {key: value})
        changes = bool(self.set_ or self.raise_ or self.lower)
        if changes + bool(self.do) + (not self.available) != 1:
            raise ValueError(f"{self.name} must change settings, or be for a person, or not be in this version")
        if self.cost is not None and not self.available:
            raise ValueError(f"{self.name} is not in this version, and what it costs is a guess")
        return self

    def suits(self, settings: Settings) -> bool:
        """Whether it is of use with these settings: not where it changes nothing in them."""
        if any(_current(settings, key) != value for key, value in self.where.items()):
            return False
        return bool(self.patch(settings) or self.do or not self.available)

    def patch(self, settings: Settings) -> Patch:
        """What it changes in these settings; {} where they have it already, or it does not fit them."""
        wanted = {
            **{key: _with(_current(settings, key), value) for key, value in self.set_.items()},
            **{key: _raised(_current(settings, key), value) for key, value in self.raise_.items()},
            **{key: _lowered(_current(settings, key), value) for key, value in self.lower.items()},
        }
        changes = {key: value for key, value in wanted.items() if value != _current(settings, key)}
        if next(iter(wanted), None) not in changes:
            return {}
        try:
            patched(settings, changes)
        except ValidationError:
            return {}
        return changes


class Techniques(_Table):
    """The whole table: `first` has the names of the techniques to try for each kind of failure, in order."""

    first: Mapping[Kind, tuple[str, ...]]
    techniques: Mapping[str, Technique]

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        named = {name for names in self.first.values() for name in names}
        if set(self.first) != set(Kind):
            raise ValueError(f"[first] must have every kind of failure: {set(Kind) ^ set(self.first)}")
        if named != set(self.techniques):
            raise ValueError(f"named but not described, or described but not named: {named ^ set(self.techniques)}")
        return self

    def for_kind(self, kind: Kind) -> tuple[Technique, ...]:
        """What to try for a kind of failure, in order."""
        return tuple(self.techniques[name] for name in self.first[kind])


@cache
def techniques() -> Techniques:
    """The table that comes with Citewell."""
    return read(files(__package__).joinpath(TABLE).read_text(encoding="utf-8"))


def read(text: str) -> Techniques:
    """A table from its text.

    Raises:
        ValidationError: it does not agree with itself, or names a setting or a value that there is not.
    """
    data = tomllib.loads(text)
    named = {name: {"name": name, **technique} for name, technique in data.get("techniques", {}).items()}
    return Techniques.model_validate({**data, "techniques": named})


def patched(settings: Settings, patch: Mapping[str, Value]) -> Settings:
    """The settings with some changed, the environment aside.

    Raises:
        ValidationError: a value is not allowed, or not beside the others.
    """
    changes: dict[str, dict[str, Value]] = {}
    for key, value in patch.items():
        table, _, name = key.partition(".")
        changes.setdefault(table, {})[name] = value
    tables = {}
    for table, values in changes.items():
        now = getattr(settings, table)
        tables[table] = type(now).model_validate({**now.model_dump(), **values})
    return settings.model_copy(update=tables)


def _current(settings: Settings, key: str) -> Value:
    """Raises ValueError where there is no such setting."""
    table, _, name = key.partition(".")
    if table not in type(settings).model_fields or name not in type(getattr(settings, table)).model_fields:
        raise ValueError(f"there is no setting {key}")
    value: Value = getattr(getattr(settings, table), name)
    return value


def _with(now: Value, value: Value) -> Value:
    """Of a list, what is missing is added: a third leg stays."""
    if isinstance(now, tuple) and isinstance(value, tuple):
        return (*now, *(one for one in value if one not in now))
    return value


def _raised(now: Value, value: Value) -> Value:
    return now if _is_less(value, now) else value


def _lowered(now: Value, value: Value) -> Value:
    return value if _is_less(value, now) else now


def _is_less(one: Value, other: Value) -> bool:
    """What is no number is less than any: a floor that is off."""
    return isinstance(other, int | float) and (not isinstance(one, int | float) or one < other)
