"""Rights, titles, versions and validity from `citewell-access.toml` files beside the documents.

    [[rule]]
    match = "policies/**/*.pdf"      # relative to the file's folder
    groups = ["fraud_team"]          # [] means that nobody may read
    valid_from = 2026-01-01
    valid_to = 2026-12-31            # the last day in force

Every ancestor folder's file counts. Key by key, a nearer file wins over a farther one and a later rule over an earlier.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from citewell.errors import SettingsError
from citewell.loading.attributes import Attributes
from citewell.settings import read_toml
from citewell.types import Trust

ACCESS_FILE = "citewell-access.toml"

MAX_BYTES = 1_000_000

_Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]


class _RuleTable(BaseModel):
    """One `[[rule]]`. Strict, so that `groups = "staff"` is an error and not a set of letters."""

    model_config = ConfigDict(extra="forbid", strict=True)

    match: _Name
    groups: list[_Name] | None = None
    title: _Name | None = None
    version: _Name | None = None
    valid_from: date | None = None
    valid_to: date | None = None
    trust: Annotated[Trust, Field(strict=False)] | None = None
    language: Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$")] | None = None
    author: _Name | None = None


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
            relative = unicodedata.normalize("NFC", path.relative_to(folder).as_posix())
            for rule in self._rules_in(folder):
                if rule.pattern.fullmatch(relative):
                    said.update(rule.says)
                    self._matched.add((folder, rule.match))
        attributes = replace(Attributes(), **said)
        if attributes.valid_from and attributes.valid_to and attributes.valid_to < attributes.valid_from:
            raise SettingsError(
                f"The access rules for {path} make it valid from {attributes.valid_from} to {attributes.valid_to}.",
                remedy=f"Correct valid_from or valid_to in the {ACCESS_FILE} files above it.",
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


def _read(path: Path) -> tuple[_Rule, ...]:
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:  # It may be there: going on without it could give rights away.
        raise SettingsError(f"{path} cannot be read: {error.strerror}.", remedy="Check its permissions.") from None
    if not path.is_file() or path.stat().st_size > MAX_BYTES:
        raise _wrong(path, f"it must be a file of at most {MAX_BYTES:,} bytes")
    data = read_toml(path)
    unknown = sorted(set(data) - {"rule"})
    if unknown:
        raise _wrong(path, f"unknown key {unknown[0]}")
    tables = data.get("rule", [])
    if not isinstance(tables, list):
        raise _wrong(path, "rule must be written [[rule]]")
    return tuple(_rule(path, number, table) for number, table in enumerate(tables, start=1))


def _rule(path: Path, number: int, table: object) -> _Rule:
    try:
        rule = _RuleTable.model_validate(table)
    except ValidationError as error:
        problem = cast("dict[str, Any]", error.errors(include_url=False, include_input=False)[0])
        key = ".".join(str(part) for part in problem["loc"]) or "the table"
        text = "unknown key" if problem["type"] == "extra_forbidden" else problem["msg"]
        raise _wrong(path, f"rule {number}: {key}: {text}") from None
    says = {key: value for key, value in rule if value is not None and key != "match"}
    if rule.groups is not None:
        says["groups"] = frozenset(rule.groups)
    try:
        return _Rule(rule.match, _compile(rule.match), says)
    except (ValueError, re.error) as error:
        raise _wrong(path, f"rule {number}: match: {error}") from None


def _wrong(path: Path, complaint: str) -> SettingsError:
    return SettingsError(
        f"{path}: {complaint}.",
        remedy="Nothing was indexed, so that no document gets the wrong rights. Correct it; a [[rule]] may hold "
        f"{', '.join(_RuleTable.model_fields)}.",
    )


def _compile(pattern: str) -> re.Pattern[str]:
    """Translate a glob. A pattern that ends in a plain name or in / covers all below a folder of that name.

    Without that, `match = "secret"` would protect nothing in the folder, in silence.

    Raises:
        ValueError: what is wrong with the pattern.
    """
    *folders, last = unicodedata.normalize("NFC", pattern).removesuffix("/").split("/")
    if "\\" in pattern or {"", ".", ".."} & {*folders, last}:
        raise ValueError("must be relative to the file's folder, with one / between names, and without . and ..")
    before = "".join("(?:[^/]+/)*" if folder == "**" else _segment(folder) + "/" for folder in folders)
    if last == "**":
        below = ".+"
    elif pattern.endswith("/"):
        below = _segment(last) + "/.+"
    else:
        below = _segment(last) + ("" if re.search(r"[*?\[]", last) else "(?:/.+)?")
    return re.compile(before + below, re.DOTALL)


def _segment(glob: str) -> str:
    if "**" in glob:
        raise ValueError("** stands for whole folders, alone between two /")
    if re.search(r"\[(?!!?[^\]!]+\])", glob):
        raise ValueError("a [ that opens no set of signs")
    return "".join(_sign(sign) for sign in re.findall(r"\[[^\]]+\]|.", glob, re.DOTALL))


def _sign(sign: str) -> str:
    if sign == "*":
        return "[^/]*"
    if sign == "?":
        return "[^/]"
    if len(sign) > 1:
        negation, members = ("^/", sign[2:-1]) if sign[1] == "!" else ("", sign[1:-1])
        escaped = re.sub(r"([^a-zA-Z0-9-])", r"\\\1", members)
        return f"[{negation}{escaped}]"
    return re.escape(sign)
