"""The figures of docs/reranking.md, and those of docs/fusion.md and docs/retrieval.md that no other bench prints.

    python bench/reranking.py --shared DIR [--cache DIR] [--json]

bits            MaxSim alone, and the default, with the numbers of the token vectors in 16, 3, 2 and 1 bits
search          milliseconds of a core for a search with MaxSim and without, bytes of a passage
cross-encoder   seconds of a core for 50 pairs, by networks of the usual shapes that nobody trained
lists           milliseconds of a core to join lists, for MMR and for near duplicates
codes           the questions that name a code, with the list of what holds it and without

All on the bank of examples/. The folders are those of `late.py`. Intervals are bootstrap 95 % over the questions,
differences are paired.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import machine
import numpy as np
import onnxruntime
import random_cross_encoder
from late_codes import Code, Rotated, Whole, nearness, read_back
from late_sets import Asked, Collection, collection, index_of
from numpy.typing import NDArray
from ranked import DEFAULT, Near, Row, Way, as_set, best_first, joined, measured, reranked, row, rows, stored, table
from tokenizers import Encoding, Tokenizer

from citewell import Index, Settings
from citewell.models.cross_encoder import CrossEncoder
from citewell.models.embedder import unit_rows
from citewell.models.sequence_classifier import MOST_TOKENS
from citewell.retrieval.diversity import mmr
from citewell.retrieval.floor import named_codes
from citewell.retrieval.fusion import Method, fuse
from citewell.retrieval.legs import CODE
from citewell.retrieval.near_duplicates import groups

PAIRS = 50
BATCH = 8
METHODS: Sequence[Method] = ("rrf", "convex", "distribution")
NETWORKS = {
    "6 layers": (6, False),
    "6 layers, int8": (6, True),
    "12 layers": (12, False),
    "12 layers, int8": (12, True),
}


@dataclass(frozen=True, slots=True)
class Bits:
    """One code. `alone` is MaxSim over the default's candidates, `default` is joined with the legs; both beside 16
    bits."""

    token_bytes: int
    cosine: float
    alone: Row
    default: Row


@dataclass(frozen=True, slots=True)
class Search:
    """A search of the bank, median milliseconds of a core, and bytes."""

    ms: float
    without_ms: float
    passage_bytes: float
    index_mb: float
    token_vectors_mb: float


@dataclass(frozen=True, slots=True)
class Reading:
    """Seconds of a core for `PAIRS` pairs, one a call, and in batches of pairs of like length; `moved` is the greatest
    change of a score by its batch, as a share of what lies between the least score and the greatest."""

    network: str
    tokens: float
    seconds: float
    batched_seconds: float
    moved: float


@dataclass(frozen=True, slots=True)
class Result:
    bits: tuple[Bits, ...]
    search: Search
    reading: tuple[Reading, ...]
    lists: Mapping[str, float]
    codes: tuple[Row, ...]


def bits(found: Collection) -> Iterator[Bits]:
    width = found.tokens.shape[1]
    tried: list[Code] = [Whole(width), *(Rotated(each, width) for each in (3, 2, 1))]
    made = []
    for code in tried:
        left, cosine = read_back(code, found.tokens)
        near = nearness(found, left)
        made.append((code, cosine, measured(found, alone(near)), measured(found, as_set(near))))
    _, _, base_alone, base_default = made[0]
    for code, cosine, by_itself, default in made:
        yield Bits(
            code.token_bytes,
            cosine,
            row(found.name, f"{code.name}, MaxSim alone", by_itself, tried[0].name, base_alone),
            row(found.name, f"{code.name}, joined", default, tried[0].name, base_default),
        )


def alone(near: Near) -> Way:
    def way(asked: Asked) -> Sequence[str]:
        first = joined(asked.lists)
        scored = first[: DEFAULT.rerank_candidates]
        return [each.id for each in best_first(scored, near(asked, scored))] + first[len(scored) :]

    return way


def search(found: Collection, place: Path) -> Search:
    def median_ms(rerank: bool) -> float:
        settings = Settings()
        retrieval = settings.retrieval.model_copy(update={"rerank": rerank})
        with Index.open(place, settings=settings.model_copy(update={"retrieval": retrieval})) as index:
            index.search(questions[0])
            return statistics.median(cpu_ms(partial(index.search, each)) for each in questions)

    questions = list(dict.fromkeys(asked.text for asked in found.asked))
    with Index.open(place) as index:
        on_disk = index.status().bytes_on_disk
    sizes = [len(each) for each in found.packed]
    return Search(median_ms(True), median_ms(False), float(np.mean(sizes)), on_disk / 1e6, sum(sizes) / 1e6)


def cpu_ms(work: Callable[[], object], times: int = 1) -> float:
    begin = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - begin) * 1000 / times


def reading(found: Collection, folder: Path) -> Iterator[Reading]:
    """On the candidates of the first question."""
    asked = found.asked[0]
    texts = [found.texts[found.place[id_]] for id_ in joined(asked.lists)[:PAIRS]]
    for name, (layers, int8) in NETWORKS.items():
        random_cross_encoder.build(folder / name, layers, int8=int8)
        encoder, batches = CrossEncoder(folder / name), Batches(folder / name, asked.text, texts)
        encoder.scores(asked.text, texts[:2])  # loads it
        begin = time.process_time()
        scores = encoder.scores(asked.text, texts)
        seconds = time.process_time() - begin
        begin = time.process_time()
        together = batches.scores()
        batched = time.process_time() - begin
        moved = float(np.abs(together - scores).max() / np.ptp(scores))
        yield Reading(name, float(np.mean(batches.lengths)), seconds, batched, moved)


class Batches:
    """Pairs read several at once, those of like length together, shorter ones filled up."""

    def __init__(self, folder: Path, question: str, texts: Sequence[str]) -> None:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(MOST_TOKENS, strategy="only_second")
        self._pairs = tokenizer.encode_batch([(question, text) for text in texts])
        self.lengths = [len(pair.ids) for pair in self._pairs]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])

    def scores(self) -> NDArray[np.float32]:
        order = np.argsort(self.lengths, kind="stable")
        found = np.empty(len(order), np.float32)
        for begin in range(0, len(order), BATCH):
            some = order[begin : begin + BATCH]
            found[some] = self._run([self._pairs[at] for at in some])
        return found

    def _run(self, pairs: Sequence[Encoding]) -> NDArray[np.float32]:
        longest = max(len(pair.ids) for pair in pairs)
        inputs = {
            name: np.array([[*of, *[0] * (longest - len(of))] for of in each], dtype=np.int64)
            for name, each in (
                ("input_ids", [pair.ids for pair in pairs]),
                ("attention_mask", [pair.attention_mask for pair in pairs]),
                ("token_type_ids", [pair.type_ids for pair in pairs]),
            )
        }
        scores: NDArray[np.float32] = np.asarray(self._session.run(None, inputs)[0])[:, 0]
        return scores


def lists(found: Collection) -> dict[str, float]:
    """Milliseconds of a core, on the lists and passages of the first question with a hundred of both."""
    asked = next(each for each in found.asked if min(len(each.lists[leg]) for leg in ("dense", "keyword")) == 100)
    of = {leg: asked.lists[leg] for leg in ("dense", "keyword")}
    every = joined(asked.lists)
    texts = [found.texts[found.place[id_]] for id_ in every[:100]]
    groups(texts)  # words that were analysed before are remembered, as in a process that searches
    vectors = unit_rows(np.random.default_rng(0).standard_normal((100, found.tokens.shape[1])))
    return {
        **{f"join two lists of 100 by {method}": cpu_ms(partial(fuse, of, method), 20) for method in METHODS},
        "MMR, 10 of 100": cpu_ms(partial(mmr, np.linspace(1, 0, 100).tolist(), vectors, 10, 0.7), 20),
        **{f"near duplicates, {some} passages": cpu_ms(partial(groups, texts[:some]), 3) for some in (5, 20, 100)},
    }


def codes(found: Collection) -> Iterator[Row]:
    """All questions, and those that name a code, with the list of what holds it."""
    near = stored(found)
    ways: dict[str, Way] = {
        "without the list of codes": lambda asked: reranked(asked, {**asked.lists, CODE: []}, near),
        "with it": as_set(near),
    }
    asking = tuple(asked for asked in found.asked if named_codes(asked.text))
    for name, some in ((f"all {len(found.asked)}", found.asked), (f"{len(asking)} that name a code", asking)):
        yield from rows(replace(found, name=name, asked=some), ways, next(iter(ways)))


def printed(result: Result) -> Iterator[str]:
    yield machine.header()
    yield "\nBits of a number; differences are from 16 bits:\n"
    for each in result.bits:
        yield f"{each.alone.collection}, {each.alone.way}: {each.token_bytes} bytes a token, cosine {each.cosine:.4f}"
    yield ""
    yield from table([*(each.alone for each in result.bits), *(each.default for each in result.bits)])
    of = result.search
    yield f"\nA search of the bank: {of.ms:.1f} ms of a core, {of.without_ms:.1f} without MaxSim (medians)"
    yield f"A passage has {of.passage_bytes:,.0f} bytes of token vectors on average"
    yield f"The index has {of.index_mb:.1f} MB, of which these are {of.token_vectors_mb:.1f}"
    yield f"\n{PAIRS} pairs, batches of {BATCH}:\n"
    yield ("| network | tokens a pair | one a call, s of a core | in batches | moved by it |\n" + "| --- " * 5 + "|")
    for way in result.reading:
        cells = f"{way.tokens:.0f} | {way.seconds:.2f} | {way.batched_seconds:.2f} | {way.moved:.1%} of the spread"
        yield f"| {way.network} | {cells} |"
    yield "\nMilliseconds of a core:\n"
    yield from (f"{name}: {ms:.2f}" for name, ms in result.lists.items())
    yield "\nThe list of codes:\n"
    yield from table(result.codes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, required=True)
    parser.add_argument("--cache", type=Path, help="kept from one run to the next; without it a temporary folder")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.cache or Path(scratch)
        found = collection("bank", options.shared, folder)
        result = Result(
            tuple(bits(found)),
            search(found, index_of(found.name, folder)),
            tuple(reading(found, Path(scratch, "networks"))),
            lists(found),
            tuple(codes(found)),
        )
    if options.json:
        print(json.dumps({"machine": machine.describe(), **asdict(result)}, allow_nan=False))
    else:
        print(*printed(result), sep="\n")


if __name__ == "__main__":
    main()
