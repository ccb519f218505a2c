"""What a Markdown file says about itself at its top, in YAML between lines of --- or in TOML between lines of +++.

A file whose own wish about its readers, trust or validity cannot be understood is refused: with that wish ignored, it
would be read by people that it was not meant for.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from citewell.errors import DamagedFile
from citewell.loading.office.properties import iso_day
from citewell.loading.parsed import clean
from citewell.types import NOTHING, Attributes, Trust

_MOST_SIGNS = 65_536
_MOST_NESTED = 20
_RIGHTS = ("groups", "trust", "valid_from", "valid_to")
_OPENING = re.compile(r"[\s\ufeff\u200b]*?(---|\+\+\+)[ \t]*(?:#[^\n]*)?\n")
_CLOSING = {
    "---": re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*(?:\n|\Z)", re.MULTILINE),
}
# A key, or one of the signs that YAML puts before one: a mapping in braces, an explicit or tagged key.
_KEY_FIRST = re.compile(r"""(?:\s|#[^\n]*\n)*+(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*[:=]|<<:|[{?!]\S|\?[ ])""")
_NAMES_RIGHTS = re.compile(r"^[ \t{]*[\"']?(?:groups|trust|valid[_-]from|valid[_-]to)[\"']?[ \t]*[:=]", re.M | re.I)
_LIKE_A_KEY = re.compile(r"\s|#|-|$|[\w-]+[ \t]*[:=]")
_TITLE = re.compile(r"^title[ \t]*[:=][ \t]*(\S.{0,198}?)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_TOML_LINE = re.compile(r" \(at line (\d+), column \d+\)")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_NO_NAME = re.compile(r"~|null|true|false|yes|no|on|off|[-+]?[\d.][\d._eE:+-]*", re.IGNORECASE)
_LONGEST_NAME = 200
_DAYS = {"date": "created", "created": "created", "modified": "modified", "updated": "modified", "lastmod": "modified"}


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What the file declares, its metadata (`author`, `created`, `modified`), and where the text behind it begins."""

    declared: Attributes = NOTHING
    metadata: Mapping[str, str] = field(default_factory=dict)
    end: int = 0


@dataclass(frozen=True, slots=True)
class _Word:
    """A value as it is written; in quotes it is text, whatever it looks like."""

    text: str
    is_quoted: bool


@dataclass(frozen=True, slots=True)
class _Entry:
    """A key's line in the file, 1-based, and its values; None where they are neither one word nor a list of words."""

    line: int
    words: tuple[_Word, ...] | None
    is_list: bool = False


def read_front_matter(text: str) -> FrontMatter:
    """What stands at the top of `text`; nothing where it begins with something else, such as a rule between lines.

    Raises:
        DamagedFile: it cannot be read, or says something about rights, trust or validity that is not understood.
    """
    opening = _OPENING.match(text)
    if not opening:
        return FrontMatter()
    head = text[opening.end() : opening.end() + _MOST_SIGNS]
    closing = _CLOSING[opening[1]].search(head)
    first_line = text.count("\n", 0, opening.end()) + 1
    if not closing:
        if _NAMES_RIGHTS.search(head.partition("\n\n")[0]):
            raise _wrong(first_line - 1, f"it does not end within {_MOST_SIGNS:,} signs")
        return FrontMatter()
    body = head[: closing.start()]
    if not _KEY_FIRST.match(body) and not _NAMES_RIGHTS.search(body):
        return FrontMatter()
    end = opening.end() + closing.end()
    try:
        entries = _toml_entries(body, first_line) if opening[1] == "+++" else _yaml_entries(body, first_line)
    except DamagedFile:
        if _NAMES_RIGHTS.search(body) or "<<" in body:
            raise
        if not all(map(_LIKE_A_KEY.match, body.splitlines())):
            return FrontMatter()
        # A colon in a title is a common slip, and no reason to leave the file out.
        title = _TITLE.search(body)
        return FrontMatter(Attributes(title=title[1].strip("\"'")) if title else NOTHING, end=end)
    return FrontMatter(_declared(entries), _metadata(entries), end)


def _yaml_entries(body: str, first_line: int) -> dict[str, _Entry]:
    """The keys of the outermost mapping, from the parser's events: nothing is constructed, so nothing can expand."""
    import yaml

    entries: dict[str, _Entry] = {}
    events = yaml.parse(body, Loader=yaml.SafeLoader)
    try:
        outermost = next(
            event for event in events if not isinstance(event, (yaml.StreamStartEvent, yaml.DocumentStartEvent))
        )
        if not isinstance(outermost, yaml.MappingStartEvent):
            raise _wrong(first_line, "it is no list of keys and values")
        for key in events:
            if isinstance(key, yaml.MappingEndEvent):
                break
            line = first_line + key.start_mark.line
            if not isinstance(key, yaml.ScalarEvent) or key.anchor or key.value == "<<":
                raise _wrong(line, "a key must be a word")
            _enter(entries, key.value, _yaml_entry(events, line))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        complaint = " ".join(str(getattr(error, "problem", "") or "it is not YAML").split())
        raise _wrong(first_line + (mark.line if mark else 0), complaint) from None
    return entries


def _yaml_entry(events: Iterator[Any], line: int) -> _Entry:
    """Read the events of one value."""
    import yaml

    words: list[_Word] = []
    depth = 0
    is_list = is_plain = True
    for event in events:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _wrong(line, "anchors and aliases are not read")
        if isinstance(event, yaml.ScalarEvent):
            words.append(_Word(event.value, bool(event.style)))
            is_list = is_list and depth > 0
        else:
            depth += 1 if isinstance(event, yaml.CollectionStartEvent) else -1
            is_plain = is_plain and depth <= 1 and not isinstance(event, yaml.MappingStartEvent)
        is_plain = is_plain and not getattr(event, "tag", None)
        if depth > _MOST_NESTED:
            raise _wrong(line, "it is nested too deep")
        if not depth:
            break
    return _Entry(line, tuple(words) if is_plain else None, is_list)


def _toml_entries(body: str, first_line: int) -> dict[str, _Entry]:
    try:
        data = tomllib.loads(body)
    except (ValueError, RecursionError) as error:
        at = _TOML_LINE.search(str(error))
        line = first_line + int(at[1]) - 1 if at else first_line
        raise _wrong(line, f"it is not TOML: {_TOML_LINE.sub('', str(error))}") from None
    entries: dict[str, _Entry] = {}
    for key, value in data.items():
        found = re.search(rf"^[ \t]*[\"']?{re.escape(key)}[\"']?[ \t]*[=.]", body, re.MULTILINE)
        line = first_line + (body.count("\n", 0, found.start()) if found else 0)
        values = value if isinstance(value, list) else [value]
        is_known = all(isinstance(one, (str, int, float, date)) for one in values)
        words = tuple(
            _Word(one.isoformat() if isinstance(one, date) else str(one), isinstance(one, str)) for one in values
        )
        _enter(entries, key, _Entry(line, words if is_known else None, isinstance(value, list)))
    return entries


def _enter(entries: dict[str, _Entry], key: str, entry: _Entry) -> None:
    name = key.strip().lower().replace("-", "_")
    if name in _RIGHTS and name in entries:
        raise _wrong(entry.line, f"{name} is given twice")
    entries[name] = entry


def _declared(entries: Mapping[str, _Entry]) -> Attributes:
    language = _text(entries.get("language") or entries.get("lang"))
    declared = Attributes(
        groups=_groups(entries.get("groups")),
        title=_text(entries.get("title")),
        version=_text(entries.get("version")),
        valid_from=_day(entries.get("valid_from"), "valid_from"),
        valid_to=_day(entries.get("valid_to"), "valid_to"),
        trust=_trust(entries.get("trust")),
        language=language if language and _LANGUAGE.fullmatch(language) else None,
        author=_text(entries.get("author") or entries.get("authors")),
    )
    if declared.valid_from and declared.valid_to and declared.valid_to < declared.valid_from:
        raise _wrong(entries["valid_to"].line, "valid_to is before valid_from")
    return declared


def _metadata(entries: Mapping[str, _Entry]) -> dict[str, str]:
    found = {"author": _text(entries.get("author") or entries.get("authors")) or ""}
    for name, key in _DAYS.items():
        found[key] = found.get(key) or iso_day(_text(entries.get(name)) or "")
    return {key: value for key, value in found.items() if value}


def _groups(entry: _Entry | None) -> frozenset[str] | None:
    """A list of names, or one string with commas between them. An empty list means that nobody may read."""
    if entry is None:
        return None
    if entry.words is None:
        raise _wrong(entry.line, "groups is no list of names")
    names = [
        _Word(name.strip(), word.is_quoted)
        for word in entry.words
        for name in ([word.text] if entry.is_list else word.text.split(","))
    ]
    for name in names:
        # What `clean` would change is not the name that is written there.
        is_name = 0 < len(name.text) <= _LONGEST_NAME and clean(name.text) == name.text
        if not is_name or (not name.is_quoted and _NO_NAME.fullmatch(name.text)):
            raise _wrong(entry.line, "groups holds what is no name of a group; a number needs quotes")
    return frozenset(name.text for name in names)


def _trust(entry: _Entry | None) -> Trust | None:
    if entry is None:
        return None
    written = (_text(entry) or "").lower()
    if written not in set(Trust):
        raise _wrong(entry.line, f"trust must be one of {', '.join(Trust)}")
    return Trust(written)


def _day(entry: _Entry | None, key: str) -> date | None:
    if entry is None:
        return None
    try:
        return datetime.strptime(_text(entry) or "", "%Y-%m-%d").date()  # noqa: DTZ007  A day has no time zone.
    except ValueError:
        raise _wrong(entry.line, f"{key} is no date such as 2026-01-31") from None


def _text(entry: _Entry | None) -> str | None:
    """One line of text; a list's words joined by commas. None where there is none."""
    words = entry.words or () if entry else ()
    return clean(", ".join(" ".join(word.text.split()) for word in words))[:_LONGEST_NAME].strip() or None


def _wrong(line: int, complaint: str) -> DamagedFile:
    return DamagedFile(
        f"Its front matter cannot be used: line {line}: {complaint}.",
        remedy="It was not indexed, so that it does not get the wrong rights. Correct that line or remove it.",
    )
