"""JSON and JSON lines: records as a table where they are alike, else each with its own lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from citewell.errors import LimitExceeded
from citewell.loading.bounds import check_text
from citewell.loading.encoding import decode
from citewell.loading.parsed import Details, Parsed, TextBuilder
from citewell.loading.tables import table_text
from citewell.settings import Loading
from citewell.types import ElementKind

_LINES_ENDINGS = frozenset({".jsonl", ".ndjson"})
_TITLES = ("title", "name", "subject", "headline", "heading", "label", "id", "key")
_LONG_RECORD = 400  # characters; a shorter one is read without a heading
_LONG_TEXT = 200  # characters; a longer value is a text of its own
_MOST_EMPTY = 0.2  # of a table's cells
_MOST_VALUES = 5_000_000  # Each takes up to 100 bytes of memory, however short it is.
_DEEPEST = 50
_NAMED_LINES = 20
_ENCODED = re.compile(r"(?=\d*[^\d])[A-Za-z0-9+/_=-]{1000,}")
_BLANK = re.compile(r"\n\s*\n")

_Record = Mapping[str, Any]


def load_json(data: bytes, name: str, limits: Loading) -> Parsed:
    """Read JSON, or JSON lines. Alike flat records become a table; others a paragraph each, a `path.to.key: value` a
    line, with their long texts as paragraphs and under their title where they are long. Lines that are no JSON are
    named as lost; a file that is none at all (it may have comments in it) is read as it stands, and noted.

    Raises:
        LimitExceeded: more values than fit in memory, or nested too deep.
    """
    text = decode(data, limits)
    _check_values(text)
    path = PurePath(name)
    value, told = _parse(text, is_lines=path.suffix.lower() in _LINES_ENDINGS)
    if value is None:
        from citewell.loading.code import load_code

        return replace(load_code(data, name, limits), title=path.stem, noted=told)
    writer = _Writer(TextBuilder(limits), limits)
    writer.write(value, ())
    lost = told
    if writer.encoded:
        lost = (*lost, f"encoded data ({writer.encoded} values)")
    title = value.get("title", value.get("name")) if isinstance(value, dict) else None
    return replace(writer.builder.build(title if isinstance(title, str) else path.stem), lost=lost)


def _check_values(text: str) -> None:
    values = text.count(",") + text.count("[") + text.count("{")
    if values > _MOST_VALUES:
        raise LimitExceeded(
            f"It has up to {values:,} values; the limit is {_MOST_VALUES:,}.",
            remedy="Split the file into smaller ones.",
        )


def _parse(text: str, *, is_lines: bool) -> tuple[Any, tuple[str, ...]]:
    """The value and what was lost; or None, where there is no JSON at all, and what to note of that."""
    if not is_lines:
        try:
            return _value(text), ()
        except json.JSONDecodeError as error:
            place = f"line {error.lineno}, column {error.colno}"
            problem = f"it is no valid JSON from {place} on, and was read as plain lines"
    else:
        problem = "none of its lines is JSON, and it was read as it stands"
    values, broken = [], []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                values.append(_value(line))
            except ValueError:
                broken.append(number)
    # Of a damaged file in one piece, lines such as "]," may be JSON by chance.
    if len(values) <= len(broken) or not any(isinstance(value, dict | list) for value in values):
        return None, (problem,)
    return values, tuple(_named(broken))


def _value(text: str) -> Any:
    """Numbers stay as they are written: 1.10 is no 1.1 to a reader, and NaN no number."""
    try:
        return json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    except RecursionError:
        raise LimitExceeded("Its values are nested too deep.", remedy="Flatten them, and index that.") from None


def _named(broken: Sequence[int]) -> Iterator[str]:
    if broken:
        named = ", ".join(map(str, broken[:_NAMED_LINES]))
        more = f" and {len(broken) - _NAMED_LINES} more" if len(broken) > _NAMED_LINES else ""
        yield f"{'lines' if len(broken) > 1 else 'line'} {named}{more}: no valid JSON"


@dataclass(slots=True)
class _Writer:
    """Adds values to the text; `encoded` counts those left out as they are no text."""

    builder: TextBuilder
    limits: Loading
    encoded: int = 0
    written: int = 0

    def write(self, value: Any, path: tuple[str, ...]) -> None:
        """Add any value, below the headings of `path`."""
        if isinstance(value, dict):
            self._write_object(value, path)
        elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            self._write_records(value, path)
        elif isinstance(value, list):
            for one in value:
                if isinstance(one, dict):
                    self._write_record(one, path)
                else:
                    self._add_fields([*self._fields(one, "")], path)
        else:
            self._add_fields([*self._fields(value, "")], path)

    def _write_object(self, value: _Record, path: tuple[str, ...]) -> None:
        sections = {key: one for key, one in value.items() if _is_section(one)}
        self._add_fields(
            [field for key, one in value.items() if key not in sections for field in self._fields(one, key)], path
        )
        for key, one in sections.items():
            self._add_heading(key, path)
            self.write(one, (*path, key))

    def _write_records(self, records: Sequence[_Record], path: tuple[str, ...]) -> None:
        columns = _columns(records)
        if not columns:
            for record in records:
                self._write_record(record, path)
            return
        rows = [[_shown(record.get(column)) for column in columns] for record in records]
        self.builder.add(ElementKind.TABLE, table_text([columns, *rows]), path=path, more=Details(header_rows=1))

    def _write_record(self, record: _Record, path: tuple[str, ...]) -> None:
        fields = [*self._fields(record, "")]
        if sum(len(key) + len(text) for key, text in fields) > _LONG_RECORD:
            title = _title(record)
            if title:
                self._add_heading(title, path)
                path = (*path, title)
        self._add_fields(fields, path)

    def _add_heading(self, text: str, path: tuple[str, ...]) -> None:
        self.builder.add(ElementKind.HEADING, text, path=(*path, " ".join(text.split())))

    def _add_fields(self, fields: Sequence[tuple[str, str]], path: tuple[str, ...]) -> None:
        """Short ones in one paragraph, a line each; long ones as texts under their key."""
        short = [f"{key}: {' '.join(text.split())}" if key else text for key, text in fields if not _is_long(text)]
        self.builder.add(ElementKind.PARAGRAPH, "\n".join(short), path=path)
        for key, text in fields:
            if _is_long(text):
                for paragraph in _BLANK.split(text):
                    self.builder.add(ElementKind.PARAGRAPH, paragraph, path=(*path, key) if key else path)

    def _fields(self, value: Any, key: str, depth: int = 0) -> Iterator[tuple[str, str]]:
        """Each value in it that is no object or list, with the way to it."""
        if depth > _DEEPEST:
            raise LimitExceeded(f"Its values are nested more than {_DEEPEST} deep.", remedy="Flatten them.")
        if isinstance(value, dict):
            for name, one in value.items():
                yield from self._fields(one, f"{key}.{name}" if key else name, depth + 1)
        elif isinstance(value, list) and any(isinstance(one, dict | list) for one in value):
            for number, one in enumerate(value):
                yield from self._fields(one, f"{key}[{number}]", depth + 1)
        else:
            text = ", ".join(filter(None, map(_shown, value))) if isinstance(value, list) else _shown(value)
            if _ENCODED.fullmatch(text):
                self.encoded += 1
            elif text:
                self.written += len(key) + len(text)
                check_text(self.written, self.limits)
                yield key, text


def _is_section(value: Any, depth: int = 0) -> bool:
    """Whether it holds records that want a heading of their own."""
    if isinstance(value, list):
        return len(value) > 1 and all(isinstance(one, dict) for one in value)
    return isinstance(value, dict) and depth < 3 and any(_is_section(one, depth + 1) for one in value.values())


def _columns(records: Sequence[_Record]) -> list[str]:
    """The columns of the table that the records make; [] where they are not alike, not flat, or hold long texts."""
    columns = list(dict.fromkeys(key for record in records for key in record))
    filled = sum(map(len, records))
    if len(records) < 2 or filled < len(columns) * len(records) * (1 - _MOST_EMPTY):
        return []
    values = (value for record in records for value in record.values())
    is_flat = all(not isinstance(value, dict | list) and not _is_long(_shown(value)) for value in values)
    return columns if is_flat else []


def _title(record: _Record) -> str:
    names = {key.lower(): value for key, value in record.items() if isinstance(value, str) and not _is_long(value)}
    return next((names[name] for name in _TITLES if names.get(name, "").strip()), "")


def _is_long(text: str) -> bool:
    return len(text) > _LONG_TEXT or "\n" in text


def _shown(value: Any) -> str:
    """As JSON has it, but text as text and nothing for null."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else ""
