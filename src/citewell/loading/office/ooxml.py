"""What the Office formats share: a zip of parts, tied together by relationships."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass

from lxml import etree

_RELATED = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_ABROAD = ("http://", "https://", "mailto:")
"""What leaves the document and runs nothing."""
_LONGEST = 2_000
"""Signs of an address; browsers take little more."""


@dataclass(frozen=True, slots=True)
class Relation:
    """`kind` is the last word of its type; `target` a part's name, or an address where it is `external`."""

    kind: str
    target: str
    external: bool


def relations(archive: zipfile.ZipFile, part: str = "") -> dict[str, Relation]:
    """What a part (the package itself for "") points at, by relationship id; nothing where it has no such list."""
    folder, name = posixpath.split(part)
    listed = posixpath.join(folder, "_rels", f"{name}.rels")
    if listed not in archive.namelist():
        return {}
    found = {}
    for one in parse_part(archive.read(listed)).iter(_RELATED):
        external = one.get("TargetMode") == "External"
        target = one.get("Target", "")
        if not external:
            target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        found[one.get("Id", "")] = Relation(one.get("Type", "").rsplit("/", 1)[-1], target, external)
    return found


def parse_part(data: bytes) -> etree._Element:
    """The root of a part's XML: no entities, no network, no comments, and lxml's bounds on depth and length."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    return etree.fromstring(data, parser)


def addresses(targets: Iterable[str]) -> tuple[str, ...]:
    """Those that are web or mail addresses, each once, in order."""
    return tuple(dict.fromkeys(one for one in targets if len(one) <= _LONGEST and one.lower().startswith(_ABROAD)))
