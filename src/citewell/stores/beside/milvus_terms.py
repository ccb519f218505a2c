"""Points and conditions in Milvus's terms. No name goes into an expression, only digits made from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from citewell.stores.beside.vector_index import Allowed, Condition, Either, Every, Points, Tagged, Without

Row = dict[str, Any]

STATE = "state"
"""The row that holds the state's name where others have the entry's id. No scope allows it: it has no tag, and its last
day is before its first."""
IDS = ("entry_id", "chunk_id")

MAX_TAGS = 4_096
"""Of one point. The most that Milvus takes in a list."""
MAX_BYTES = 65_535
DIGITS = 32


def rows(put: Points) -> Iterator[Row]:
    for point, vector in zip(put.points, put.vectors, strict=True):
        yield {
            "id": point.id,
            "entry_id": point.entry_id,
            "chunk_id": point.chunk_id,
            "version": point.version,
            "tags": list(point.tags),
            "first": point.first,
            "last": point.last,
            "vector": vector,
        }


def state_row(state: str, dimensions: int) -> Row:
    whatever = np.full(dimensions, dimensions**-0.5, dtype=np.float32)
    return {
        "id": STATE,
        "entry_id": state,
        "chunk_id": "",
        "version": "",
        "tags": [],
        "first": 1,
        "last": 0,
        "vector": whatever,
    }


def state_in(rows: Sequence[Row]) -> str:
    return str(rows[0]["entry_id"]) if rows else ""


def of_versions(versions: Sequence[str]) -> str:
    return f"version in [{_listed(versions)}]"


def within(allowed: Allowed) -> str:
    parts = [] if allowed.condition is None else [_clause(allowed.condition)]
    if allowed.day is not None:
        parts.append(f"first <= {allowed.day} and last >= {allowed.day}")
    return " and ".join(parts)


def schema(dimensions: int) -> Any:
    from pymilvus import DataType, MilvusClient

    made = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    made.add_field("id", DataType.VARCHAR, is_primary=True, max_length=DIGITS)
    for name in IDS:
        made.add_field(name, DataType.VARCHAR, max_length=MAX_BYTES)
    made.add_field("version", DataType.VARCHAR, max_length=DIGITS)
    made.add_field("tags", DataType.ARRAY, element_type=DataType.VARCHAR, max_capacity=MAX_TAGS, max_length=DIGITS)
    for name in ("first", "last"):
        made.add_field(name, DataType.INT64)
    made.add_field("vector", DataType.FLOAT_VECTOR, dim=dimensions)
    return made


def indexes() -> Any:
    """Each vector is compared. Of the engine's graphs, one lost all ten results of a query at a filter of 10 %."""
    from pymilvus import MilvusClient

    made = MilvusClient.prepare_index_params()
    made.add_index("vector", index_type="FLAT", metric_type="IP")
    return made


def _clause(condition: Condition) -> str:
    match condition:
        case Tagged(tags):
            return f"array_contains_any(tags, [{_listed(tags)}])"
        case Every(parts):
            return "(" + " and ".join(map(_clause, parts)) + ")"
        case Either(parts):
            return "(" + " or ".join(map(_clause, parts)) + ")"
        case Without(part):
            return f"(not {_clause(part)})"


def _listed(digits: Sequence[str]) -> str:
    """Of digits and letters only, so quotes are enough."""
    return ", ".join(f'"{one}"' for one in digits)
