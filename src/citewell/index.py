"""The index: both pipelines, from top to bottom.

indexing     discover - load - chunk - enrich - analyse - embed - commit        Index.add
answering    queries - search (legs, fuse, re-rank) - floor - answer - cite     Index.ask
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime
from difflib import get_close_matches
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from citewell import clock, drift
from citewell.answer_memory import AnswerMemory, Question
from citewell.answering import Asking, Models
from citewell.credentials import Credentials
from citewell.enrichment import Enricher
from citewell.errors import IndexFormatError, IndexingStopped, PathError, QuestionError, ServiceError
from citewell.filters import FieldType, Filter, check
from citewell.history import analyse_again
from citewell.ingest import Ingest
from citewell.intake import Intake, emptied
from citewell.journal import Journal, OnProgress
from citewell.loading import Discovered, discover, source_at
from citewell.loading.parsing import check_plugins
from citewell.migration import Gate, Migration, migrate, roll_back, with_embedder
from citewell.models import configured
from citewell.models.counted import CountedLLM
from citewell.models.embedder import Embedder
from citewell.models.encoding import Encoders
from citewell.models.fingerprint import canaries, require_same_space
from citewell.models.query_memory import QueryMemory
from citewell.models.reranker import Scores
from citewell.models.token_vectors import codec_for
from citewell.question import checked, readable
from citewell.retrieval.analyser import ANALYSER_VERSION
from citewell.retrieval.floor import floor_of
from citewell.retrieval.scoring import scores_of
from citewell.retrieval.web import web_search
from citewell.settings import Queries, Settings
from citewell.stores.home import Calibration, Home
from citewell.stores.homes import folder_at, home_at
from citewell.stores.newest import of_newest
from citewell.stores.store import OWNER, MadeWith, Reader, Scope, Store, VersionKey
from citewell.types import (
    Answer,
    Chunk,
    Document,
    Drift,
    Ending,
    FileReport,
    Floor,
    Hit,
    IndexReport,
    Listener,
    Principal,
    Receipt,
    Status,
    Trace,
    Turn,
    Usage,
    Version,
)
from citewell.upkeep import Upkeep, ids_of, unknown

if TYPE_CHECKING:
    from citewell.models.llm import LLM

T = TypeVar("T")


class Index:
    """Documents that can be asked. `Index.open(path)` for one that exists, `Index.create(path)` for a new one.

    Use it from any number of threads; every call that reads takes the newest committed state and keeps to it. Each of
    `add`, `search` and `ask` has an async twin that runs the same code in a worker thread: `aadd`, `asearch`, `aask`.
    """

    def __init__(self, home: Home, encoders: Encoders, settings: Settings, llm: LLM | None = None) -> None:
        """Use `open` or `create`."""
        self.settings = settings
        self._home = home
        self._encoders = encoders
        self._queries = QueryMemory(encoders, settings.cache.queries)
        self._answers = AnswerMemory(settings.cache.answers)
        self._llm = llm
        self._reranker = configured.reranker(settings.models)
        self._web = web_search(settings.security)
        self._same_space: set[int] = set()

    @classmethod
    def create(cls, path: str | Path, *, settings: Settings | None = None) -> Index:
        """Make an empty index at `path`: a folder that does not exist yet or is empty, or the URL of a database.

        Raises:
            PathError: there is something at `path` already.
            PermissionRefused: it cannot be written to.
        """
        settings = settings or Settings()
        encoders = configured.encoders(settings.models)
        embedder, sparse = encoders.embedder, encoders.sparse_identity
        llm = configured.llm(settings.models)  # what is refused makes no index
        web_search(settings.security)
        home = home_at(path, settings.storage)
        codec = codec_for(embedder, keep=settings.storage.token_vectors)
        home.create(MadeWith(embedder.identity, canaries(embedder), ANALYSER_VERSION, codec, sparse))
        return cls(home, encoders, settings, llm)

    @classmethod
    def open(cls, path: str | Path, *, settings: Settings | None = None, llm: LLM | None = None) -> Index:
        """Open an index to read and, when `add` or `delete` is called, to write. Opening writes nothing.

        `llm` answers in the place of the language model that the settings name.

        Raises:
            IndexNotFound: there is none.
            IndexFormatError: it was made by another version, or is damaged.
        """
        settings = settings or Settings()
        home = home_at(path, settings.storage)
        home.open(home.pointer().current)
        return cls(home, configured.encoders(settings.models), settings, llm or configured.llm(settings.models))

    @property
    def embedder(self) -> Embedder:
        """What reads its passages and queries."""
        return self._encoders.embedder

    @property
    def location(self) -> str:
        """Its folder, or its URL without the password."""
        return self._home.location

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._home.close()

    # Indexing

    def add(self, *paths: str | Path, on_progress: OnProgress | None = None) -> IndexReport:
        """Index files and folders, so that the index agrees with them: new, changed and vanished files are seen.

        A file that cannot be read is reported and does not stop the rest. What is committed stays, whatever happens
        later in the run; the next run embeds only what is missing. `on_progress` is called from a second thread too,
        never from both at once.

        Raises:
            PathError: a path does not exist, or there is nothing to index at any of them.
            SettingsError: an access file is wrong; nothing is indexed then.
            FingerprintMismatch: the embedder is not the one that made the index.
            IndexLocked: another process is writing.
            IndexingStopped: a model's endpoint failed; it holds the report.
        """
        begin, journal, llm = time.perf_counter(), Journal(on_progress), self._counted_llm()
        named = [Path(path) for path in paths]
        found = self._discovered(named)
        check_plugins(self.settings.loading)
        credentials = Credentials.load()
        with self._upkeep.writing() as store:
            self._make_ready(store)
            history = self._upkeep.history_of(store)
            intake = Intake(store, self.settings, journal, history.today, credentials)
            run = Ingest(store, self._encoders, self._enricher(llm), self.settings, journal, history)
            with _told(journal, [file.source for file in found.files], begin, llm, found.ignored):
                run.commit(run.embed(run.analyse(run.enrich(run.chunk(intake.load(found, named))))))
            gone = intake.vanished()
            ended = [*intake.expired(gone), *store.expired(history.today).values()]
            run.remove(ended, Ending.EXPIRED)
            run.remove([line for line in gone if line not in ended], Ending.DELETED)
            journal.warnings += emptied(named, found, gone, self.settings.storage.keep_deleted_days)
        return journal.report(time.perf_counter() - begin, _used(llm), found.ignored)

    def add_documents(self, documents: Sequence[Document], *, on_progress: OnProgress | None = None) -> IndexReport:
        """Index documents that do not come from files; one with the id of a stored one replaces it.

        Raises:
            FingerprintMismatch: the embedder is not the one that made the index.
            IndexLocked: another process is writing.
            IndexingStopped: a model's endpoint failed; it holds the report.
        """
        begin, journal, llm = time.perf_counter(), Journal(on_progress), self._counted_llm()
        with self._upkeep.writing() as store:
            self._make_ready(store)
            history = self._upkeep.history_of(store)
            intake = Intake(store, self.settings, journal, history.today)
            run = Ingest(store, self._encoders, self._enricher(llm), self.settings, journal, history)
            with _told(journal, [document.source for document in documents], begin, llm):
                run.commit(run.embed(run.analyse(run.enrich(run.chunk(intake.take(documents))))))
        return journal.report(time.perf_counter() - begin, _used(llm))

    # Going back and taking away. The owner's calls.

    def delete(self, name: str) -> Receipt:
        """Take a document out of every leg, by id, source URI or path, with the files inside it, or all below a folder.

        It can be brought back with `rollback` for as long as `keep_deleted_days` says. Its file stays where it is.

        Raises:
            UnknownId: there is no such document.
            IndexLocked: another process is writing.
        """
        return self._upkeep.delete(name)

    def purge(self, name: str) -> Receipt:
        """Remove every version of a document from every file of the index, in all its generations, for good.

        By id, source URI or path, deleted or not, with the files inside it, or all below a folder.

        Raises:
            UnknownId: nothing of it is stored.
            IndexLocked: another process is writing.
        """
        try:
            return self._upkeep.purge(name)
        finally:
            self._answers.forget()  # afterwards: another thread may ask while this one waits for the lock

    def history(self, name: str) -> tuple[Version, ...]:
        """Every version of a document that is stored, oldest first, by id, source URI or path.

        Raises:
            UnknownId: there is none.
        """
        return self._upkeep.versions(name)

    def migrate(
        self, embedder: str | None = None, *, gate: Gate | None = None, on_progress: OnProgress | None = None
    ) -> Migration:
        """Change to another embedder (that of the settings): all texts are embedded anew beside the index, then it
        switches in one step. What was is kept to go back to; see `migration.migrate`.

        Raises:
            Refused: the gate found the new one worse.
            IndexLocked: another process is writing.
        """
        models = with_embedder(self.settings.models, embedder) if embedder else self.settings.models
        done = migrate(
            self._home,
            configured.encoders(models),
            models,
            token_vectors=self.settings.storage.token_vectors,
            gate=gate,
            on_progress=on_progress,
        )
        return self._moved(done)

    def migrate_back(self, *, on_progress: OnProgress | None = None) -> Migration:
        """Go back to the embedder before the last migration, with all that was committed since."""
        return self._moved(roll_back(self._home, self.settings.models, on_progress=on_progress))

    def deleted(self) -> tuple[Version, ...]:
        """The documents that are no longer there and can be brought back, each as its last version, by source."""
        return self._upkeep.deleted()

    def kept_until(self, version: Version) -> date | None:
        """The day until which a version that is only kept can be brought back; None for one that is found."""
        return self._upkeep.kept_until(version)

    def rollback(self, name: str, number: int | None = None) -> tuple[Version, ...]:
        """Bring back an earlier version of a document, or a deleted one, as its newest; by default the last before now.

        With a deleted one come the files inside it that were deleted with it; of a folder, all that was deleted below.
        The versions that are the newest now are returned, by source: the document before what lies in it.

        It has the rights that the document has now, as far as the version had them. What its file holds now is not
        taken in again until the file changes. Nothing is embedded again.

        Raises:
            UnknownId: there is no such document or version.
            IndexLocked: another process is writing.
        """
        return self._upkeep.roll_back(name, number)

    def name_state(self, state: str) -> datetime:
        """Give the index as it is now a name, to roll back to.

        Raises:
            UsageError: the name is taken or no name.
            IndexLocked: another process is writing.
        """
        return self._upkeep.name_state(state)

    def drop_state(self, state: str) -> datetime:
        """Forget a named state, and only the name: no document changes. Returns when it was.

        Raises:
            UnknownId: there is no such state.
            IndexLocked: another process is writing.
        """
        return self._upkeep.drop_state(state)

    def states(self) -> dict[str, datetime]:
        """The named states and when they were."""
        return dict(self._home.pointer().states)

    def rollback_to(self, state: str) -> tuple[FileReport, ...]:
        """Bring every document back to what it was in a named state, in one step, as new versions. Rights stay.

        Raises:
            UnknownId: there is no such state.
            IndexLocked: another process is writing.
        """
        return self._upkeep.roll_all_back(state)

    def set_floor(
        self,
        least: float | None,
        *,
        answerable: int,
        unanswerable: int,
        refusal_precision: float | None,
        refusal_recall: float,
    ) -> Calibration:
        """Keep a floor that was fitted with this embedder; see `evaluation.calibration`, and `Calibration` for what
        the figures are. It holds until the next one, or until the index is migrated to another embedder.

        Raises:
            ValueError: `least` is no finite number, nor None.
            FingerprintMismatch: the embedder is not the one that made the index.
            IndexLocked: another process is writing.
        """
        if least is not None and not math.isfinite(least):
            raise ValueError(f"{least} is no floor")
        with self._home.writing():
            generation, store = self._newest()
            self._require_same_embedder(generation, store)
            calibration = Calibration(
                least=least,
                generation=generation,
                embedder=store.made_with.embedder,
                answerable=answerable,
                unanswerable=unanswerable,
                refusal_precision=refusal_precision,
                refusal_recall=refusal_recall,
                made=clock.today(),
            )
            self._home.switch(replace(self._home.pointer(), calibration=calibration))
        return calibration

    # Answering

    def ask(
        self,
        question: str,
        *,
        turns: Sequence[Turn] = (),
        principal: Principal | None = None,
        as_of: date | None = None,
        where: Filter | None = None,
        listener: Listener | None = None,
    ) -> Answer:
        """A cited answer from the documents that `principal` may read and that are in force on `as_of` (today).

        `turns` are those of the conversation before, oldest first. Where nothing found is near enough to the question,
        the answer abstains and says why. `listener` hears of each step, and of what a language model writes while it
        writes it; that is checked afterwards, and where a sentence may be struck, or with `generation.reflect`, it is
        not told before.

        Raises:
            QuestionError: the question is empty or too long.
            FilterError: `where` names an unknown field, or a value that it cannot have.
            FingerprintMismatch: the embedder is not the one that made the index.
            ServiceError: the language model's endpoint failed.
        """
        asked = checked(question)
        before = tuple(Turn(readable(turn.question), readable(turn.answer)) for turn in turns)
        floors: dict[Reader, Floor] = {}

        def to_ask() -> Reader:
            generation, store = self._newest()
            self._require_same_embedder(generation, store)
            reader = store.reader()
            # Of the generation that is searched: another process may switch to the next meanwhile.
            floors[reader] = self._floor(generation, store)
            return reader

        return of_newest(
            to_ask,
            lambda reader: self._answer(
                asked, before, self._asking(reader, principal, as_of, where, listener), floors[reader]
            ),
        )

    def search(
        self,
        query: str,
        *,
        k: int | None = None,
        principal: Principal | None = None,
        as_of: date | None = None,
        where: Filter | None = None,
    ) -> tuple[Hit, ...]:
        """The k (setting `keep`) best passages, best first, that `principal` may read and that are in force on `as_of`.

        Raises:
            QuestionError: the query is empty or too long, or k is not positive.
            FilterError: `where` names an unknown field, or a value that it cannot have.
            FingerprintMismatch: the embedder is not the one that made the index.
        """
        k = self.settings.retrieval.keep if k is None else k
        if k < 1:
            raise QuestionError(f"k is {k}.", remedy="Ask for at least one passage.")
        asked = checked(query)
        return of_newest(
            self._to_search,
            lambda reader: self._asking(reader, principal, as_of, where).search(asked, k),
        )

    def ranked(
        self, query: str, leg: str, k: int, *, principal: Principal | None = None, as_of: date | None = None
    ) -> tuple[Hit, ...]:
        """The k best passages of one leg alone: neither joined nor re-ranked, of the query as it stands.

        Raises:
            QuestionError, FingerprintMismatch: as `search`.
        """
        retrieval = self.settings.retrieval.model_copy(update={"legs": (leg,), "rerank": False})
        alone = self.settings.model_copy(update={"retrieval": retrieval, "queries": Queries(rewrite=False)})
        asked, models = checked(query), Models(self._encoders, None, None)
        return of_newest(
            self._to_search,
            lambda reader: Asking(reader, self._scope(principal, as_of, None, reader), alone, models).search(asked, k),
        )

    def rerank(self, query: str, texts: Sequence[str]) -> Scores:
        """How well each of some texts, which need not be of this index, answers a query: see `retrieval.scoring`.

        Raises:
            QuestionError: the query is empty or too long.
            ServiceError: the endpoint of a model failed.
        """
        reranker = self._reranker or configured.listwise(self.settings.models, self._counted_llm())
        return scores_of(checked(query), texts, self._encoders.embedder, reranker)

    def expanded(self, query: str) -> tuple[tuple[str, float], ...]:
        """The words that the sparse leg searches for, its own among them, with their weights, the heaviest first; ()
        where there is no sparse encoder.

        Raises:
            QuestionError: the query is empty or too long.
        """
        sparse = self._encoders.sparse
        if sparse is None:
            return ()
        made = sparse.encode_query(checked(query))
        words = zip(sparse.words(made.terms.tolist()), made.weights.tolist(), strict=True)
        return tuple(sorted(words, key=lambda word: (-word[1], word[0])))

    async def aadd(self, *paths: str | Path, on_progress: OnProgress | None = None) -> IndexReport:
        return await asyncio.to_thread(self.add, *paths, on_progress=on_progress)

    async def aask(
        self,
        question: str,
        *,
        turns: Sequence[Turn] = (),
        principal: Principal | None = None,
        as_of: date | None = None,
        where: Filter | None = None,
        listener: Listener | None = None,
    ) -> Answer:
        return await asyncio.to_thread(
            self.ask, question, turns=turns, principal=principal, as_of=as_of, where=where, listener=listener
        )

    async def asearch(
        self,
        query: str,
        *,
        k: int | None = None,
        principal: Principal | None = None,
        as_of: date | None = None,
        where: Filter | None = None,
    ) -> tuple[Hit, ...]:
        return await asyncio.to_thread(self.search, query, k=k, principal=principal, as_of=as_of, where=where)

    # Looking

    def documents(
        self, *, principal: Principal | None = None, as_of: date | None = None, where: Filter | None = None
    ) -> tuple[Document, ...]:
        """The documents that `principal` may read and that are in force, by source, without their text."""
        return self._of_newest(lambda reader: tuple(reader.documents(self._scope(principal, as_of, where, reader))))

    @property
    def fields(self) -> Mapping[str, FieldType]:
        """The metadata fields that `where` may name, beside those that every document has."""
        return self._of_newest(lambda reader: reader.fields)

    def show(self, name: str, *, principal: Principal | None = None, as_of: date | None = None) -> Document | Chunk:
        """A document, by id, source URI, link or path, or a chunk by id: the current version, in force or not.

        With `as_of`, the version that was in force on that day.

        Raises:
            UnknownId: there is none, or `principal` may not read it; the two look the same.
        """
        scope = Scope(self._principal(principal).readable, as_of)

        def find(reader: Reader) -> Document | Chunk | None:
            ids = ids_of(name)
            documents = (reader.document(each, scope) for each in ids)
            return next(filter(None, documents), None) or reader.chunks(ids[:1], scope).get(ids[0])

        found = self._of_newest(find)
        if found is None:
            raise unknown(name)
        return found

    def chunks(
        self, document_id: str, *, principal: Principal | None = None, as_of: date | None = None
    ) -> tuple[Chunk, ...]:
        """A document's chunks in order, as `show` finds it; () where there is no such document for `principal`."""
        scope = Scope(self._principal(principal).readable, as_of)
        return tuple(self._of_newest(lambda reader: reader.document_chunks(document_id, scope)))

    def readable(self, documents: Collection[str], *, principal: Principal | None = None) -> frozenset[str]:
        """Of these ids, the documents that `principal` may read now, in force or not."""
        reader = self._principal(principal)
        return frozenset(one for one, version in self.current(documents).items() if version.rights.allows(reader))

    def current(self, documents: Collection[str]) -> dict[str, Version]:
        """The current versions of documents, by id, for those that are there. The owner's call."""
        return {version.document_id: version for version in self._store.versions(documents) if version.current}

    def unknown_groups(self, groups: Collection[str], *, as_of: date | None = None) -> dict[str, str]:
        """Of these groups, those that no document is for, nor was on the day `as_of`; each with the one most like it
        that some document is for, or "". The owner's call: it tells of groups."""
        days = (None, as_of) if as_of is not None else (None,)
        scopes = {group: [Scope(frozenset({group}), day) for day in days] for group in dict.fromkeys(groups)}
        unknown = self._of_newest(
            lambda reader: [g for g, those in scopes.items() if not any(reader.counts(one).documents for one in those)]
        )
        there = {group for line in self._store.ledger().values() for group in line.rights.groups} if unknown else set()
        return {group: next(iter(get_close_matches(group, there, 1)), "") for group in unknown if there}

    def stored(self, *, texts: bool = True) -> tuple[Document, ...]:
        """Every current document, in force or not, by source, whole or without text. The owner's call."""

        def everything(reader: Reader) -> tuple[Document, ...]:
            listed = tuple(reader.documents(OWNER))
            whole = (reader.document(each.id, OWNER) for each in listed) if texts else ()
            return tuple(filter(None, whole)) if texts else listed

        return self._of_newest(everything)

    def replaced(self) -> tuple[Document, ...]:
        """The past versions that are found by their day, whole, by source and the oldest first. The owner's call."""
        store = self._store
        past = [version for version in store.versions() if version.searchable and not version.current]
        return tuple(one.document for one in store.fetch([VersionKey(one.document_id, one.number) for one in past]))

    def status(self) -> Status:
        """The index in numbers. The owner's call: it counts what single readers may not see."""
        pointer, store = self._home.pointer(), self._store
        counts, made_with = self._of_newest(lambda reader: reader.counts(OWNER)), store.made_with
        return Status(
            path=self.location,
            documents=counts.documents,
            chunks=counts.chunks,
            entries=counts.entries,
            embedder=made_with.embedder.name,
            analyser=made_with.analyser,
            generation=pointer.current,
            created=pointer.created,
            bytes_on_disk=self._home.bytes_on_disk(),
            floor=self.floor,
            past_versions=len(store.versions()) - counts.documents,
            sparse=made_with.sparse,
            drift=self.drift(),
        )

    @property
    def floor(self) -> Floor:
        """The one in force."""
        return self._floor(*self._newest())

    def drift(self) -> tuple[Drift, ...]:
        """The settings that are other now than when the index and its documents were made. The owner's call."""
        store, settings = self._store, self.settings
        lines = store.ledger().values()
        of_index = drift.of_index(store.made_with, settings, self._encoders, len(lines))
        return (*of_index, *drift.of_documents(lines, settings))

    def _discovered(self, named: Sequence[Path]) -> Discovered:
        try:
            return discover(named, skip=folder_at(self.location), ignore=self.settings.loading.ignore)
        except PathError as error:
            missing = next((path for path in named if not _is_there(path)), None)
            if missing is None or not self._store.ledger([source_at(str(missing))]):
                raise
            raise PathError(
                error.message,
                remedy=f"What was there is still in the index; `citewell delete {missing}` takes it out.",
            ) from None

    def _floor(self, generation: int, store: Store) -> Floor:
        calibration = self._home.pointer().calibration
        return floor_of(self.settings.retrieval.floor, calibration, generation, store.made_with.embedder)

    def _answer(self, question: str, turns: tuple[Turn, ...], asking: Asking, floor: Floor) -> Answer:
        found = self._answers.answer(
            Question(question, turns, asking.scope, floor),
            asking.reader,
            lambda: asking.answer(question, turns, floor),
        )
        if not asking.trace.steps:
            asking.trace.add(*found.trace)  # for its listener: it was remembered
        return found

    def _asking(
        self,
        reader: Reader,
        principal: Principal | None,
        as_of: date | None,
        where: Filter | None,
        listener: Listener | None = None,
    ) -> Asking:
        llm = self._counted_llm()
        reranker = self._reranker or configured.listwise(self.settings.models, llm)
        scope = self._scope(principal, as_of, where, reader)
        models = Models(self._queries.read_for(scope.groups), llm, reranker)
        return Asking(reader, scope, self.settings, models, Trace(listener), self._web)

    def _counted_llm(self) -> CountedLLM | None:
        return CountedLLM(self._llm, configured.llm_price(self.settings.models)) if self._llm is not None else None

    def _enricher(self, llm: LLM | None) -> Enricher | None:
        settings = self.settings
        if llm is None or not settings.enrichment.of_a_model:
            return None
        untrusted = settings.security.untrusted
        return Enricher(llm, settings.models.llm, settings.enrichment, self._encoders.embedder, untrusted)

    def _make_ready(self, store: Store) -> None:
        """For what is to be added: made with these models, this analyser, these fields."""
        self._require_same_embedder(self._home.pointer().current, store)
        self._encoders.require_same_sparse(store.made_with.sparse)
        store.declare(self.settings.metadata.fields)
        analyse_again(store)

    def _principal(self, principal: Principal | None) -> Principal:
        if not isinstance(principal, Principal | None):
            raise TypeError(f"principal must be a citewell.Principal, not {principal!r}")
        return principal or self.settings.security.principal

    def _scope(self, principal: Principal | None, as_of: date | None, where: Filter | None, reader: Reader) -> Scope:
        condition = None if where is None else check(where, reader.fields)
        return Scope(self._principal(principal).readable, as_of or clock.today(), condition)

    @property
    def _store(self) -> Store:
        """The newest generation, whoever made it."""
        return self._newest()[1]

    @property
    def _upkeep(self) -> Upkeep:
        return Upkeep(self._home, self._encoders, self.settings.storage)

    def _moved(self, done: Migration) -> Migration:
        self.settings = self.settings.model_copy(update={"models": done.models})
        self._encoders, self._same_space = configured.encoders(done.models), set()
        self._queries = QueryMemory(self._encoders, self.settings.cache.queries)
        self._answers.forget()
        return done

    def _newest(self) -> tuple[int, Store]:
        while True:
            generation = self._home.pointer().current
            try:
                return generation, self._home.open(generation)
            except IndexFormatError:
                # Another process may have switched and dropped it in between.
                if self._home.pointer().current == generation:
                    raise

    def _to_search(self) -> Reader:
        """The newest state, of a generation whose vectors are the embedder's."""
        generation, store = self._newest()
        self._require_same_embedder(generation, store)
        return store.reader()

    def _require_same_embedder(self, generation: int, store: Store) -> None:
        if generation not in self._same_space:
            require_same_space(self._encoders.embedder, store.made_with.canaries, store.made_with.embedder)
            self._same_space.add(generation)
        if "sparse" in self.settings.retrieval.legs:
            self._encoders.require_same_sparse(store.made_with.sparse)

    def _of_newest(self, question: Callable[[Reader], T]) -> T:
        return of_newest(lambda: self._store.reader(), question)


def _used(llm: CountedLLM | None) -> Usage:
    return llm.usage if llm is not None else Usage()


@contextmanager
def _told(
    journal: Journal, sources: Sequence[str], begin: float, llm: CountedLLM | None, ignored: int = 0
) -> Iterator[None]:
    """With the report of what was done until then, where a model's endpoint fails."""
    try:
        yield
    except ServiceError as error:
        journal.stopped(sources)
        report = journal.report(time.perf_counter() - begin, _used(llm), ignored)
        raise IndexingStopped(error.message, remedy=error.remedy, report=report) from error


def _is_there(path: Path) -> bool:
    try:
        path.stat()
    except OSError:
        return False
    return True
