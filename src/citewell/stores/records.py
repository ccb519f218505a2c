"""What is stored but never searched for, as JSON: the elements and pages of a document, and what is said of it. What
waits in a stash, as bytes."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from citewell.models.embedder import Embedded
from citewell.types import Attributes, Element, ElementKind, FieldValue, Page, PageState

_DAY = "day"
_LENGTHS = struct.Struct("<II")


def dump_elements(elements: Iterable[Element]) -> str:
    return json.dumps([_element_record(element) for element in elements])


def load_elements(text: str) -> tuple[Element, ...]:
    return tuple(_element(record) for record in json.loads(text))


def dump_pages(pages: Iterable[Page]) -> str:
    return json.dumps(
        [[page.number, page.label, page.start, page.end, page.state, page.reason, page.confidence] for page in pages]
    )


def load_pages(text: str) -> tuple[Page, ...]:
    return tuple(
        Page(number, label, start, end, PageState(state), reason, confidence)
        for number, label, start, end, state, reason, confidence in json.loads(text)
    )


def dump_attributes(attributes: Attributes) -> str:
    return _attributes().dump_json(attributes).decode()


def load_attributes(text: str) -> Attributes:
    return _attributes().validate_json(text)


def dump_fields(fields: Mapping[str, FieldValue]) -> str:
    """A day is marked as one: a text may look like it."""
    return json.dumps(
        {name: {_DAY: value.isoformat()} if isinstance(value, date) else value for name, value in fields.items()}
    )


def load_fields(text: str) -> dict[str, FieldValue]:
    return {name: _field_value(value) for name, value in json.loads(text).items()}


def dump_replies(replies: Mapping[str, str]) -> str:
    """In ASCII: a reply may hold what no column of text does."""
    return json.dumps(dict(replies))


def load_replies(text: str) -> dict[str, str]:
    return dict(json.loads(text))


def pack_reply(reply: str) -> bytes:
    return reply.encode("utf-8", "surrogatepass")


def unpack_reply(packed: bytes) -> str:
    return packed.decode("utf-8", "surrogatepass")


def pack_embedded(made: Embedded) -> bytes:
    """How long the vector and the token vectors are, then both, then the sparse vector."""
    vector = np.asarray(made.vector, np.float32).tobytes()
    return _LENGTHS.pack(len(vector), len(made.tokens)) + vector + made.tokens + made.sparse


def unpack_embedded(packed: bytes) -> Embedded:
    vector, tokens = _LENGTHS.unpack_from(packed)
    tokens_at = _LENGTHS.size + vector
    sparse_at = tokens_at + tokens
    return Embedded(
        np.frombuffer(packed[_LENGTHS.size : tokens_at], np.float32), packed[tokens_at:sparse_at], packed[sparse_at:]
    )


def _field_value(value: Any) -> FieldValue:
    if isinstance(value, dict):
        return date.fromisoformat(value[_DAY])
    if isinstance(value, list):
        return tuple(value)
    return value if isinstance(value, str) else float(value)


def _element_record(element: Element) -> list[Any]:
    place = [element.kind.value, element.start, element.end, element.heading_path, element.page, element.box]
    return [*place, element.header_rows, element.preamble, element.cuts, element.links]


def _element(record: list[Any]) -> Element:
    kind, start, end, path, page, box, header_rows, preamble, cuts, links = record
    at = None if box is None else tuple(box)
    return Element(
        ElementKind(kind), start, end, tuple(path), page, at, header_rows, preamble, tuple(cuts), tuple(links)
    )


@cache
def _attributes() -> TypeAdapter[Attributes]:
    return TypeAdapter(Attributes)
