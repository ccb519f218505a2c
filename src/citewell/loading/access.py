"""Rights, titles, versions and validity from `citewell-access.toml` files beside the documents.

    [[rule]]
    match = "policies/**/*.pdf"      # relative to the file's folder
    groups = ["fraud_team"]          # [] means that nobody may read
    valid_from = 2026-01-01
    valid_to = 2026-12-31            # the last day in force
    expires = 2033-01-01             # the first day on which it must be gone
    fields = { department = "fraud", tags = ["cards"] }

Every ancestor folder's file counts. Key by key, a nearer file wins over a farther one and a later rule over an earlier;
so it is with each of the `fields`.
The same keys but `match` may stand in a side file, `report.pdf.citewell.toml` for `report.pdf`, which wins over all.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from citewell.complaints import explained
from citewell.errors import SettingsError
from citewell.filters import as_day, as_number, as_text
from citewell.loading.globs import compile_glob, one_spelling
from citewell.loading.metadata import MAX_LISTED
from citewell.settings import read_toml
from citewell.types import Attributes, Trust

ACCESS_FILE = "citewell-access.toml"
SIDE_ENDING = ".citewell.toml"

MAX_BYTES = 1_000_000

_Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]


def _field_value(given: object) -> object:
    """What may be said of a field. Of which type it must be, the settings say.

    Raises:
        ValueError: it is something else, or too long.
    """
    if isinstance(given, str):
        fits = as_text(given) is not None
    elif isinstance(given, list):
        fits = len(given) <= MAX_LISTED and all(as_text(one) is not None for one in given)
    else:
        fits = as_number(given) is not None or as_day(given) is not None
    if not fits:
        raise ValueError("must be a text, a number, a day without a time or a list of texts, none too long or with NUL")
    return tuple(given) if isinstance(given, list) else given


def _bare(given: object) -> object:
    """Raises ValueError: it is a text."""
    is_quoted = isinstance(given, str)
    if is_quoted:
        raise ValueError("must be a day without quotes, written as 2026-01-31")
    return given


_Day = Annotated[date, BeforeValidator(_bare)]
_Fields = Annotated[dict[_Name, Annotated[Any, AfterValidator(_field_value)]], Field(max_length=50)]


class _SideTable(BaseModel):
    """What may be said. Strict, so that `groups = "staff"` is an error and not a set of letters."""

    model_config = ConfigDict(extra="forbid", strict=True)

    groups: list[_Name] | None = None
    title: _Name | None = None
    version: _Name | None = None
    valid_from: _Day | None = None
    valid_to: _Day | None = None
    trust: Annotated[Trust, Field(strict=False)] | None = None
    language: Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$")] | None = None
    author: _Name | None = None
    expires: _Day | None = None
    fields: _Fields | None = None


class _RuleTable(_SideTable):
    """One `[[rule]]`."""

    match: _Name


@dataclass(frozen=True, slots=True)
class _Rule:
    match: str
    pattern: re.Pattern[str]
    says: dict[str, Any]


@dataclass(slots=True)
class AccessRules:
    """The access files met so far, each read once. Make a new one for each run."""

    _by_folder: dict[Path, tuple[_Rule, ...]] = field(default_factory=dict)
    _matched: set[tuple[Path, str]] = field(default_factory=set)

    def rules_for(self, path: Path) -> Attributes:
        """What all access files above `path` (absolute, resolved) say about it.

        Ask for every file before anything is indexed: a broken access file must stop the run, since a file indexed
        without its rules would be readable by the wrong people.

        Raises:
            SettingsError: an access file cannot be read, or a rule in it is wrong.
        """
        said: dict[str, Any] = {}
        for folder in reversed(path.parents):
            relative = one_spelling(path.relative_to(folder).as_posix())
            for rule in self._rules_in(folder):
                if rule.pattern.fullmatch(relative):
                    said = _over(said, rule.says)
                    self._matched.add((folder, rule.match))
        said = _over(said, _side(path.with_name(path.name + SIDE_ENDING)))
        attributes = replace(Attributes(), **said)
        if attributes.valid_from and attributes.valid_to and attributes.valid_to < attributes.valid_from:
            raise SettingsError(
                f"The access rules for {path} make it valid from {attributes.valid_from} to {attributes.valid_to}.",
                remedy=f"Correct valid_from or valid_to in its {SIDE_ENDING} file or the {ACCESS_FILE} files above it.",
            )
        return attributes

    def unmatched(self, roots: Iterable[Path]) -> list[tuple[Path, str]]:
        """The access files at or below `roots` with a pattern of theirs that no file asked for has matched.

        Such a rule is often a slip, and what it was meant to protect then has the default rights.
        """
        below = {folder for folder in self._by_folder if any(folder.is_relative_to(root) for root in roots)}
        return [
            (folder / ACCESS_FILE, rule.match)
            for folder in sorted(below)
            for rule in self._by_folder[folder]
            if (folder, rule.match) not in self._matched
        ]

    def _rules_in(self, folder: Path) -> tuple[_Rule, ...]:
        if folder not in self._by_folder:
            self._by_folder[folder] = _read(folder / ACCESS_FILE)
        return self._by_folder[folder]


def _table(path: Path) -> dict[str, Any]:
    """The file's content; {} where there is none."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:  # Nothing can be there.
            return {}
        # It may be there: going on without it could give rights away.
        raise SettingsError(f"{path} cannot be read: {error.strerror}.", remedy="Check its permissions.") from None
    if not path.is_file() or path.stat().st_size > MAX_BYTES:
        raise _wrong(path, f"it must be a file of at most {MAX_BYTES:,} bytes")
    return read_toml(path)


def _side(path: Path) -> dict[str, Any]:
    try:
        return _says(_SideTable.model_validate(_table(path)))
    except ValidationError as error:
        raise _wrong(path, explained(error, _SideTable)) from None


def _read(path: Path) -> tuple[_Rule, ...]:
    data = _table(path)
    unknown = sorted(set(data) - {"rule"})
    if unknown:
        raise _wrong(path, f"{unknown[0]} is not known; rules are written [[rule]]")
    tables = data.get("rule", [])
    if not isinstance(tables, list):
        raise _wrong(path, "rule must be written [[rule]]")
    return tuple(_rule(path, number, table) for number, table in enumerate(tables, start=1))


def _rule(path: Path, number: int, table: object) -> _Rule:
    try:
        rule = _RuleTable.model_validate(table)
    except ValidationError as error:
        raise _wrong(path, f"rule {number}: {explained(error, _RuleTable)}") from None
    try:
        return _Rule(rule.match, compile_glob(rule.match), _says(rule))
    except (ValueError, re.error) as error:
        raise _wrong(path, f"rule {number}: match: {error}") from None


def _over(said: dict[str, Any], says: dict[str, Any]) -> dict[str, Any]:
    """What is said when a nearer rule says more."""
    fields = said.get("fields", {}) | says.get("fields", {})
    return said | says | ({"fields": fields} if fields else {})


def _says(table: _SideTable) -> dict[str, Any]:
    says = {key: value for key, value in table if value is not None and key != "match"}
    if table.groups is not None:
        says["groups"] = frozenset(table.groups)
    return says


def _wrong(path: Path, complaint: str) -> SettingsError:
    return SettingsError(
        f"{path}: {complaint}.",
        remedy="Nothing was indexed, so that no document gets the wrong rights. Correct it; a [[rule]] may hold "
        f"match, {', '.join(_SideTable.model_fields)}.",
    )
