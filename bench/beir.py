"""Retrieval quality on any data set in BEIR's layout: leg by leg, joined, and re-ranked.

    python bench/beir.py --data DIR [--settings FILE] [--index DIR] [--json]

DIR holds corpus.jsonl (or .gz) with `_id`, `title`, `text`; queries.jsonl (or .gz) with `_id`, `text`; qrels/test.tsv.
The corpus goes through the real pipeline: chunked, embedded and stored in a new index, which is searched in full. A
document's rank is that of its best chunk. Intervals are bootstrap 95 % over the questions. --index keeps that index, or
takes the one that is there. Where the settings name a sparse encoder, its leg is measured too.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import machine

from citewell import Document, Index, Settings
from citewell.evaluation.metrics import Estimate, estimate, ndcg, recall, reciprocal_rank
from citewell.loading.given import from_text
from citewell.types import Hit

SEARCHED_CHUNKS = 100
"""No more than a leg's candidates by default: more would be joined on another scale."""
DEEP_CHUNKS = 300
"""Several chunks of one document may fill the list before a hundred documents are in it."""
WAYS: dict[str, dict[str, Any]] = {
    "keyword": {"legs": ("keyword",), "rerank": False},
    "dense": {"legs": ("dense",), "rerank": False},
    "hybrid": {"legs": ("dense", "keyword"), "rerank": False},
    "as set": {},
}
SPARSE_WAYS: dict[str, dict[str, Any]] = {
    "sparse": {"legs": ("sparse",), "rerank": False},
    "dense and sparse": {"legs": ("dense", "sparse"), "rerank": False},
    "all three legs": {"legs": ("dense", "keyword", "sparse"), "rerank": False},
    "all three legs, re-ranked": {"legs": ("dense", "keyword", "sparse")},
}


@dataclass(frozen=True, slots=True)
class Row:
    """One way of searching: its quality, and how long a question took."""

    way: str
    metrics: dict[str, Estimate]
    median_ms: float


def read_lines(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    packed = folder / f"{name}.gz"
    data = gzip.decompress(packed.read_bytes()) if packed.exists() else (folder / name).read_bytes()
    for line in data.decode("utf-8").splitlines():
        yield json.loads(line)


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        grades[query][document] = int(grade)
    return {query: judged for query, judged in grades.items() if any(grade > 0 for grade in judged.values())}


def documents(folder: Path) -> Iterator[Document]:
    for line in read_lines(folder, "corpus.jsonl"):
        yield from_text(line["text"], source=f"beir:{line['_id']}", title=line.get("title", ""))


def ranking(hits: Iterable[Hit]) -> list[str]:
    return list(dict.fromkeys(hit.chunk.source.removeprefix("beir:") for hit in hits))


def evaluate(index: Index, way: str, queries: dict[str, str], qrels: dict[str, dict[str, int]]) -> Row:
    values: dict[str, list[float]] = defaultdict(list)
    times: list[float] = []
    for query, grades in qrels.items():
        begin = time.perf_counter()
        hits = index.search(queries[query], k=SEARCHED_CHUNKS)
        times.append((time.perf_counter() - begin) * 1000)
        found = ranking(hits)
        values["nDCG@10"].append(ndcg(found, grades, 10))
        values["MRR@10"].append(reciprocal_rank(found, grades, 10))
        for k in (5, 10, 20):
            # pass@k, the share of a question's right chunks among the first k, is recall@k where the unit is a chunk.
            values[f"recall@{k}"].append(recall(found, grades, k))
        values["recall@100"].append(recall(ranking(index.search(queries[query], k=DEEP_CHUNKS)), grades, 100))
    return Row(way, {name: estimate(each) for name, each in values.items()}, statistics.median(times))


def indexed(path: Path, settings: Settings, data: Path) -> float:
    """Make the index; how many seconds that took."""
    with Index.create(path, settings=settings) as index:
        report = index.add_documents(list(documents(data)))
        chunks = index.status().chunks
    print(f"{len(report.files)} documents, {chunks} chunks indexed in {report.seconds:.0f} s", file=sys.stderr)
    return report.seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--settings", type=Path)
    parser.add_argument("--index", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    settings = Settings.load(options.settings)
    queries = {line["_id"]: line["text"] for line in read_lines(options.data, "queries.jsonl")}
    qrels = read_qrels(options.data / "qrels" / "test.tsv")
    ways = WAYS | (SPARSE_WAYS if settings.models.sparse != "none" else {})
    with tempfile.TemporaryDirectory() as scratch:
        path = options.index or Path(scratch, "index")
        seconds = 0.0 if path.exists() else indexed(path, settings, options.data)
        rows = []
        for name, way in ways.items():
            retrieval = settings.retrieval.model_copy(update=way)
            with Index.open(path, settings=settings.model_copy(update={"retrieval": retrieval})) as index:
                rows.append(evaluate(index, name, queries, qrels))
                chunks = index.status().chunks
    print_json(options.data, seconds, chunks, rows) if options.json else print_table(options.data, rows)


def print_table(data: Path, rows: list[Row]) -> None:
    print(machine.header())
    print(f"{data.name}: {rows[0].metrics['nDCG@10'].questions} questions")
    for row in rows:
        print(f"\n{row.way} (median {row.median_ms:.1f} ms a question)")
        for name, value in row.metrics.items():
            print(f"  {name:<10} {value.mean:.4f}  [{value.low:.4f}, {value.high:.4f}]")


def print_json(data: Path, seconds: float, chunks: int, rows: list[Row]) -> None:
    found = [
        {"way": row.way, "median_ms": row.median_ms, "metrics": {k: asdict(v) for k, v in row.metrics.items()}}
        for row in rows
    ]
    line = {"machine": machine.describe(), "data": data.name, "index_s": seconds, "chunks": chunks, "rows": found}
    print(json.dumps(line, allow_nan=False))


if __name__ == "__main__":
    main()
