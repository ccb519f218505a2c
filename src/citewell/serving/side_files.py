"""What is said of an uploaded file, in a side file beside it: the one place from which its rights are read.

`report.pdf.citewell.toml` holds what docs/access.md describes; it is read by each run of indexing, whoever starts it.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from citewell.loading.access import SIDE_ENDING
from citewell.types import Trust

# Printable in a line of TOML, whatever it says.
_Text = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
_FieldName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
_Value = float | date | _Text | Annotated[list[_Text], Field(max_length=100)]


class About(BaseModel):
    """What may be said of a document. In a change, what is not named stays, and null takes away what was said."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    groups: Annotated[list[_Text], Field(max_length=100)] | None = None
    title: _Text | None = None
    version: _Text | None = None
    valid_from: date | None = None
    valid_to: date | None = None
    expires: date | None = None
    trust: Trust | None = None
    language: Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$", max_length=40)] | None = None
    fields: Annotated[dict[_FieldName, _Value], Field(max_length=50)] | None = None

    @field_validator("fields")
    @classmethod
    def _finite(cls, fields: dict[str, Any] | None) -> dict[str, Any] | None:
        for value in (fields or {}).values():
            if isinstance(value, float) and not abs(value) < 1e308:
                raise ValueError("a number must be finite")
        return fields

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.valid_from and self.valid_to and self.valid_to < self.valid_from:
            raise ValueError("valid_to is before valid_from")
        return self

    def over(self, before: Mapping[str, Any]) -> dict[str, Any]:
        """What is said after this change of what was said before."""
        changed = {name: getattr(self, name) for name in self.model_fields_set}
        return {name: value for name, value in {**before, **changed}.items() if value is not None}


def side_of(path: Path) -> Path:
    return path.with_name(path.name + SIDE_ENDING)


def read(path: Path) -> dict[str, Any]:
    """What is said of the file at `path`; {} where nothing is."""
    try:
        return tomllib.loads(side_of(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


def write(path: Path, says: Mapping[str, Any]) -> None:
    """Say it of the file at `path`, in one step."""
    side = side_of(path)
    if not says:
        side.unlink(missing_ok=True)
        return
    fresh = side.with_name(f".{side.name[:100]}.new")
    fresh.write_text("".join(f"{name} = {_toml(value)}\n" for name, value in says.items()), encoding="utf-8")
    fresh.replace(side)


def _toml(value: Any) -> str:
    match value:
        case date():
            return value.isoformat()
        case list():
            return f"[{', '.join(map(_toml, value))}]"
        case dict():
            return f"{{ {', '.join(f'{name} = {_toml(one)}' for name, one in value.items())} }}"
        case int() | float():
            return repr(value)
        case _:
            return json.dumps(str(value), ensure_ascii=False)  # without control signs, the two write texts alike
