"""FAISS beside a store: its segments, and what happens to them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from citewell.errors import DiskFull
from citewell.settings import Storage
from citewell.stores.beside.faiss_index import FILE, FaissIndex
from citewell.stores.beside.points import to_allowed, to_points, version_name
from citewell.stores.beside.vector_index import Points
from citewell.stores.store import OWNER, Reader
from tests.stores.beside_engines import BESIDE, beside
from tests.stores.corpus import commit, indexed, key, unit_vectors, zipf_texts

pytestmark = pytest.mark.skipif("faiss" not in BESIDE, reason="faiss-cpu is not installed")

OWNED = to_allowed(OWNER)
NOTHING = Points((), np.empty((0, 32), dtype=np.float32))
VECTOR = unit_vectors(1, 0)[0]


def points(name: str, count: int = 3) -> Points:
    return to_points([indexed(name, ["w"] * count)], (), 32)


def entries(index: FaissIndex, k: int = 10_000) -> set[str]:
    assert OWNED is not None
    return {found.entry_id for found in index.search(VECTOR, k, OWNED, exact=True)}


def found(reader: Reader) -> list[str]:
    return [match.entry_id for match in reader.dense(VECTOR, 5, OWNER)]


def segments(folder: Path) -> set[str]:
    return {path.name.partition(".")[0] for path in folder.glob("*.flat")}


def test_segments_of_a_size_are_merged_and_lose_nothing(tmp_path: Path) -> None:
    index = FaissIndex(tmp_path, "binary")
    for number in range(30):
        index.apply(points(f"d{number}"), [version_name(key(f"d{number - 2}"))] if number % 3 == 0 else (), str(number))
        assert len(segments(tmp_path)) <= 8
    left = {number for number in range(30) if number % 3 != 1 or number == 28}
    assert entries(index) == {f"d{number}/{place:04d}/e" for number in left for place in range(3)}
    assert index.state() == "29"
    again = FaissIndex(tmp_path, "binary")
    assert entries(again) == entries(index)


def test_a_segment_that_is_mostly_dropped_is_written_anew_or_removed(tmp_path: Path) -> None:
    index = FaissIndex(tmp_path, "none")
    index.apply(to_points([indexed("a", ["w"] * 4), indexed("b", ["w"] * 3)], (), 32), (), "1")
    first = segments(tmp_path)
    index.apply(NOTHING, [version_name(key("a"))], "2")
    assert len(segments(tmp_path) - first) == len(segments(tmp_path)) == 1
    assert entries(index) == {f"b/{place:04d}/e" for place in range(3)}
    index.apply(NOTHING, [version_name(key("b"))], "3")
    assert segments(tmp_path) == set()
    assert (entries(index), index.state()) == (set(), "3")


def test_who_reads_meanwhile_sees_the_state_before_or_after(tmp_path: Path) -> None:
    writer, reader = FaissIndex(tmp_path, "none"), FaissIndex(tmp_path, "none")
    writer.apply(points("a"), (), "1")
    assert reader.state() == "1"
    writer.apply(points("b"), [version_name(key("a"))], "2")
    assert reader.state() == "2"
    assert entries(reader) == {f"b/{place:04d}/e" for place in range(3)}
    writer.reset()
    assert reader.state() == ""
    assert entries(reader) == set()
    assert list(tmp_path.iterdir()) == []
    writer.apply(points("c"), (), "3")
    assert entries(reader) == {f"c/{place:04d}/e" for place in range(3)}


@pytest.mark.parametrize("ending", [".flat", ".binary", ".points", ".names.npy", ".starts.npy", ".rows.npy", FILE])
@pytest.mark.parametrize("damage", ["cut", "lost"])
def test_an_engine_with_damaged_files_is_behind_and_is_mended(ending: str, damage: str, tmp_path: Path) -> None:
    create, reopen = beside(Storage(vectors="faiss", exact_up_to=5))
    store = create(tmp_path)
    commit(store, [indexed("d", zipf_texts(300, 1))])
    expected = found(store.reader())
    store.close()
    (path,) = [path for path in (tmp_path / "vectors" / "faiss").iterdir() if path.name.endswith(ending)]
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-5])
    else:
        path.unlink()
    again = reopen(tmp_path)
    if (ending, damage) != (".binary", "lost"):  # whole vectors will do
        assert again.stale
    assert found(again.reader()) == expected
    with again.writing():
        pass
    assert not again.stale
    assert found(again.reader()) == expected
    again.close()


def test_another_way_to_quantise_is_taken_up_segment_by_segment(tmp_path: Path) -> None:
    texts = {name: zipf_texts(300, seed) for seed, name in enumerate("abc")}
    for quantise, (name, some) in zip(("none", "int8", "binary"), texts.items(), strict=True):
        create, reopen = beside(Storage(vectors="faiss", exact_up_to=5, quantise=quantise))
        store = create(tmp_path) if name == "a" else reopen(tmp_path)
        commit(store, [indexed(name, some)])
        assert not store.stale
        assert found(store.reader()) == found(store.base.reader())
        store.close()
    names = {path.suffix for path in (tmp_path / "vectors" / "faiss").iterdir()}
    assert {".int8", ".binary", ".flat"} <= names


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are POSIX's")
def test_a_disk_that_is_full_leaves_the_state_before(tmp_path: Path) -> None:
    import resource

    index = FaissIndex(tmp_path, "binary")
    index.apply(points("a"), (), "1")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    for most in (100, 400, 20_000, 38_000):  # bytes of a file: too few for one or another of them
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, limits[1]))
        try:
            with pytest.raises(DiskFull):
                index.apply(points("b", 300), (), "2")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert (index.state(), len(entries(index))) == ("1", 3)
    index.apply(points("b"), (), "3")
    assert (index.state(), len(entries(index))) == ("3", 6)


def test_the_share_found_by_short_forms_is_that_of_the_docs(tmp_path: Path) -> None:
    """On vectors in clusters, as those of texts are; above, `docs/engines.md` has the figures for 100,000."""
    random = np.random.default_rng(0)
    centres = unit_vectors(40, 1, 384)[random.integers(0, 40, 3_000)]
    vectors = centres + 0.8 * unit_vectors(3_000, 2, 384)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    put = to_points([indexed("d", ["w"] * 3_000, vectors=vectors)], (), 384)
    queries = centres[:20] + 0.8 * unit_vectors(20, 3, 384)
    assert OWNED is not None
    for quantise in ("int8", "binary"):
        index = FaissIndex(tmp_path / quantise, quantise)
        index.apply(put, (), "1")
        hits = 0
        for query in queries:
            exact = {one.entry_id for one in index.search(query, 10, OWNED, exact=True)}
            hits += len(exact & {one.entry_id for one in index.search(query, 10, OWNED, exact=False)})
        assert hits / 200 >= 0.98, quantise
