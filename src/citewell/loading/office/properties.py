"""What an Office file says about itself: its title and author, when it was made and changed. Not to be trusted."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from lxml import etree

from citewell.loading.office.ooxml import parse_part, relations

_CORE = "core-properties"
_KEYS = {
    "{http://purl.org/dc/elements/1.1/}creator": "author",
    "{http://purl.org/dc/terms/}created": "created",
    "{http://purl.org/dc/terms/}modified": "modified",
}
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class Properties:
    """`metadata` has `author`, `created` and `modified`, each where the file has it; a day as "2024-01-31"."""

    title: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)


def core_properties(data: bytes) -> Properties:
    """Those of a DOCX, PPTX or XLSX (ISO/IEC 29500-2, 11); nothing where it has none or they are broken."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = [one.target for one in relations(archive).values() if one.kind == _CORE and not one.external]
        if not parts or parts[0] not in archive.namelist():
            return Properties()
        try:
            root = parse_part(archive.read(parts[0]))
        except etree.XMLSyntaxError:  # They are no reason to refuse the text.
            return Properties()
    written = {str(child.tag): _line(child.text) for child in root}
    found = {key: written.get(tag, "") for tag, key in _KEYS.items()}
    found |= {key: iso_day(found[key]) for key in ("created", "modified")}
    return Properties(written.get(_TITLE, ""), {key: value for key, value in found.items() if value})


def iso_day(written: str) -> str:
    """The day of a time such as "2024-01-31T09:30:00Z", by its own clock; "" where it is none."""
    try:
        return date.fromisoformat(written[:10]).isoformat()
    except ValueError:
        return ""


def _line(text: str | None) -> str:
    return " ".join((text or "").split())[:_LONGEST]
