"""Where the time of a question goes: p50 and p95 of each step, and what two legs cost together.

    python bench/latency.py [--chunks 100000] [--questions 100] [--splade FOLDER] [--scratch DIR] [--json]

The index is as in scale.py (clustered vectors, the bank's words), with the token vectors of real passages, and with
--splade their sparse vectors. Asked are questions of the bank's test set, each once to warm up and once to count, by
who may read everything and by who may read one document in a hundred. The answer is quoted: no language model.

`together` is the time of both legs at once over that of the slower one alone, the median over the questions: 1 is a
leg that costs nothing beside the other. On a machine whose cores are busy it cannot be.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import cycle
from pathlib import Path

import machine
import numpy as np
from bank import BANK
from scale_data import CHUNKS_A_DOCUMENT, bank_words, batches

from citewell import Index, Principal, Settings
from citewell.evaluation.testset import read_testset
from citewell.models import configured
from citewell.models.embedder import Embedded
from citewell.models.encoding import Encoders
from citewell.models.fingerprint import canaries
from citewell.models.token_vectors import CODEC
from citewell.retrieval.analyser import ANALYSER_VERSION
from citewell.retrieval.legs import first_stage
from citewell.settings import Cache, Models, Retrieval
from citewell.stores.folder import FolderHome
from citewell.stores.store import IndexedDocument, MadeWith
from citewell.types import EVERYONE, Rights, Trace

READERS = {"everything": Principal(groups=frozenset({"all"})), "one document in a hundred": Principal()}
SAMPLED = 200
WORDS = 150


@dataclass(frozen=True, slots=True)
class Timed:
    """Milliseconds of one step."""

    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Row:
    """One reader's questions: each step, all of it, and the legs at once over the slower one."""

    reader: str
    whole: Timed
    steps: dict[str, Timed]
    together: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--splade", type=Path)
    parser.add_argument("--scratch", type=Path, help="keeps the index there, or takes the one that is there")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    questions = [one.question for one in read_testset(BANK / "testset.jsonl") if one.answerable][: options.questions]
    with tempfile.TemporaryDirectory() as folder:
        place = (options.scratch or Path(folder)) / f"latency-{options.chunks}{'-sparse' if options.splade else ''}"
        settings = _settings(options.splade)
        if not place.exists():
            build(place, settings, options.chunks)
        with Index.open(place, settings=settings) as index:
            rows = [measure(index, name, questions) for name in READERS]
            chunks = index.status().chunks
    if options.json:
        line = {"machine": machine.describe(), "chunks": chunks, "rows": [asdict(row) for row in rows]}
        print(json.dumps(line, allow_nan=False))
        return
    print(machine.header())
    for row in rows:
        print(f"\n{chunks:,} chunks, {len(questions)} questions, who may read {row.reader}")
        for name, timed in ({"a question": row.whole} | row.steps).items():
            print(f"  {name:<12} p50 {timed.p50:7.1f} ms   p95 {timed.p95:7.1f} ms")
        print(f"  legs together: {row.together:.2f} of the slower one")


def _settings(splade: Path | None) -> Settings:
    models = Models(sparse=f"onnx:{splade}") if splade else Models()
    retrieval = {"legs": ("dense", "keyword", "sparse")} if splade else {}
    return Settings(
        models=models, cache=Cache(queries=0), retrieval=Retrieval.model_validate({**retrieval, "floor": "off"})
    )


def build(place: Path, settings: Settings, chunks: int) -> None:
    """An index of so many chunks."""
    encoders = configured.encoders(settings.models)
    identity = encoders.embedder.identity
    home = FolderHome(place, settings.storage)
    home.create(MadeWith(identity, canaries(encoders.embedder), ANALYSER_VERSION, CODEC, encoders.sparse_identity))
    made = cycle(_real(encoders))
    with Index(home, encoders, settings) as index, index._upkeep.writing() as store:
        for batch in batches(chunks // CHUNKS_A_DOCUMENT):
            store.commit([_with(document, [next(made) for _ in document.entries]) for document in batch.documents()])


def _real(encoders: Encoders) -> list[Embedded]:
    """What is made of passages of the bank's documents."""
    starts = np.random.default_rng(3).integers(len(bank_words()) - WORDS, size=SAMPLED)
    return encoders.encode([" ".join(bank_words()[start : start + WORDS]) for start in starts], CODEC)


def _with(item: IndexedDocument, made: Sequence[Embedded]) -> IndexedDocument:
    """With what was made of its passages, and the rights of one in a hundred or of all but everyone."""
    rights = Rights(frozenset({"all", EVERYONE} if "1%" in item.document.rights.groups else {"all"}))
    entries = (
        replace(each, entry=replace(each.entry, rights=rights), token_vectors=one.tokens, sparse=one.sparse)
        for each, one in zip(item.entries, made, strict=True)
    )
    return replace(
        item,
        document=replace(item.document, rights=rights),
        chunks=tuple(replace(chunk, rights=rights) for chunk in item.chunks),
        entries=tuple(entries),
    )


def measure(index: Index, reader: str, questions: Sequence[str]) -> Row:
    steps: dict[str, list[float]] = defaultdict(list)
    whole: list[float] = []
    for question in questions:
        index.ask(question, principal=READERS[reader])
    for question in questions:
        begin = time.perf_counter()
        answer = index.ask(question, principal=READERS[reader])
        whole.append((time.perf_counter() - begin) * 1000)
        for step in answer.trace:
            steps[step.name].append(step.ms)
    together = statistics.median(_together(index, reader, question) for question in questions)
    return Row(reader, _timed(whole), {name: _timed(each) for name, each in steps.items()}, together)


def _together(index: Index, reader: str, question: str) -> float:
    store = index._store.reader()
    scope = index._scope(READERS[reader], None, None, store)
    (vector,) = index._encoders.embedder.embed_queries([question])
    legs = index.settings.retrieval.legs

    def seconds(names: Sequence[str]) -> float:
        begin = time.perf_counter()
        first_stage(question, vector, names, 100, scope=scope, store=store, encoders=index._encoders, trace=Trace())
        return time.perf_counter() - begin

    alone = max(min(seconds([leg]) for _ in range(3)) for leg in legs)
    return min(seconds(legs) for _ in range(3)) / alone


def _timed(values: Sequence[float]) -> Timed:
    return Timed(*(round(float(np.percentile(values, share)), 2) for share in (50, 95)))


if __name__ == "__main__":
    main()
