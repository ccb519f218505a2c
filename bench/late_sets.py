"""Collections for `late.py`, `lexical.py` and `reranking.py`: every passage with the vectors of its tokens, and what
each leg finds for each question.

The sets are those of `fusion_sets.py`, through the real pipeline. Each is indexed once and kept in a folder: the index,
the vectors of all tokens before they were packed (float16), and the questions.
"""

from __future__ import annotations

import pickle
import random
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import refusal
from bank import BANK
from beir import documents, read_lines, read_qrels
from fusion_sets import DEPTH, SQUAD_QUESTIONS
from numpy.typing import NDArray

from citewell import Index
from citewell.evaluation.placing import holds
from citewell.evaluation.runs import reader_of
from citewell.evaluation.testset import Question, read_testset
from citewell.models.embedder import Vectors
from citewell.models.encoding import Encoders
from citewell.models.minilm import MiniLM
from citewell.retrieval.analyser import analyse_query
from citewell.retrieval.floor import named_codes
from citewell.retrieval.fusion import Scored
from citewell.retrieval.legs import CODE
from citewell.retrieval.reranking import telling
from citewell.stores.store import VersionKey
from citewell.types import Chunk

SETS = ("scifact", "contextual-codebase", "bank", "squad2")
EVERY = 1_000_000
"""Deeper than any of the collections."""

Half = NDArray[np.float16]
Places = NDArray[np.int64]
Lists = Mapping[str, Sequence[Scored]]


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question with an answer, and what each leg found for it: ids of passages, best first.

    `tokens` are the vectors of its telling tokens, shape (tokens, width), rows of length 1. `seen` are the places in
    the collection of the passages that its reader may read. `grades` has the names that are right; `holds` names what
    some passages count as in a ranking instead of their own name: the evidence that they hold.
    """

    text: str
    tokens: Vectors
    lists: Lists
    seen: Places
    grades: Mapping[str, int]
    holds: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Collection:
    """The passages of one set, and its questions.

    `names` are what a passage counts as in a ranking: its document, or what is read in its place. `analysed` are its
    tokens as the keyword leg has them, joined by spaces; `packed` the vectors of its tokens as they are stored;
    `lengths` their numbers.
    """

    name: str
    folder: Path
    asked: tuple[Asked, ...]
    ids: tuple[str, ...]
    names: tuple[str, ...]
    texts: tuple[str, ...]
    analysed: tuple[str, ...]
    packed: tuple[bytes, ...]
    lengths: Places

    @cached_property
    def tokens(self) -> Half:
        """The vectors of the tokens of all passages, one after the other, before they were packed."""
        found: Half = np.load(_tokens(self.name, self.folder))
        return found

    @cached_property
    def place(self) -> Mapping[str, int]:
        return {id_: at for at, id_ in enumerate(self.ids)}

    @cached_property
    def starts(self) -> Places:
        """Where in `tokens` each passage begins, and where the last one ends."""
        starts: Places = np.concatenate([[0], np.cumsum(self.lengths)])
        return starts

    def ranking(self, asked: Asked, ids: Iterable[str]) -> list[str]:
        """What passages count as, each name once, at its first place."""
        names = (asked.holds.get(id_) or (self.names[self.place[id_]],) for id_ in ids)
        return list(dict.fromkeys(name for each in names for name in each))

    def rows_of(self, places: Iterable[int]) -> Places:
        """The rows of `tokens` of some passages, one after the other."""
        return np.concatenate([np.arange(self.starts[at], self.starts[at + 1]) for at in places])


class Keeping(MiniLM):
    """The built-in embedder, and the vectors of all tokens that it made, by text."""

    def __init__(self) -> None:
        super().__init__()
        self.made: dict[str, Half] = {}

    def embed_passage_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[Vectors]]:
        vectors, tokens = super().embed_passage_tokens(texts)
        self.made.update((text, each.astype(np.float16)) for text, each in zip(texts, tokens, strict=True))
        return vectors, tokens


def collection(name: str, shared: Path, folder: Path) -> Collection:
    """One of `SETS`; what is kept in `folder` is taken from there."""
    kept = folder / f"{name}-late.pickle"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        made = _made(name, shared / "data" / name, folder)
        kept.write_bytes(pickle.dumps(made))
    found = pickle.loads(kept.read_bytes())  # noqa: S301 - this program's own file
    assert isinstance(found, Collection)
    return found


def index_of(name: str, folder: Path) -> Path:
    return folder / f"{name}-late-index"


def _tokens(name: str, folder: Path) -> Path:
    return folder / f"{name}-late-tokens.npy"


def _made(name: str, data: Path, folder: Path) -> Collection:
    place, embedder = index_of(name, folder), Keeping()
    shutil.rmtree(place, ignore_errors=True)  # of a run that was cut short
    print(f"{name}: indexing", file=sys.stderr, flush=True)
    with Index.create(place) as index:
        index._encoders = Encoders(embedder)
        if name == "bank":
            index.add(BANK / "documents")
        else:
            index.add_documents(list(refusal.documents(data) if name == "squad2" else documents(data)))
        keys = [VersionKey(one.document_id, one.number) for one in index._store.versions() if one.searchable]
        stored = index._store.fetch(keys)
        entries = [one for document in stored for one in document.entries]
        chunks = {chunk.id: chunk for document in stored for chunk in document.chunks}
        ids = tuple(one.entry.chunk_id for one in entries)
        assert len(set(ids)) == len(ids), "with the settings as they are each passage is one entry"
        read = {id_: _outermost(chunks[id_], chunks) for id_ in ids}
        vectors = [embedder.made[one.entry.text] for one in entries]
        np.save(_tokens(name, folder), np.concatenate(vectors))
        print(f"{name}: searching", file=sys.stderr, flush=True)
        places = {id_: at for at, id_ in enumerate(ids)}
        asked = [_asked(index, embedder, *each, read, places) for each in _questions(name, data)]
    return Collection(
        name,
        folder,
        asked=tuple(asked),
        ids=ids,
        names=tuple(read[id_].id if name == "bank" else read[id_].source.partition(":")[2] for id_ in ids),
        texts=tuple(one.entry.text for one in entries),
        analysed=tuple(one.tokens for one in entries),
        packed=tuple(one.token_vectors for one in entries),
        lengths=np.array([len(each) for each in vectors]),
    )


def _questions(name: str, data: Path) -> Iterator[tuple[Question, Mapping[str, int]]]:
    """Those that have an answer, with the grades of their documents; those of the bank follow from its evidence."""
    if name == "bank":
        yield from ((each, {}) for each in read_testset(BANK / "testset.jsonl") if each.answerable and each.evidence)
        return
    qrels = read_qrels(data / "qrels" / "test.tsv")
    if name == "squad2":
        articles = sorted({refusal.article(line["_id"]) for line in read_lines(data, "corpus.jsonl")})
        answerable = refusal.questions(data, articles)["answerable"]
        yield from ((each, qrels[each.id]) for each in random.Random(0).sample(answerable, SQUAD_QUESTIONS))
    else:
        texts = {line["_id"]: line["text"] for line in read_lines(data, "queries.jsonl")}
        yield from ((Question(id=id_, question=texts[id_]), grades) for id_, grades in qrels.items())


def _asked(
    index: Index,
    embedder: Keeping,
    question: Question,
    grades: Mapping[str, int],
    read: Mapping[str, Chunk],
    places: Mapping[str, int],
) -> Asked:
    text, codes, reader = question.question, named_codes(question.question), index._store.reader()
    scope = index._scope(reader_of(question), question.as_of, None, reader)
    dense = reader.dense(embedder.embed_queries([text])[0], EVERY, scope)
    found = {
        "dense": dense[:DEPTH],
        "keyword": reader.keyword(analyse_query(text), DEPTH, scope),
        CODE: reader.keyword(sorted(codes), DEPTH, scope) if codes else [],
    }
    return Asked(
        text,
        tokens=telling(embedder.embed_query_tokens(text)),
        lists={
            leg: [Scored(match.chunk_id, 1.0 if leg == CODE else match.score) for match in matches]
            for leg, matches in found.items()
        },
        seen=np.array(sorted(places[match.chunk_id] for match in dense)),
        grades={f"evidence-{at}": one.grade for at, one in enumerate(question.evidence)} or grades,
        holds={id_: held for id_ in places if (held := _held(question, read[id_]))},
    )


def _outermost(chunk: Chunk, chunks: Mapping[str, Chunk]) -> Chunk:
    """What is read in its place."""
    while chunk.parent_id:
        chunk = chunks[chunk.parent_id]
    return chunk


def _held(question: Question, passage: Chunk) -> tuple[str, ...]:
    """As `placing.judged` counts: all the evidence that a passage holds, the best first."""
    numbers = [at for at, evidence in enumerate(question.evidence) if holds(passage, evidence)]
    return tuple(f"evidence-{at}" for at in sorted(numbers, key=lambda at: (-question.evidence[at].grade, at)))
