"""Lexical first stages beside BM25, each alone, joined with the dense leg, and re-ranked as the settings have it.

    python bench/lexical.py --shared DIR [--cache DIR] [--splade FOLDER] [--only SET ...] [--json]

TF-IDF is over the same tokens as BM25, by the cosine. SPLADE (Formal et al. 2021, arXiv:2109.10086) is a model of your
own, a folder as `models.sparse` takes it, by the exact dot product. The folders are those of `late.py`. Each list has
the first 100 of the passages that the reader may read. Intervals are bootstrap 95 % over the questions, differences are
paired.
"""

from __future__ import annotations

import argparse
import json
import pickle
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import machine
import numpy as np
from fusion_sets import DEPTH
from late_sets import SETS, Asked, Collection, collection
from numpy.typing import NDArray
from ranked import Row, Way, joined, reranked, rows, stored, table
from scipy.sparse import csr_array

from citewell.models.sparse import SparseVector
from citewell.models.splade import Splade
from citewell.retrieval.analyser import analyse_query
from citewell.retrieval.fusion import Scored

BM25 = "BM25"
TIMED = 20
"""Queries."""
List = Callable[[Asked], Sequence[Scored]]
Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Cost:
    """Of sparse vectors: terms and bytes of a passage, milliseconds of a core to encode one and to encode a query."""

    collection: str
    terms: float
    bytes: float
    passage_ms: float
    query_ms: float


def bm25(asked: Asked) -> Sequence[Scored]:
    return asked.lists["keyword"]


class TfIdf:
    """Counts times idf, rows of length 1: scikit-learn's TfidfVectorizer as it comes, whose idf is
    ln((1 + n) / (1 + df)) + 1 (`smooth_idf`)."""

    def __init__(self, found: Collection) -> None:
        self._found = found
        self._places: dict[str, int] = {}
        for passage in found.analysed:
            for token in passage.split():
                self._places.setdefault(token, len(self._places))
        counts = self._counts([passage.split() for passage in found.analysed])
        held = np.bincount(counts.indices, minlength=len(self._places))
        self._idf = np.log((1 + len(found.ids)) / (1 + held)) + 1
        self._passages = self._weighted(counts)

    def __call__(self, asked: Asked) -> Sequence[Scored]:
        query = self._weighted(self._counts([analyse_query(asked.text)]))
        return best(self._found, asked, (self._passages @ query.T).toarray()[:, 0])

    def _counts(self, texts: Sequence[Sequence[str]]) -> csr_array:
        of = [Counter(self._places[token] for token in text if token in self._places) for text in texts]
        data = [count for each in of for count in each.values()]
        columns = [place for each in of for place in each]
        starts = np.cumsum([0, *map(len, of)])
        return csr_array((np.array(data, np.float64), columns, starts), shape=(len(texts), len(self._places)))

    def _weighted(self, counts: csr_array) -> csr_array:
        weighted = csr_array((counts.data * self._idf[counts.indices], counts.indices, counts.indptr), counts.shape)
        lengths = np.sqrt((weighted**2).sum(axis=1))
        weighted.data /= np.repeat(np.maximum(lengths, 1e-12), np.diff(weighted.indptr))
        return weighted


class BySplade:
    """The dot product of a query's weights and a passage's."""

    def __init__(self, found: Collection, encoder: Splade) -> None:
        self._found, self._encoder = found, encoder
        self._made, self._seconds = encoded(found, encoder)
        starts = np.cumsum([0, *(len(each.terms) for each in self._made)])
        terms = np.concatenate([each.terms for each in self._made]).astype(np.int64)
        weights = np.concatenate([each.weights for each in self._made])
        self._passages = csr_array((weights, terms, starts), shape=(len(found.ids), int(terms.max()) + 1))

    def __call__(self, asked: Asked) -> Sequence[Scored]:
        query = self._encoder.encode_query(asked.text)
        whole = np.zeros(self._passages.shape[1], np.float32)
        known = query.terms < len(whole)
        whole[query.terms[known]] = query.weights[known]
        return best(self._found, asked, self._passages @ whole)

    def cost(self) -> Cost:
        begin = time.process_time()
        for asked in self._found.asked[:TIMED]:
            self._encoder.encode_query(asked.text)
        return Cost(
            self._found.name,
            terms=float(np.mean([len(each.terms) for each in self._made])),
            bytes=float(np.mean([len(each.pack()) for each in self._made])),
            passage_ms=1000 * self._seconds / len(self._made),
            query_ms=1000 * (time.process_time() - begin) / len(self._found.asked[:TIMED]),
        )


def encoded(found: Collection, encoder: Splade) -> tuple[tuple[SparseVector, ...], float]:
    """What the model makes of the passages, and the seconds of a core that it takes; kept with the collection."""
    kept = found.folder / f"{found.name}-{encoder.identity.replace(':', '-')}.pickle"
    if not kept.exists():
        print(f"{found.name}: sparse vectors", file=sys.stderr, flush=True)
        begin = time.process_time()
        made = tuple(encoder.encode_passages(found.texts))
        kept.write_bytes(pickle.dumps((made, time.process_time() - begin)))
    vectors, seconds = pickle.loads(kept.read_bytes())  # noqa: S301 - this program's own file
    return vectors, seconds


def best(found: Collection, asked: Asked, scores: Scores) -> Sequence[Scored]:
    """The first of the passages that the reader may read and that have any score."""
    of = scores[asked.seen]
    first = np.lexsort((asked.seen, -of))[:DEPTH]
    return [Scored(found.ids[asked.seen[at]], float(of[at])) for at in first if of[at] > 0]


def groups(found: Collection, legs: Mapping[str, List]) -> Iterator[Row]:
    """Each leg alone, with the dense one, and re-ranked, beside BM25 in its place; and the others as a third leg beside
    the default."""
    near = stored(found)

    def alone(leg: List) -> Way:
        return lambda asked: [one.id for one in leg(asked)]

    def with_dense(leg: List) -> Way:
        return lambda asked: joined({**asked.lists, "keyword": leg(asked)})

    def as_set(leg: List) -> Way:
        return lambda asked: reranked(asked, {**asked.lists, "keyword": leg(asked)}, near)

    def third(leg: List) -> Way:
        return lambda asked: reranked(asked, {**asked.lists, "third": leg(asked)}, near)

    for what, made in (("", alone), (" and dense", with_dense), (" and dense, re-ranked", as_set)):
        ways = {name + what: made(leg) for name, leg in legs.items()}
        if made is as_set:
            ways |= {f"{name}, {BM25} and dense, re-ranked": third(leg) for name, leg in legs.items() if name != BM25}
        yield from rows(found, ways, BM25 + what)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, required=True)
    parser.add_argument("--cache", type=Path, help="kept from one run to the next; without it a temporary folder")
    parser.add_argument("--splade", type=Path, help="a folder with model.onnx and tokenizer.json")
    parser.add_argument("--only", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found_rows, costs = list[Row](), list[Cost]()
    with tempfile.TemporaryDirectory() as scratch:
        for name in options.only:
            found = collection(name, options.shared, options.cache or Path(scratch))
            legs: dict[str, List] = {BM25: bm25, "TF-IDF": TfIdf(found)}
            if options.splade:
                splade = BySplade(found, Splade(options.splade))
                costs.append(splade.cost())
                legs["SPLADE"] = splade
            found_rows += groups(found, legs)
    if options.json:
        line = {
            "machine": machine.describe(),
            "rows": list(map(asdict, found_rows)),
            "splade": list(map(asdict, costs)),
        }
        print(json.dumps(line, allow_nan=False))
    else:
        print(machine.header(), "\nDifferences are from BM25 in the same place:\n", *table(found_rows), sep="\n")
        for cost in costs:
            print(f"\nSPLADE, {cost.collection}: {cost.terms:.0f} terms and {cost.bytes:.0f} bytes a passage;", end=" ")
            print(f"{cost.passage_ms:.0f} ms of a core to encode a passage, {cost.query_ms:.1f} a query")


if __name__ == "__main__":
    main()
