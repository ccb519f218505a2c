"""Points and conditions in Qdrant's terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from citewell.stores.beside.vector_index import Allowed, Condition, Either, Every, Found, Points, Tagged, Without

if TYPE_CHECKING:
    from qdrant_client.http import models

IDS = ("entry_id", "chunk_id")

STATE = str(UUID(int=0))
"""The point that holds the state's name. It has no tag and no day, so that no scope allows it."""

BREADTH = 512
"""Of the graph's search: at least, or four times k."""
OVERSAMPLED = 4.0
ACORN_BELOW = 0.9
"""The share allowed below which the graph is also walked through points that are not (ACORN). Without, a query could
lose all of its results with half of the points allowed."""


def structs(put: Points) -> Iterator[models.PointStruct]:
    from qdrant_client.http import models

    for point, vector in zip(put.points, put.vectors, strict=True):
        payload = {
            "entry_id": point.entry_id,
            "chunk_id": point.chunk_id,
            "version": point.version,
            "tags": list(point.tags),
            "first": point.first,
            "last": point.last,
        }
        yield models.PointStruct(id=str(UUID(hex=point.id)), vector=vector.tolist(), payload=payload)


def state_struct(state: str, dimensions: int) -> models.PointStruct:
    from qdrant_client.http import models

    return models.PointStruct(id=STATE, vector=[0.0] * dimensions, payload={"state": state})


def state_in(records: Sequence[models.Record]) -> str:
    return str((records[0].payload or {}).get("state", "")) if records else ""


def found(points: Sequence[models.ScoredPoint]) -> list[Found]:
    payloads = [point.payload or {} for point in points]
    return [Found(*(payload[name] for name in IDS)) for payload in payloads]


def of_versions(versions: Sequence[str]) -> models.Filter:
    from qdrant_client.http import models

    return models.Filter(must=[models.FieldCondition(key="version", match=models.MatchAny(any=list(versions)))])


def within(allowed: Allowed) -> models.Filter:
    from qdrant_client.http import models

    must = [] if allowed.condition is None else [_clause(allowed.condition)]
    if allowed.day is not None:
        must.append(models.FieldCondition(key="first", range=models.Range(lte=allowed.day)))
        must.append(models.FieldCondition(key="last", range=models.Range(gte=allowed.day)))
    return models.Filter(must=must)


def effort(k: int, *, exact: bool) -> models.SearchParams:
    from qdrant_client.http import models

    if exact:
        return models.SearchParams(exact=True)
    return models.SearchParams(
        hnsw_ef=max(BREADTH, 4 * k),
        acorn=models.AcornSearchParams(enable=True, max_selectivity=ACORN_BELOW),
        quantization=models.QuantizationSearchParams(rescore=True, oversampling=OVERSAMPLED),
    )


def space(dimensions: int, quantise: Literal["none", "int8", "binary"]) -> models.VectorParams:
    """Whole vectors stay on disk where short ones are searched. The length of each is 1: dot products are cosines."""
    from qdrant_client.http import models

    short: models.ScalarQuantization | models.BinaryQuantization | None = None
    if quantise == "int8":
        scalar = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True)
        short = models.ScalarQuantization(scalar=scalar)
    elif quantise == "binary":
        short = models.BinaryQuantization(binary=models.BinaryQuantizationConfig(always_ram=True))
    return models.VectorParams(
        size=dimensions, distance=models.Distance.DOT, on_disk=short is not None, quantization_config=short
    )


def _clause(condition: Condition) -> models.Condition:
    from qdrant_client.http import models

    match condition:
        case Tagged(tags):
            return models.FieldCondition(key="tags", match=models.MatchAny(any=list(tags)))
        case Every(parts):
            return models.Filter(must=[_clause(part) for part in parts])
        case Either(parts):
            return models.Filter(should=[_clause(part) for part in parts])
        case Without(part):
            return models.Filter(must_not=[_clause(part)])
