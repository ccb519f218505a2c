"""Retrieval from source code: what reading it by its syntax brings over reading it as text.

    python bench/codebase.py --data DIR [--json]

DIR is the codebase set of ../shared: documents.jsonl.gz (whole files), corpus.jsonl.gz (the golden passages, which were
cut by others), queries.jsonl and qrels/test.tsv. The files go through the loader and the real pipeline three times: as
text, by syntax without the lines that a piece needs above it, and with them. Our chunks are smaller than the golden
passages and cut elsewhere, so that a passage counts by the share of its characters, white space left out, that lie in
the first k chunks: `covered` where it is half or more, `touched` where its middle line is in one of them. Readings
with smaller chunks have less text in the first k; `covered in N` is about the first N characters instead. Intervals
are bootstrap 95 % over the questions.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import statistics
import tempfile
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import machine

from citewell import Document, Index
from citewell.evaluation.metrics import Estimate, estimate
from citewell.loading import document_id
from citewell.loading.parsed import Parsed
from citewell.loading.parsing import parse
from citewell.settings import Loading
from citewell.types import EVERYONE, Hit, Rights

DEPTHS = (5, 10, 20)
BUDGETS = (2_000, 4_000, 8_000)
SEARCHED = 100  # chunks: enough to fill the largest budget
COVERED = 0.5
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Golden:
    """A passage to be found: its document, its span and that of its middle line, in signs without white space."""

    source: str
    span: Span
    middle: Span


@dataclass(frozen=True, slots=True)
class Row:
    """One way of reading: its quality, its chunks, and how long indexing took."""

    reading: str
    chunks: int
    index_s: float
    median_ms: float
    metrics: dict[str, Estimate]


def as_text(source: str, name: str) -> Parsed:
    return replace(parse(source.encode(), f"{name}.txt", Loading()), title=name)


def by_syntax(source: str, name: str) -> Parsed:
    return parse(source.encode(), name, Loading())


def without_preambles(source: str, name: str) -> Parsed:
    parsed = by_syntax(source, name)
    return replace(parsed, elements=tuple(replace(element, preamble="") for element in parsed.elements))


READINGS: dict[str, Callable[[str, str], Parsed]] = {
    "text": as_text,
    "syntax": without_preambles,
    "syntax and preambles": by_syntax,
}


def squeezed(text: str) -> str:
    return "".join(text.split())


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    data = path.read_bytes()
    for line in (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8").splitlines():
        yield json.loads(line)


def read_golden(folder: Path, documents: dict[str, str]) -> dict[str, Golden]:
    """The passages by id, each where it stands in its document."""
    found: dict[str, Golden] = {}
    for line in read_lines(folder / "corpus.jsonl.gz"):
        source, text = line["metadata"]["doc_id"], line["text"]
        start = squeezed(documents[source]).find(squeezed(text))
        filled = [squeezed(each) for each in text.splitlines() if each.strip()]
        if start < 0 or not filled:
            continue
        before = start + sum(map(len, filled[: len(filled) // 2]))
        middle = (before, before + len(filled[len(filled) // 2]))
        found[line["_id"]] = Golden(source, (start, start + sum(map(len, filled))), middle)
    return found


def read_qrels(folder: Path, golden: dict[str, Golden]) -> dict[str, list[Golden]]:
    asked: dict[str, list[Golden]] = defaultdict(list)
    for line in (folder / "qrels" / "test.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, passage, grade = line.split("\t")
        if int(grade) > 0:
            asked[query].append(golden[passage])
    return asked


def as_document(source: str, text: str, parsed: Parsed) -> Document:
    if squeezed(parsed.text) != squeezed(text):
        raise SystemExit(f"{source}: the loader's text is not the file's; spans cannot be compared")
    content_hash = hashlib.sha256(text.encode()).hexdigest()
    return Document(
        id=document_id(source),
        content_hash=content_hash,
        title=parsed.title,
        source=source,
        version=content_hash[:8],
        text=parsed.text,
        elements=parsed.elements,
        rights=Rights(frozenset({EVERYONE})),
    )


@dataclass(frozen=True, slots=True)
class Places:
    """Where the signs of a text are that are no white space, ascending."""

    filled: list[int]

    @classmethod
    def of(cls, text: str) -> Places:
        return cls([place for place, sign in enumerate(text) if not sign.isspace()])

    def squeezed(self, start: int, end: int) -> Span:
        return bisect_left(self.filled, start), bisect_left(self.filled, end)


def overlap(span: Span, found: Iterable[Span]) -> int:
    """How many signs of `span` lie in any of `found`."""
    seen, total = span[0], 0
    for start, end in sorted(found):
        low, high = max(start, seen), min(end, span[1])
        if high > low:
            total += high - low
            seen = high
    return total


def judge(hits: Iterable[Hit], golden: list[Golden], places: dict[str, Places], found: dict[str, list[float]]) -> None:
    """Add the shares of a question's passages that are covered and touched, at each depth and within each budget."""
    spans = [(hit.chunk.source, places[hit.chunk.source].squeezed(hit.chunk.start, hit.chunk.end)) for hit in hits]
    for k in DEPTHS:
        found[f"covered@{k}"].append(share(golden, spans[:k], is_covered))
        found[f"touched@{k}"].append(share(golden, spans[:k], is_touched))
    for budget in BUDGETS:
        found[f"covered in {budget:,}"].append(share(golden, list(within(spans, budget)), is_covered))


def within(spans: Iterable[tuple[str, Span]], budget: int) -> Iterator[tuple[str, Span]]:
    """The first of them, of the last only the beginning, that have `budget` signs together."""
    for source, (start, end) in spans:
        if budget <= 0:
            return
        yield source, (start, min(end, start + budget))
        budget -= end - start


def share(golden: list[Golden], spans: list[tuple[str, Span]], judged: Callable[[Golden, list[Span]], bool]) -> float:
    return statistics.fmean(judged(one, [span for source, span in spans if source == one.source]) for one in golden)


def is_covered(golden: Golden, spans: list[Span]) -> bool:
    return overlap(golden.span, spans) >= COVERED * (golden.span[1] - golden.span[0])


def is_touched(golden: Golden, spans: list[Span]) -> bool:
    return overlap(golden.middle, spans) > 0


def evaluate(reading: str, documents: list[Document], queries: dict[str, str], asked: dict[str, list[Golden]]) -> Row:
    places = {document.source: Places.of(document.text) for document in documents}
    values: dict[str, list[float]] = defaultdict(list)
    times: list[float] = []
    with tempfile.TemporaryDirectory() as scratch, Index.create(Path(scratch, "index")) as index:
        report = index.add_documents(documents)
        for query, golden in asked.items():
            begin = time.perf_counter()
            hits = index.search(queries[query], k=SEARCHED)
            times.append((time.perf_counter() - begin) * 1000)
            judge(hits, golden, places, values)
        chunks = index.status().chunks
    metrics = {name: estimate(each) for name, each in values.items()}
    return Row(reading, chunks, report.seconds, statistics.median(times), metrics)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    files = list(read_lines(options.data / "documents.jsonl.gz"))
    golden = read_golden(options.data, {file["_id"]: file["text"] for file in files})
    asked = read_qrels(options.data, golden)
    queries = {line["_id"]: line["text"] for line in read_lines(options.data / "queries.jsonl")}
    rows = []
    for reading, read in READINGS.items():
        documents = [
            as_document(file["_id"], file["text"], read(file["text"], Path(file["path"]).name)) for file in files
        ]
        rows.append(evaluate(reading, documents, queries, asked))
    print_json(options.data, rows) if options.json else print_table(options.data, rows)


def print_table(data: Path, rows: list[Row]) -> None:
    print(machine.header())
    print(f"{data.name}: {rows[0].metrics['covered@5'].questions} questions")
    for row in rows:
        print(f"\n{row.reading}: {row.chunks} chunks in {row.index_s:.0f} s (median {row.median_ms:.1f} ms a question)")
        for name, value in row.metrics.items():
            print(f"  {name:<16} {value.mean:.4f}  [{value.low:.4f}, {value.high:.4f}]")


def print_json(data: Path, rows: list[Row]) -> None:
    line = {"machine": machine.describe(), "data": data.name, "rows": [asdict(row) for row in rows]}
    print(json.dumps(line, allow_nan=False))


if __name__ == "__main__":
    main()
