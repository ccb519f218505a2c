"""Questions for `fusion.py`: what each leg finds for them, and where in it the right passages are.

Four sets go through the real pipeline: the bank of examples/ with its test set, and contextual-codebase, squad2 and
scifact in BEIR's layout. The index of each and what the legs find in it are made once and kept in a folder.
"""

from __future__ import annotations

import pickle
import random
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import refusal
from bank import BANK
from beir import documents, read_lines, read_qrels

from citewell import Document, Index
from citewell.evaluation.placing import holds
from citewell.evaluation.runs import reader_of
from citewell.evaluation.testset import Question, read_testset
from citewell.retrieval.analyser import analyse_query
from citewell.retrieval.floor import best_evidence
from citewell.stores.store import OWNER, Reader, VersionKey
from citewell.types import Chunk

SETS = ("bank", "contextual-codebase", "squad2", "scifact")
DEPTH = 100
SQUAD_QUESTIONS = 400

Lists = Mapping[str, Sequence[tuple[str, float]]]
"""Of each leg the chunks found, best first, with the leg's own scores."""


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question and what was found for it.

    `names` says what each chunk found counts as in a ranking: its document, or the evidence that it holds. `grades`
    has the names that are right; none are where the question has no answer. `cosines` are those of all chunks found,
    whichever leg found them. `evidence` is the floor's, of the passages that a search returns.
    """

    id: str
    kind: str
    text: str
    lists: Lists
    cosines: Mapping[str, float]
    names: Mapping[str, tuple[str, ...]]
    grades: Mapping[str, int]
    evidence: float

    def ranking(self, chunks: Iterable[str]) -> list[str]:
        """What chunks count as, each name once, at its first place."""
        return list(dict.fromkeys(name for chunk in chunks for name in self.names[chunk]))


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """The questions of one set, and of every chunk found for any of them the text that was embedded."""

    name: str
    asked: tuple[Asked, ...]
    texts: Mapping[str, str]

    @property
    def answerable(self) -> tuple[Asked, ...]:
        """The questions that a ranking can be measured on."""
        return tuple(one for one in self.asked if one.grades)


def question_set(name: str, shared: Path, folder: Path) -> QuestionSet:
    """One of `SETS`; what is kept in `folder` is taken from there."""
    kept = folder / f"{name}.pickle"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(pickle.dumps(_made(name, shared / "data" / name, folder / f"{name}-index")))
    found = pickle.loads(kept.read_bytes())  # noqa: S301 - this program's own file
    assert isinstance(found, QuestionSet)
    return found


def _made(name: str, data: Path, place: Path) -> QuestionSet:
    if not place.exists():
        print(f"{name}: indexing", file=sys.stderr, flush=True)
        with Index.create(place) as index:
            index.add(BANK / "documents") if name == "bank" else index.add_documents(list(_documents(name, data)))
    print(f"{name}: searching", file=sys.stderr, flush=True)
    with Index.open(place) as index:
        asked = tuple(_asked(index, *each) for each in _questions(name, data))
        return QuestionSet(name, asked, _texts(index, {chunk for one in asked for chunk in one.names}))


def _documents(name: str, data: Path) -> Iterable[Document]:
    return refusal.documents(data) if name == "squad2" else documents(data)


def _questions(name: str, data: Path) -> Iterator[tuple[Question, Mapping[str, int]]]:
    """Each with the grades of the documents that are right; of the bank's these follow from its evidence."""
    if name == "bank":
        yield from ((question, {}) for question in read_testset(BANK / "testset.jsonl"))
    elif name == "squad2":
        yield from _squad(data)
    else:
        texts = {line["_id"]: line["text"] for line in read_lines(data, "queries.jsonl")}
        for id_, grades in read_qrels(data / "qrels" / "test.tsv").items():
            yield Question(id=id_, question=texts[id_]), grades


def _squad(data: Path) -> Iterator[tuple[Question, Mapping[str, int]]]:
    """A sample of the answerable and of the impossible questions, and half of the answerable ones once more, asked by
    who may not read their article."""
    qrels = read_qrels(data / "qrels" / "test.tsv")
    articles = sorted({refusal.article(line["_id"]) for line in read_lines(data, "corpus.jsonl")})
    made = refusal.questions(data, articles)
    rng = random.Random(0)
    answerable = rng.sample(made["answerable"], SQUAD_QUESTIONS)
    chosen = {question.id for question in answerable}
    for kind, questions in (
        ("answerable", answerable),
        ("impossible", rng.sample(made["impossible"], SQUAD_QUESTIONS)),
        ("absent", [question for question in made["absent"] if question.id in chosen]),
    ):
        for question in questions:
            yield question.model_copy(update={"kind": kind}), qrels[question.id] if kind == "answerable" else {}


def _asked(index: Index, question: Question, grades: Mapping[str, int]) -> Asked:
    who, text = reader_of(question), question.question
    reader, scope = index._store.reader(), index._scope(who, question.as_of, None, index._store.reader())
    vector = index._encoders.embedder.embed_queries([text])[0]
    found = {
        "dense": reader.dense(vector, DEPTH, scope),
        "keyword": reader.keyword(analyse_query(text), DEPTH, scope),
    }
    matches = [match for each in found.values() for match in each]
    vectors = reader.vectors({match.entry_id for match in matches}, scope)
    chunks = reader.chunks({match.chunk_id for match in matches}, scope)
    if question.evidence:
        graded = question.evidence if question.answerable else ()
        grades = {f"evidence-{at}": one.grade for at, one in enumerate(graded)}
        around = _outermost(reader, chunks)
        names = {id_: _evidence(question, around[id_]) for id_ in chunks}
    else:
        names = {id_: (chunk.source.partition(":")[2],) for id_, chunk in chunks.items()}
    return Asked(
        id=question.id,
        kind=question.kind,
        text=text,
        lists={leg: [(match.chunk_id, match.score) for match in each] for leg, each in found.items()},
        cosines={match.chunk_id: float(vectors[match.entry_id] @ vector) for match in matches},
        names=names,
        grades=grades,
        evidence=best_evidence(text, index.search(text, principal=who, as_of=question.as_of)),
    )


def _outermost(reader: Reader, chunks: Mapping[str, Chunk]) -> dict[str, Chunk]:
    """Of each chunk the passage that is read in its place."""
    around, known = dict(chunks), dict(chunks)
    while inner := {chunk.parent_id for chunk in around.values() if chunk.parent_id}:
        known |= reader.chunks(inner - known.keys(), OWNER)
        around = {id_: known[chunk.parent_id] if chunk.parent_id else chunk for id_, chunk in around.items()}
    return around


def _evidence(question: Question, passage: Chunk) -> tuple[str, ...]:
    """As `placing.judged` counts: all the evidence that a passage holds, the best first, or the passage itself."""
    numbers = [at for at, evidence in enumerate(question.evidence) if holds(passage, evidence)]
    best_first = sorted(numbers, key=lambda at: (-question.evidence[at].grade, at))
    return tuple(f"evidence-{at}" for at in best_first) or (passage.id,)


def _texts(index: Index, chunks: Collection[str]) -> dict[str, str]:
    texts: dict[str, str] = {}
    keys = [VersionKey(one.document_id, one.number) for one in index._store.versions() if one.searchable]
    for start in range(0, len(keys), 500):
        for document in index._store.fetch(keys[start : start + 500]):
            texts |= {one.entry.chunk_id: one.entry.text for one in document.entries}
    return {chunk: texts[chunk] for chunk in chunks}
