"""Whether it helps to find the document first and the passage in it: contextual-codebase, by meaning alone.

    python bench/levels.py --data DIR [--json]

DIR is contextual-codebase in BEIR's layout, whose passages name the document that they are of. A document is told by
the mean of its passages' vectors, which knows all of it, or by one vector of its path and the beginnings of its
passages, which is what chunking.summaries embeds. `first n` searches only the n nearest documents, `weight w` adds w
times the document's cosine to each passage's. Differences of recall@5 to the passages alone, bootstrap 95 %.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import machine
import numpy as np
from beir import read_lines, read_qrels

from citewell.evaluation.metrics import Estimate, estimate, recall
from citewell.models.embedder import Vectors
from citewell.models.minilm import MiniLM

K = 5
FIRST = (3, 5, 10)
WEIGHTS = (0.2, 0.5, 1.0)
LEAD_CHARS, SUMMARY_CHARS = 120, 1_000


@dataclass(frozen=True, slots=True, eq=False)
class Collection:
    """Passages with their vectors, the place of the document that each is of, and both kinds of document vectors."""

    ids: list[str]
    vectors: Vectors
    document_of: np.ndarray
    documents: Mapping[str, Vectors]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    embedder = MiniLM()
    found = collection(options.data, embedder)
    texts = {line["_id"]: line["text"] for line in read_lines(options.data, "queries.jsonl")}
    qrels = read_qrels(options.data / "qrels" / "test.tsv")
    vectors = embedder.embed_queries([texts[query] for query in qrels])
    values: dict[str, list[float]] = defaultdict(list)
    for grades, vector in zip(qrels.values(), vectors, strict=True):
        alone = recall(order(found, found.vectors @ vector), grades, K)
        values["passages alone"].append(alone)
        for way, scores in ways(found, vector):
            values[way].append(recall(order(found, scores), grades, K) - alone)
    rows = {way: estimate(each) for way, each in values.items()}
    if options.json:
        print(json.dumps({"machine": machine.describe(), "rows": {way: asdict(row) for way, row in rows.items()}}))
        return
    print(machine.header())
    print(f"recall@{K} of {len(qrels)} questions, and what the document's vector adds to it")
    for way, row in rows.items():
        print(f"  {way:<24} {_shown(row)}")


def collection(data: Path, embedder: MiniLM) -> Collection:
    lines = list(read_lines(data, "corpus.jsonl"))
    names = list(dict.fromkeys(line["metadata"]["doc_id"] for line in lines))
    document_of = np.array([names.index(line["metadata"]["doc_id"]) for line in lines])
    vectors = embedder.embed_passages([f"{line['title']}\n{line['text']}" for line in lines])
    means = np.stack([vectors[document_of == place].mean(axis=0) for place in range(len(names))])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    summaries = []
    for place in range(len(names)):
        own = [line for line, of in zip(lines, document_of, strict=True) if of == place]
        leads = " ".join(" ".join(line["text"].split())[:LEAD_CHARS] for line in own)
        summaries.append(f"{own[0]['title']}\n{leads}"[:SUMMARY_CHARS])
    return Collection(
        [line["_id"] for line in lines],
        vectors,
        document_of,
        {"mean": means, "beginnings": embedder.embed_passages(summaries)},
    )


def ways(found: Collection, vector: Vectors) -> Iterator[tuple[str, Vectors]]:
    scores = found.vectors @ vector
    for kind, documents in found.documents.items():
        of_documents = documents @ vector
        nearest = np.argsort(-of_documents, kind="stable")
        for number in FIRST:
            inside = np.isin(found.document_of, nearest[:number])
            yield f"{kind}, first {number}", np.where(inside, scores, scores - 2)
        for weight in WEIGHTS:
            yield f"{kind}, weight {weight}", scores + weight * of_documents[found.document_of]


def order(found: Collection, scores: Vectors) -> list[str]:
    return [found.ids[place] for place in np.argsort(-scores, kind="stable")]


def _shown(row: Estimate) -> str:
    return f"{row.mean:+.3f}  [{row.low:+.3f}, {row.high:+.3f}]"


if __name__ == "__main__":
    main()
