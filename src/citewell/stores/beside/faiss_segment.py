"""A part of a FAISS index: some vectors and their points, in files that never change once they are written.

`N.flat` holds whole vectors, `N.int8` or `N.binary` their short forms, `N.points` (Arrow) the points in the same order,
and `N.*.npy` who has which tag. All are mapped into memory: what is not looked at takes none.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from citewell.stores.beside.tag_lists import Mask, TagLists
from citewell.stores.beside.vector_index import Allowed, Found, Points, Tagged

if TYPE_CHECKING:
    import pyarrow as pa

    from citewell.models.embedder import Vectors

Quantise = Literal["none", "int8", "binary"]

Nearness = NDArray[np.float32]
Rows = NDArray[np.int64]

FLAT, POINTS = "flat", "points"


class Segment:
    """An open segment without the versions dropped from it. Never changes, so threads may share it."""

    def __init__(self, folder: Path, name: str, quantise: Quantise, dropped: Collection[str]) -> None:
        """
        Raises:
            OSError, RuntimeError, ValueError: a file is missing or damaged.
        """
        import pyarrow as pa

        path = folder / name
        self.name = name
        self.dropped = frozenset(dropped)
        self._points = pa.ipc.open_file(pa.memory_map(str(_file(path, POINTS)))).read_all()
        self._tags = TagLists.load(path)
        self._flat = _mapped(_file(path, FLAT), binary=False)
        # A segment from before the setting changed has another short form: it is compared whole.
        has_short = _file(path, quantise).exists()
        self._short = _mapped(_file(path, quantise), binary=quantise == "binary") if has_short else None
        self._alive = ~self._tags.meeting(Tagged(tuple(self.dropped)), self.rows)
        self.alive = int(self._alive.sum())
        self._in_scope = lru_cache(maxsize=100)(self._find_in_scope)

    @property
    def rows(self) -> int:
        """With those that are dropped."""
        return int(self._points.num_rows)

    def holds(self, version: str) -> bool:
        return bool((self._tags.meeting(Tagged((version,)), self.rows) & self._alive).any())

    @property
    def has_short(self) -> bool:
        return self._short is not None

    def nearest(self, vector: Vectors, k: int, allowed: Allowed, *, short: bool) -> tuple[Nearness, Rows]:
        """Of the k nearest of those allowed how near they are and their rows. That is the cosine, or the measure of
        the short forms, which is the same in all segments."""
        count, bits = self._in_scope(allowed)
        if count == 0:
            return np.empty(0, np.float32), np.empty(0, np.int64)
        among = None if count == self.rows else _faiss().IDSelectorBitmap(bits)
        if short and isinstance(self._short, _faiss().IndexBinary):
            signs = np.packbits(vector > 0, bitorder="little")
            different, rows = _search(self._short, signs, min(k, count), among)
            return -different.astype(np.float32), rows
        return _search(self._short if short else self._flat, vector, min(k, count), among)

    def cosines(self, vector: Vectors, rows: Rows) -> Nearness:
        cosines: Nearness = self._flat.reconstruct_batch(rows) @ vector
        return cosines

    def found(self, rows: Rows) -> list[Found]:
        ids = self._points.select(["entry_id", "chunk_id"]).take(rows)
        return [Found(*pair) for pair in zip(*(column.to_pylist() for column in ids.columns), strict=True)]

    def _find_in_scope(self, allowed: Allowed) -> tuple[int, NDArray[np.uint8]]:
        """How many rows are allowed, and a bit for each row."""
        mask = self._alive.copy()
        if allowed.condition is not None:
            mask &= self._tags.meeting(allowed.condition, self.rows)
        if allowed.day is not None:
            first, last = (self._points[name].to_numpy() for name in ("first", "last"))
            mask &= (first <= allowed.day) & (allowed.day <= last)
        return int(mask.sum()), np.packbits(mask, bitorder="little")

    def alive_points(self) -> tuple[pa.Table, TagLists, Mask, Vectors]:
        """The points that are not dropped and their vectors; the tags of all rows, and which of these are meant."""
        import pyarrow as pa

        vectors = self._flat.reconstruct_batch(np.flatnonzero(self._alive))
        return self._points.filter(pa.array(self._alive)), self._tags, self._alive, vectors


def merge(segments: Sequence[Segment], folder: Path, name: str, quantise: Quantise) -> list[Path]:
    """Write one segment with what is not dropped from these; the files made."""
    import pyarrow as pa

    points, tags, alive, vectors = zip(*(segment.alive_points() for segment in segments), strict=True)
    joined = TagLists.joined(zip(tags, alive, strict=True))
    return _write(folder / name, pa.concat_tables(points), joined, np.concatenate(vectors), quantise)


def write(put: Points, folder: Path, name: str, quantise: Quantise) -> list[Path]:
    """Write a segment; the files made. Of no use before something names it."""
    import pyarrow as pa

    columns: dict[str, pa.Array[Any]] = {
        "entry_id": pa.array([point.entry_id for point in put.points], pa.string()),
        "chunk_id": pa.array([point.chunk_id for point in put.points], pa.string()),
        "first": pa.array([point.first for point in put.points], pa.int32()),
        "last": pa.array([point.last for point in put.points], pa.int32()),
    }
    tags = TagLists.of([(point.version, *point.tags) for point in put.points])
    return _write(folder / name, pa.table(columns), tags, put.vectors, quantise)


def _write(path: Path, points: pa.Table, tags: TagLists, vectors: Vectors, quantise: Quantise) -> list[Path]:
    import pyarrow as pa

    faiss, dimensions = _faiss(), vectors.shape[1]
    flat = faiss.IndexFlatIP(dimensions)
    flat.add(vectors)
    indexes = {FLAT: flat}
    if quantise == "int8":
        indexes[quantise] = faiss.IndexScalarQuantizer(
            dimensions, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT
        )
        indexes[quantise].train(vectors)
        indexes[quantise].add(vectors)
    elif quantise == "binary":
        indexes[quantise] = faiss.IndexBinaryFlat(8 * -(-dimensions // 8))
        indexes[quantise].add(np.packbits(vectors > 0, axis=1, bitorder="little"))
    for kind, index in indexes.items():
        write_index = faiss.write_index_binary if kind == "binary" else faiss.write_index
        with _file(path, kind).open("wb") as out:
            # Through Python's file, whose errors say what is wrong.
            write_index(index, faiss.PyCallbackIOWriter(out.write))
    with pa.OSFile(str(_file(path, POINTS)), "wb") as file, pa.ipc.new_file(file, points.schema) as writer:
        writer.write_table(points.combine_chunks())
    tags.save(path)
    return [*(_file(path, kind) for kind in (*indexes, POINTS)), *TagLists.files(path)]


def _file(path: Path, kind: str) -> Path:
    return path.with_name(f"{path.name}.{kind}")


def _mapped(path: Path, *, binary: bool) -> Any:
    faiss = _faiss()
    if not binary:
        return faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
    signs = faiss.read_index_binary(str(path), faiss.IO_FLAG_MMAP_IFC)
    signs.use_heap = False  # to count distances is quicker where a thousand are wanted
    return signs


def _search(index: Any, vector: NDArray[Any], k: int, among: Any) -> tuple[NDArray[Any], Rows]:
    parameters = None if among is None else _faiss().SearchParameters(sel=among)
    scores, rows = index.search(vector[np.newaxis], k, params=parameters)
    there = rows[0] >= 0
    return scores[0][there], rows[0][there]


@cache
def _faiss() -> Any:
    """FAISS, of whose calls its own type stubs say other things than they take. It shares work among threads by query:
    with one query at a time, all but one would only wait."""
    import faiss

    faiss.omp_set_num_threads(1)
    return faiss
