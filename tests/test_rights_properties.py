"""Whatever the documents, rights, days, filters and settings: a principal finds what an index that holds only what it
may read would give, and nothing tells it that there is more.

A few corpora by default; `CITEWELL_RIGHTS_EXAMPLES=300` tries so many.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citewell import Index, Principal, Settings
from citewell.answering import ALIKE, NO_DOCUMENT, NO_DOCUMENT_THEN
from citewell.errors import CitewellError, UnknownId
from citewell.filters import And, Contains, Equal, Filter, In, Not, Or, Range, matches
from citewell.loading import document_id
from citewell.loading.parsed import TextBuilder
from citewell.models.encoding import Encoders
from citewell.models.fingerprint import canaries
from citewell.models.token_vectors import CODEC
from citewell.retrieval.analyser import ANALYSER_VERSION
from citewell.retrieval.near_duplicates import first_of_alike
from citewell.retrieval.query import Query
from citewell.retrieval.reranking import rerank_by
from citewell.retrieval.search import search
from citewell.settings import Loading
from citewell.stores.folder import FolderHome
from citewell.stores.store import IndexedDocument, MadeWith, Reader, Scope, VersionKey
from citewell.types import EVERYONE, Answer, Document, ElementKind, FieldValue, Hit, Rights, Trace, Trust
from tests.clock import at
from tests.remembering_embedder import remembering
from tests.scripted_sparse import scripted_sparse

EXAMPLES = int(os.environ.get("CITEWELL_RIGHTS_EXAMPLES", "2"))

# Names that a query language, a list or a comparison may trip over, and such as look like `everyone`.
GROUPS = (EVERYONE, "legal", "b'; --", '"c"', "Everyone", "everyone ", "LEGAL", "ä\n*", "")
SENTENCES = (
    "A customer has 120 days to dispute a card payment.",
    "The branch opens at nine and closes at five.",
    "Code R-17 means that fraud is suspected.",
    "A card that is lost must be reported at once.",
    "The fee for a payment abroad is two per cent.",
    "Disputes are answered within ten days.",
    "Nobody may tell a customer the code word Meadow.",
    "The vault is closed at weekends.",
)
ROWS = ("R-17 | fraud suspected", "R-18 | card lost", "R-19 | fee unpaid", "R-20 | branch closed")
QUESTIONS = (
    "How many days does a customer have to dispute a card payment?",
    "What does code R-17 mean?",
    "fee payment abroad",
    "When is the vault closed?",
    "code word",
    "zebra",
)
FIELDS = {"department": "text", "amount": "number", "day": "date", "tags": "list"}
CAME = [datetime(2026, 1, day, 12, tzinfo=UTC) for day in (1, 11, 21)]
NOW = datetime(2026, 2, 1, 12, tzinfo=UTC)
DAYS = [date(2025, 12, 31) + timedelta(days=5 * step) for step in range(7)]

groups = st.frozensets(st.sampled_from(GROUPS), max_size=3)
days = st.none() | st.sampled_from(DAYS)


@dataclass(frozen=True, slots=True)
class Said:
    """What one version of a document is to be."""

    parts: tuple[tuple[ElementKind, str], ...]
    groups: frozenset[str]
    valid_from: date | None
    valid_to: date | None
    fields: dict[str, FieldValue]
    trust: Trust
    lost: str

    def document(self, name: str) -> Document:
        builder = TextBuilder(Loading())
        for kind, text in self.parts:
            builder.add(kind, text)
        parsed = builder.build(f"Notes on {name}")
        first, last = self.valid_from, self.valid_to
        return Document(
            id=document_id(f"bank:{name}"),
            content_hash=hashlib.sha256(parsed.text.encode()).hexdigest(),
            title=parsed.title,
            own_title=parsed.title,
            source=f"bank:{name}",
            version="",
            text=parsed.text,
            elements=parsed.elements,
            rights=Rights(self.groups),
            valid_from=first,
            valid_to=last if first is None or last is None or first <= last else None,
            language="en",
            trust=self.trust,
            lost=self.lost,
            fields=self.fields,
        )


paragraphs = st.tuples(st.just(ElementKind.PARAGRAPH), st.lists(st.sampled_from(SENTENCES), min_size=1).map(" ".join))
headings = st.tuples(st.just(ElementKind.HEADING), st.sampled_from(("Cards", "Branches", "Codes")))
tables = st.tuples(st.just(ElementKind.TABLE), st.lists(st.sampled_from(ROWS), min_size=1).map("\n".join))
fields = st.fixed_dictionaries(
    {},
    optional={
        "department": st.sampled_from(("legal", "cards", "it's")),
        "amount": st.sampled_from((0.0, 1.5, -3.0)),
        "day": st.sampled_from(DAYS),
        "tags": st.sampled_from((("x",), ("x", "y'"))),
    },
)
said = st.builds(
    Said,
    parts=st.lists(paragraphs | headings | tables, min_size=1, max_size=4).map(tuple),
    groups=groups,
    valid_from=days,
    valid_to=days,
    fields=fields,
    trust=st.sampled_from(Trust),
    lost=st.sampled_from(("", "", "Page 3 is a picture.")),
)


@st.composite
def histories(draw: st.DrawFn) -> list[Said | None]:
    """What a document is at each of the days in `CAME`, None where nothing new came. Often only the rights change."""
    versions: list[Said | None] = [draw(said)]
    for _ in CAME[1:]:
        last = next(one for one in reversed(versions) if one is not None)
        versions.append(draw(st.none() | said | st.builds(replace, st.just(last), groups=groups)))
    return versions


leaf: st.SearchStrategy[Filter] = st.sampled_from(
    (
        Equal("department", "legal"),
        In("department", ("cards", "it's")),
        Range("amount", least=0),
        Range("day", most=DAYS[3]),
        Contains("tags", "y'"),
        Equal("tags", "x"),
        Equal("trust", Trust.APPROVED),
        Contains("title", "on d1"),
        Equal("language", "en"),
    )
)
conditions = st.recursive(
    leaf,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        .map(tuple)
        .flatmap(lambda parts: st.sampled_from((And(parts), Or(parts), Not(parts[0]))))
    ),
    max_leaves=4,
)
chunking = st.fixed_dictionaries(
    {
        "method": st.sampled_from(("structure", "fixed")),
        "size": st.sampled_from((20, 60)),
        "overlap": st.just(0),
        "parents": st.sampled_from((0, 120)),
        "table_rows": st.booleans(),
        "summaries": st.booleans(),
    }
)
storage = st.fixed_dictionaries(
    {"exact_up_to": st.sampled_from((0, 20_000)), "quantise": st.sampled_from(("none", "int8", "binary"))}
)
retrieval = st.fixed_dictionaries(
    {
        "legs": st.sampled_from((("dense",), ("keyword",), ("sparse",), ("dense", "keyword"), ("dense", "sparse"))),
        "diversity": st.sampled_from((0, 0, 0.5)),
        "rrf_k": st.sampled_from((1, 5, 60)),
        "candidates": st.sampled_from((1, 3, 50)),
        "keep": st.integers(1, 12),
        "near_duplicates": st.sampled_from(("all", "all", "first")),
        "floor": st.sampled_from(("off", "calibrated")),
    }
)
asked = st.tuples(st.sampled_from(QUESTIONS), retrieval)
views = st.tuples(groups, days, st.none() | conditions, st.lists(asked, min_size=2, max_size=4))


@dataclass(frozen=True, slots=True)
class Corpus:
    """An index, and each of its versions with the groups that may read it by the rules, not by what is stored."""

    index: Index
    versions: Sequence[tuple[IndexedDocument, frozenset[str]]]

    def readable(self, principal: Principal) -> list[IndexedDocument]:
        return [one for one, readers in self.versions if readers & principal.readable]


def narrowed(before: frozenset[str], now: frozenset[str]) -> frozenset[str]:
    if EVERYONE in before or EVERYONE in now:
        return now if EVERYONE in before else before
    return before & now


def readers_of(history: Sequence[Said | None]) -> list[frozenset[str]]:
    """Who may read each version: who could when it was last stored, as far as they may read the document now."""
    found: list[tuple[str, frozenset[str]]] = []
    for one in filter(None, history):
        text = one.document("any").text
        if found and found[-1][0] == text:
            found.pop()
        found = [*((before, narrowed(readers, one.groups)) for before, readers in found), (text, one.groups)]
    return [readers for _, readers in found]


@contextmanager
def indexed(corpus: Sequence[Sequence[Said | None]], tree: Settings) -> Iterator[Corpus]:
    with tempfile.TemporaryDirectory() as folder, made(Path(folder) / "all", tree) as index:
        for place, now in enumerate(CAME):
            come = [(f"d{n}", history[place]) for n, history in enumerate(corpus)]
            with at(now):
                index.add_documents([one.document(name) for name, one in come if one is not None])
        versions = []
        for n, history in enumerate(corpus):
            readers = readers_of(history)
            keys = [VersionKey(document_id(f"bank:d{n}"), number + 1) for number in range(len(readers))]
            versions += list(zip(index._store.fetch(keys), readers, strict=True))
        with at(NOW):
            yield Corpus(index, versions)


def made(path: Path, tree: Settings) -> Index:
    embedder = remembering()
    home = FolderHome(path, tree.storage)
    home.create(MadeWith(embedder.identity, canaries(embedder), ANALYSER_VERSION, CODEC, scripted_sparse().identity))
    return Index(home, Encoders(embedder, scripted_sparse()), tree)


@contextmanager
def holding(versions: Sequence[IndexedDocument], like: Index) -> Iterator[Index]:
    """An index of just these."""
    with tempfile.TemporaryDirectory() as folder, made(Path(folder) / "part", like.settings) as part:
        with part._upkeep.writing() as store:
            store.declare(like.fields)
            store.commit(versions)
        yield part


def is_found(one: IndexedDocument, day: date, where: Filter | None) -> bool:
    standing, document = one.standing, one.document
    about: dict[str, FieldValue] = {
        **document.fields,
        "source": document.source,
        "title": document.title,
        "version": document.version,
        "language": document.language,
        "trust": document.trust.value,
    }
    return (
        standing.searchable
        and (standing.in_force_from or date.min) <= day <= (standing.in_force_to or date.max)
        and (where is None or matches(where, about))
    )


def with_retrieval(index: Index, given: dict[str, Any]) -> Index:
    models = {"sparse": "onnx:scripted"}  # not opened: the index is given its encoders
    tree = Settings.model_validate({**index.settings.model_dump(), "models": models, "retrieval": given})
    return Index(index._home, Encoders(remembering(), scripted_sparse()), tree)


MANY = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


@MANY
@given(st.lists(histories(), min_size=3, max_size=9), chunking, storage, st.lists(views, min_size=2, max_size=3))
def test_a_principal_finds_what_an_index_of_only_what_it_may_read_has(
    corpus: list[list[Said | None]], cut: dict[str, Any], kept: dict[str, Any], seen: list[Any]
) -> None:
    tree = Settings.model_validate({"chunking": cut, "storage": kept, "metadata": {"fields": FIELDS}})
    with indexed(corpus, tree) as made_of:
        for member_of, day, where, questions in seen:
            principal = Principal("x", member_of)
            readable = made_of.readable(principal)
            in_scope = [one for one in readable if is_found(one, day or NOW.date(), where)]
            with holding(in_scope, made_of.index) as part:
                scope = Scope(principal.readable, day or NOW.date(), where)
                same_lists(made_of.index, part, principal, scope)
                for question, how in questions:
                    same_hits(question, with_retrieval(made_of.index, how), with_retrieval(part, how), principal, scope)
            nothing_else_is_told(made_of, readable, principal)


def same_lists(whole: Index, part: Index, principal: Principal, scope: Scope) -> None:
    """What is listed and counted."""
    everything = Scope(None, scope.on)
    documents = whole.documents(principal=principal, as_of=scope.on, where=scope.where)
    one, other = whole._store.reader(), part._store.reader()
    assert list(documents) == other.documents(everything)
    assert one.counts(scope) == other.counts(everything)
    assert one.lossy(scope) == other.lossy(everything)


def same_hits(question: str, whole: Index, part: Index, principal: Principal, scope: Scope) -> None:
    """What is found. How common a word is counts all that is stored, see docs/security.md: the keyword leg finds the
    same, in an order of its own. An index of vectors may round in another way, and so order what is equally near."""
    legs, exact = whole.settings.retrieval.legs, whole.settings.storage.exact_up_to > 0
    same = legs == ("sparse",) or (exact and "keyword" not in legs)
    grouped = whole.settings.retrieval.near_duplicates == "first" and not same  # which is first, the order says
    for k in (whole.settings.retrieval.keep, 500):
        hits = whole.search(question, k=k, principal=principal, as_of=scope.on, where=scope.where)
        expected = all_hits(question, k, scope.on, part)
        assert len(hits) == len(expected) or grouped
        assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
        if same:
            assert hits == expected
        elif legs == ("dense",):
            assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in expected], abs=1e-6)
        if k == 500 and not grouped:
            assert passages(hits) == passages(expected)
        if "dense" in legs and exact:
            assert ranks(hits, ranks(expected)) == ranks(expected, ranks(hits))
        known = {chunk.id for chunk in chunks_of(part._store.reader(), scope.on)}
        assert {hit.chunk.id for hit in hits} | passages(hits) <= known
    answers = [
        index.ask(question, principal=principal, as_of=scope.on, where=where)
        for index, where in ((whole, scope.where), (part, None))
    ]
    if answers[1].reason == NO_DOCUMENT and answers[0].reason == NO_DOCUMENT_THEN:
        # A part that is empty says so; in the whole there are documents of other days or fields for the same reader.
        assert whole.readable([one.id for one in whole.stored(texts=False)], principal=principal)
        answers[1] = replace(answers[1], reason=NO_DOCUMENT_THEN)
    if same:
        assert untimed(answers[0]) == untimed(answers[1])
    assert {citation.chunk_id for citation in answers[0].citations} <= known
    assert answers[0].trace[0].count_out == answers[1].trace[0].count_out


def all_hits(question: str, k: int, day: date | None, part: Index) -> tuple[Hit, ...]:
    """As the owner, who is kept from nothing."""
    grouped = part.settings.retrieval.near_duplicates == "first"
    hits = search(
        Query(question),
        ALIKE * k if grouped else k,
        Scope(None, day),
        store=part._store.reader(),
        encoders=Encoders(remembering(), scripted_sparse()),
        settings=part.settings.retrieval,
        trace=Trace(),
        rerank=rerank_by(None, remembering(), part.settings.retrieval),
    )
    return first_of_alike(hits, k) if grouped else hits


def chunks_of(reader: Reader, day: date | None) -> list[Any]:
    scope = Scope(None, day)
    return [chunk for one in reader.documents(scope) for chunk in reader.document_chunks(one.id, scope)]


def passages(hits: Collection[Hit]) -> set[str]:
    return {hit.passage.id for hit in hits}


def ranks(hits: Collection[Hit], also_in: Collection[str] | None = None) -> dict[str, int]:
    """In the dense leg, of the chunks found there (and among others)."""
    found = {hit.chunk.id: hit.lists["dense"] for hit in hits if "dense" in hit.lists}
    return {name: rank for name, rank in found.items() if also_in is None or name in also_in}


def untimed(answer: Answer) -> tuple[Answer, list[tuple[str, int, int]]]:
    return replace(answer, trace=()), [(step.name, step.count_in, step.count_out) for step in answer.trace]


def nothing_else_is_told(corpus: Corpus, readable: Sequence[IndexedDocument], principal: Principal) -> None:
    """What a principal may not read looks like what does not exist."""
    index = corpus.index
    unknown = told(index, "nothing", principal)
    seen = {one.key for one in readable}
    for one, _ in corpus.versions:
        shown, chunk = told(index, one.document.id, principal), one.chunks[-1]
        if one.standing.current and one.key in seen:
            assert shown == one.document
            assert list(index.chunks(one.document.id, principal=principal)) == list(one.chunks)
        elif one.standing.current:
            assert shown == told(index, one.document.source, principal) == unknown
            assert index.chunks(one.document.id, principal=principal) == ()
        found = one.standing.searchable and one.key in seen
        assert told(index, chunk.id, principal) == (chunk if found else unknown)
    chunks = {chunk.id: chunk for one in readable if one.standing.searchable for chunk in one.chunks}
    every = [chunk.id for one, _ in corpus.versions for chunk in one.chunks]
    assert index._store.reader().chunks(every, Scope(principal.readable)) == chunks


def told(index: Index, name: str, principal: Principal) -> object:
    """What is shown of a name, or what is said instead, but for the name itself."""
    try:
        return index.show(name, principal=principal)
    except UnknownId as error:
        return said_by(error, name)


def said_by(error: CitewellError, name: str) -> tuple[str, str]:
    return error.message.replace(repr(name), "it"), error.remedy.replace(name, "it")
