"""What the embedded store costs at 10,000, 100,000 and 1,000,000 chunks.

    python bench/scale.py [--sizes 10000 100000 1000000] [--quantise int8 binary none] [--json] [--graphs docs/images]

For each size an index is built by the store's own commits, then opened in a fresh process and searched as the pipeline
searches it (50 candidates a leg): time to build, bytes on disk, memory, median and 95th percentile of each leg with
no filter and with filters of 50, 10, 1 and 0.1 % of the chunks, recall of the first ten against comparing all vectors,
and the latency of adding and deleting one document of 20 chunks, with the search after it. `clustered` is a filter of
1 % whose documents all lie in a few clusters that no query is near: what a department's documents are to everybody
else's questions. It is where filtered searches by an index fail.

The first search within a scope reads it from the disk (`cold`), the others are the percentiles.

Vectors are synthetic, as hard as real ones or harder: 50 clusters of 20 each, of very unequal sizes; the nearest
neighbour has a cosine of 0.93, a random pair of 0.02. Texts are pieces of the bank's documents.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, cast

import machine
import numpy as np
import scale_graphs
from scale_data import CHUNKS_A_DOCUMENT, DIMENSIONS, batches, queries, query_words

from citewell.models.embedder import ModelIdentity
from citewell.settings import Storage
from citewell.stores.lance import LanceStore
from citewell.stores.lance_reader import LanceReader
from citewell.stores.store import OWNER, IndexedDocument, MadeWith, Scope, VersionKey

Quantise = Literal["none", "int8", "binary"]

MADE_WITH = MadeWith(ModelIdentity("synthetic", "1", DIMENSIONS, 256, "mean", "", ""), ((0.0,),), "1")
SCOPES = {"no filter": OWNER} | {name: Scope(frozenset({name})) for name in ("50%", "10%", "1%", "0.1%", "clustered")}
CANDIDATES = 50
FIRST = 10
QUERIES = 100
EXACT_QUERIES = 10
CHANGES = 10
MEGABYTE = 2**20

Neighbours = dict[str, list[set[str]]]


@dataclass(frozen=True, slots=True)
class Searching:
    """Milliseconds of a search within one scope, and the recall of its first ten."""

    scope: str
    cold_ms: float
    dense_p50: float
    dense_p95: float
    keyword_p50: float
    keyword_p95: float
    both_p50: float
    both_p95: float
    recall: float
    worst_recall: float


@dataclass(frozen=True, slots=True)
class Changing:
    """Milliseconds of a run that adds, or deletes, one document, and of the search after it."""

    add_p50: float
    add_max: float
    delete_p50: float
    delete_max: float
    search_after_p50: float


@dataclass(frozen=True, slots=True)
class Measured:
    chunks: int
    quantise: Quantise
    open_ms: float
    open_rss_mb: float
    searched_rss_mb: float
    searching: tuple[Searching, ...]
    exact_p50: float
    changing: Changing
    after_changes: Searching
    build_s: float = 0.0
    vector_index_s: float = 0.0
    disk_mb: float = 0.0


def measure(scratch: Path, chunks: int, kinds: Sequence[Quantise]) -> Iterator[Measured]:
    """One build, of which each way to shorten vectors gets a copy and builds its index there."""
    documents = chunks // CHUNKS_A_DOCUMENT
    base = scratch / "base"
    build_s = seconds(lambda: build(base, documents))
    truth = neighbours(documents)
    for quantise in kinds:
        path, storage = scratch / quantise, Storage(quantise=quantise)
        shutil.copytree(base, path)
        vector_index_s = seconds(partial(finish, path, storage, documents))
        disk = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        # Each in a process of its own: memory once used is not given back.
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as fresh:
            found = fresh.submit(measure_open, path, storage, chunks, truth).result()
        yield replace(found, build_s=build_s, vector_index_s=vector_index_s, disk_mb=disk / MEGABYTE)
        shutil.rmtree(path)


def build(path: Path, documents: int) -> None:
    """All documents but the last, and no vector index."""
    store = LanceStore.create(path, MADE_WITH, Storage(exact_up_to=documents * CHUNKS_A_DOCUMENT))
    with store.writing():
        for batch in batches(documents):
            there = batch.documents()
            store.commit(there[: documents - 1 - batch.first])


def finish(path: Path, storage: Storage, documents: int) -> None:
    """Add the last document, in a run at whose end the vector index is built that the setting asks for."""
    *_, last = batches(documents)
    store = LanceStore.open(path, storage)
    with store.writing():
        store.commit(last.documents()[-1:])


def neighbours(documents: int) -> Neighbours:
    """The ids of the first ten by comparing all vectors, for each query within each scope."""
    vectors = queries(QUERIES)
    best: dict[str, list[list[tuple[float, str]]]] = {scope: [[] for _ in range(QUERIES)] for scope in SCOPES}
    for batch in batches(documents):
        cosines = np.einsum("qd,ncd->qnc", vectors, batch.vectors, optimize=True)
        for scope in SCOPES:
            places = [place for place, groups in enumerate(batch.groups) if scope == "no filter" or scope in groups]
            if not places:
                continue
            ids = [entry_id for place in places for entry_id in batch.ids(place)]
            within = cosines[:, places].reshape(QUERIES, -1)
            some = min(FIRST, len(ids))
            for number, first in enumerate(np.argpartition(-within, some - 1)[:, :some]):
                found = [(float(within[number, place]), ids[place]) for place in first]
                best[scope][number] = sorted(best[scope][number] + found, reverse=True)[:FIRST]
    return {scope: [{entry_id for _, entry_id in found} for found in of_all] for scope, of_all in best.items()}


def measure_open(path: Path, storage: Storage, chunks: int, truth: Neighbours) -> Measured:
    import lancedb  # noqa: F401  # takes 2 s, which is not what opening an index takes

    begin = time.perf_counter()
    store = LanceStore.open(path, storage)
    open_ms = (time.perf_counter() - begin) * 1_000
    open_rss = machine.resident_mb()
    searching = tuple(search(store.reader(), scope, truth[scope]) for scope in SCOPES)
    searched_rss = machine.resident_mb()
    one_by_one = LanceStore.open(path, storage.model_copy(update={"exact_up_to": 2 * chunks})).reader()
    exact = [milliseconds(partial(one_by_one.dense, query, CANDIDATES, OWNER)) for query in queries(EXACT_QUERIES)]
    return Measured(
        chunks,
        storage.quantise,
        open_ms,
        open_rss,
        searched_rss,
        searching,
        statistics.median(exact),
        change(store),
        search(store.reader(), "no filter", truth["no filter"]),
    )


def search(reader: LanceReader, scope: str, truth: Sequence[set[str]]) -> Searching:
    dense, keyword, recalls = [], [], []
    within = SCOPES[scope]
    for query, words, best in zip(queries(QUERIES), query_words(QUERIES), truth, strict=True):
        begin = time.perf_counter()
        found = reader.dense(query, CANDIDATES, within)
        middle = time.perf_counter()
        reader.keyword(words, CANDIDATES, within)
        dense.append((middle - begin) * 1_000)
        keyword.append((time.perf_counter() - middle) * 1_000)
        recalls.append(len({match.entry_id for match in found[:FIRST]} & best) / len(best) if best else 1.0)
    both = [first + second for first, second in zip(dense, keyword, strict=True)]
    cold, *_ = both
    p50, p95 = np.percentile([dense[1:], keyword[1:], both[1:]], [50, 95], axis=1).tolist()
    return Searching(
        scope, cold, p50[0], p95[0], p50[1], p95[1], p50[2], p95[2], statistics.mean(recalls), min(recalls)
    )


def change(store: LanceStore) -> Changing:
    """Add documents one by one and search after each; then delete them one by one."""
    documents = [next(batches(1, seed=1 + number)).documents()[0] for number in range(CHANGES)]
    query, words = queries(1)[0], query_words(1)[0]
    added, after = [], []
    for document in documents:
        added.append(milliseconds(partial(run, store, [document], [])))
        after.append(
            milliseconds(lambda: store.reader().dense(query, CANDIDATES, OWNER))
            + milliseconds(lambda: store.reader().keyword(words, CANDIDATES, OWNER))
        )
    deleted = [milliseconds(partial(run, store, [], [document.key])) for document in documents]
    return Changing(
        statistics.median(added), max(added), statistics.median(deleted), max(deleted), statistics.median(after)
    )


def run(store: LanceStore, put: Sequence[IndexedDocument], drop: Sequence[VersionKey]) -> None:
    with store.writing():
        store.commit(put, drop)


def seconds(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def milliseconds(call: Callable[[], object]) -> float:
    return seconds(call) * 1_000


def report(found: Measured) -> str:
    changing = found.changing
    built = (
        f"{found.chunks:,} chunks, quantise {found.quantise}: built in {found.build_s:.0f} s, the vector index in "
        f"{found.vector_index_s:.0f} s; {found.disk_mb:,.0f} MB on disk; open in {found.open_ms:.0f} ms, with "
        f"{found.open_rss_mb:.0f} MB, {found.searched_rss_mb:.0f} MB after the searches"
    )
    changed = (
        f"  comparing all vectors {found.exact_p50:.1f} ms; adding a document {changing.add_p50:.0f} ms (at most "
        f"{changing.add_max:.0f}), deleting one {changing.delete_p50:.0f} (at most {changing.delete_max:.0f}), the "
        f"search after it {changing.search_after_p50:.0f} ms"
    )
    titles = "  filter            cold   dense p50/p95   keyword p50/p95      both p50/p95   recall (worst)"
    lines = [
        f"  {each.scope:14} {each.cold_ms:7.1f} {each.dense_p50:7.1f} /{each.dense_p95:6.1f} "
        f"{each.keyword_p50:9.1f} /{each.keyword_p95:6.1f} {each.both_p50:9.1f} /{each.both_p95:6.1f} "
        f"{each.recall:10.3f} ({each.worst_recall:.1f})"
        for each in (*found.searching, replace(found.after_changes, scope="after changes"))
    ]
    return "\n".join([built, changed, titles, *lines])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--quantise", nargs="+", choices=["none", "int8", "binary"], default=["int8", "binary", "none"])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--graphs", type=Path, help="a folder for PNG files")
    parser.add_argument("--drawn-from", type=Path, help="draw the graphs of an earlier --json, and measure nothing")
    parser.add_argument("--scratch", type=Path, help="a folder with room for the indexes: 10 GB at a million chunks")
    options = parser.parse_args()
    if options.drawn_from:
        scale_graphs.draw(json.loads(options.drawn_from.read_text(encoding="utf-8")), options.graphs)
        return
    shown = sys.stderr if options.json else sys.stdout
    print(machine.header(), file=shown)
    measured = []
    for chunks in options.sizes:
        with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
            for found in measure(Path(scratch), chunks, cast("list[Quantise]", options.quantise)):
                measured.append(asdict(found))
                print(report(found), file=shown, flush=True)
    everything = {"machine": machine.describe(), "measured": measured}
    if options.json:
        print(json.dumps(everything, allow_nan=False))
    if options.graphs:
        scale_graphs.draw(everything, options.graphs)


if __name__ == "__main__":
    main()
