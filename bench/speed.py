"""How fast indexing and searching are, as ratios within one run.

    python bench/speed.py [--chunks 100000] [--json]

Indexing: the time of `Index.add` on examples/bank/documents (two manuals of 115 pages, DOCX, HTML, code), and of
`Index.add_documents` on the texts that were read from them, beside the bare embedder on the very texts that were
embedded. A share of 1.0 would mean that all the rest cost nothing.

Searching: `Index.search`, both legs, beside the embedder's time for the question alone, on an index of N chunks. Their
texts are pieces of the bank's documents; their vectors are random, since embedding N texts would take an hour and a
vector's values do not change the time to compare it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import machine
import numpy as np

from citewell import Chunk, Document, Index, IndexReport, Settings
from citewell.chunking.entries import entry
from citewell.loading import discover, load
from citewell.loading.given import from_text
from citewell.models.embedder import Vectors
from citewell.models.encoding import Encoders
from citewell.models.fingerprint import canaries
from citewell.models.minilm import IDENTITY, MiniLM
from citewell.retrieval.analyser import ANALYSER_VERSION, analyse
from citewell.settings import Loading, Storage
from citewell.stores.folder import FolderHome
from citewell.stores.store import IndexedDocument, IndexedEntry, MadeWith
from citewell.types import EntryKind

BANK = Path(__file__).parents[1] / "examples" / "bank" / "documents"
LOADING = Loading(ocr="off")  # bench/loading.py measures it
QUESTIONS = (
    "How many days does a customer have to dispute a card payment?",
    "What is the chargeback fee for a business customer?",
    "What does decline code R-17 mean?",
    "Which branch is open on Saturday?",
    "Who approves a provisional credit above the limit?",
)
ROUNDS = 20
BATCH = 10_000
WORDS = 45


@dataclass(frozen=True, slots=True)
class Indexing:
    what: str
    documents: int
    texts: int
    pipeline_s: float
    embedder_s: float

    @property
    def share(self) -> float:
        """The embedder's own time over the whole pipeline's."""
        return self.embedder_s / self.pipeline_s


@dataclass(frozen=True, slots=True)
class Searching:
    chunks: int
    search_ms: float
    search_p95_ms: float
    embed_ms: float


class Recording:
    """MiniLM that remembers the texts it was given."""

    def __init__(self) -> None:
        self.inner = MiniLM()
        self.texts: list[str] = []
        self.identity = self.inner.identity
        self.token_spans = self.inner.token_spans
        self.embed_queries = self.inner.embed_queries

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.texts.extend(texts)
        return self.inner.embed_passages(texts)


def measure_indexing(scratch: Path) -> list[Indexing]:
    read = [load(file, LOADING).document for file in discover([BANK]).files]
    texts = [from_text(document.text, source=document.source, title=document.title) for document in read]
    return [
        timed("files", scratch / "files", lambda index: index.add(BANK)),
        timed("texts", scratch / "texts", lambda index: index.add_documents(texts)),
    ]


def timed(what: str, path: Path, run: Callable[[Index], IndexReport]) -> Indexing:
    recording = Recording()
    with Index(new_home(path), Encoders(recording), Settings(loading=LOADING)) as index:
        report = run(index)
    bare = MiniLM()
    bare.embed_passages(recording.texts[:4])
    embedder_s = seconds(lambda: bare.embed_passages(recording.texts))
    return Indexing(what, len(report.files), len(recording.texts), report.seconds, embedder_s)


def measure_searching(scratch: Path, chunks: int) -> Searching:
    home = new_home(scratch / "large")
    store, rng = home.open(1), np.random.default_rng(0)
    with home.writing(), store.writing():
        for batch in synthetic(chunks, rng):
            store.commit(batch)
    embedder = MiniLM()
    with Index(home, Encoders(embedder), Settings()) as index:
        index.search(QUESTIONS[0])
        rounds = QUESTIONS * ROUNDS
        searches = [seconds(partial(index.search, question)) for question in rounds]
        embeds = [seconds(partial(embedder.embed_queries, [question])) for question in rounds]
    p95 = statistics.quantiles(searches, n=20)[-1]
    return Searching(chunks, statistics.median(searches) * 1000, p95 * 1000, statistics.median(embeds) * 1000)


def new_home(path: Path) -> FolderHome:
    home = FolderHome(path, Storage())
    home.create(MadeWith(IDENTITY, canaries(MiniLM()), ANALYSER_VERSION))
    return home


def synthetic(chunks: int, rng: np.random.Generator) -> Iterator[list[IndexedDocument]]:
    """One document of `BATCH` chunks a batch; a chunk is `WORDS` words from a random place of the bank's text."""
    words = bank_words()
    for first in range(0, chunks, BATCH):
        count = min(BATCH, chunks - first)
        starts = rng.integers(len(words) - WORDS, size=count)
        texts = [" ".join(words[start : start + WORDS]) for start in starts]
        vectors = rng.standard_normal((count, IDENTITY.dimensions)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        yield [indexed(from_text("\n\n".join(texts), source=f"bench:{first}", title="Bench"), vectors)]


def bank_words() -> list[str]:
    texts = [load(file, LOADING).document.text for file in discover([BANK]).files]
    return " ".join(texts).split()


def indexed(document: Document, vectors: Vectors) -> IndexedDocument:
    """The document with one chunk an element, as the pipeline would store it."""
    chunks = tuple(
        Chunk(
            id=f"{document.id}@1#{ordinal}",
            document_id=document.id,
            title=document.title,
            source=document.source,
            version=document.version,
            text=document.text[element.start : element.end],
            start=element.start,
            end=element.end,
            heading_path=(),
            pages=(),
            kind=element.kind,
            rights=document.rights,
            trust=document.trust,
        )
        for ordinal, element in enumerate(document.elements)
    )
    entries = [entry(document, chunk, EntryKind.CHUNK, chunk.text) for chunk in chunks]
    ready = tuple(
        IndexedEntry(made, " ".join(analyse(made.text)), hashlib.sha256(made.text.encode()).hexdigest())
        for made in entries
    )
    dated = replace(document, indexed_at=datetime.now(UTC))
    return IndexedDocument(dated, "bench", chunks, ready, vectors)


def seconds(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        indexing = measure_indexing(Path(scratch))
        searching = measure_searching(Path(scratch), options.chunks)
    if options.json:
        found = {
            "machine": machine.describe(),
            "indexing": [asdict(each) for each in indexing],
            "searching": asdict(searching),
        }
        print(json.dumps(found, allow_nan=False))
        return
    print(machine.header())
    for each in indexing:
        print(
            f"indexing   {each.documents} {each.what}, {each.texts} passages, in {each.pipeline_s:.1f} s; "
            f"the embedder alone {each.embedder_s:.1f} s: a share of {each.share:.2f}"
        )
    print(
        f"searching  {searching.chunks:,} chunks: median {searching.search_ms:.1f} ms, 95 % below "
        f"{searching.search_p95_ms:.1f} ms; the embedder alone {searching.embed_ms:.1f} ms: "
        f"{searching.search_ms / searching.embed_ms:.1f} times"
    )


if __name__ == "__main__":
    main()
