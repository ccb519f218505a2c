"""The index: both pipelines, from top to bottom.

indexing     discover - load - chunk - entries - embed - commit      Index.add
answering    check - search (legs, fuse) - floor - answer - cite     Index.ask
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from citewell.credentials import Credentials
from citewell.errors import QuestionError, UnknownId
from citewell.generation.answer import answer
from citewell.generation.lost import lost_warnings
from citewell.ingest import Ingest
from citewell.intake import Intake
from citewell.journal import Journal, OnProgress
from citewell.loading import discover, document_id, inner_source, source_at
from citewell.loading.parsing import check_plugins
from citewell.models import configured
from citewell.models.fingerprint import canaries, require_same_space
from citewell.retrieval.analyser import ANALYSER_VERSION
from citewell.retrieval.floor import above_floor
from citewell.retrieval.search import search
from citewell.settings import Settings
from citewell.stores.lance import LanceStore
from citewell.stores.store import OWNER, Reader, Scope
from citewell.types import Answer, Chunk, Document, Hit, IndexReport, Principal, Status, Trace

if TYPE_CHECKING:
    from citewell.models.embedder import Embedder

MAX_QUESTION_CHARS = 20_000


class Index:
    """Documents that can be asked. `Index.open(path)` for one that exists, `Index.create(path)` for a new one.

    Use it from any number of threads; every call that reads takes the newest committed state and keeps to it. Each of
    `add`, `search` and `ask` has an async twin that runs the same code in a worker thread: `aadd`, `asearch`, `aask`.
    """

    def __init__(self, path: Path, store: LanceStore, embedder: Embedder, settings: Settings) -> None:
        self.path = path
        self.settings = settings
        self._store = store
        self._embedder = embedder
        self._llm = configured.llm(settings.models)
        self._same_space = False

    @classmethod
    def create(cls, path: str | Path, *, settings: Settings | None = None) -> Index:
        """Make an empty index at `path`, a folder that does not exist yet or is empty.

        Raises:
            PathError: there is something at `path` already.
            PermissionRefused: it cannot be written to.
        """
        settings = settings or Settings()
        embedder = configured.embedder(settings.models)
        store = LanceStore.create(
            Path(path), identity=embedder.identity, canaries=canaries(embedder), analyser=ANALYSER_VERSION
        )
        return cls(Path(path), store, embedder, settings)

    @classmethod
    def open(cls, path: str | Path, *, settings: Settings | None = None) -> Index:
        """Open an index to read and, when `add` or `delete` is called, to write. Opening writes nothing.

        Raises:
            IndexNotFound: there is none.
            IndexFormatError: it was made by another version, or its manifest is damaged.
        """
        settings = settings or Settings()
        return cls(Path(path), LanceStore.open(Path(path)), configured.embedder(settings.models), settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._store.close()

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
        """
        begin, journal = time.perf_counter(), Journal(on_progress)
        named = [Path(path) for path in paths]
        found = discover(named, skip=self.path, ignore=self.settings.loading.ignore)
        check_plugins(self.settings.loading)
        credentials = Credentials.load()
        with self._store.writing():
            self._require_same_embedder()
            intake = Intake(self._store, self.settings, journal, credentials)
            run = Ingest(self._store, self._embedder, self.settings, journal)
            run.commit(run.embed(run.prepare(intake.load(found, named))))
            intake.remove_vanished(named)
        return journal.report(time.perf_counter() - begin, found.ignored)

    def add_documents(self, documents: Sequence[Document], *, on_progress: OnProgress | None = None) -> IndexReport:
        """Index documents that do not come from files; one with the id of a stored one replaces it.

        Raises:
            FingerprintMismatch: the embedder is not the one that made the index.
            IndexLocked: another process is writing.
        """
        begin, journal = time.perf_counter(), Journal(on_progress)
        with self._store.writing():
            self._require_same_embedder()
            intake = Intake(self._store, self.settings, journal)
            run = Ingest(self._store, self._embedder, self.settings, journal)
            run.commit(run.embed(run.prepare(intake.take(documents))))
        return journal.report(time.perf_counter() - begin)

    def delete(self, name: str) -> str:
        """Remove a document, by id, source URI or path, and the files inside it from every leg. Returns its source.

        The owner's call.

        Raises:
            UnknownId: there is no such document.
            IndexLocked: another process is writing.
        """
        with self._store.writing():
            document = self._find_document(name, OWNER)
            if document is None:
                raise _unknown(name)
            inside = inner_source(document.source)
            ids = [line.document_id for line in self._store.ledger().values() if line.source.startswith(inside)]
            self._store.commit([], removed=[document.id, *ids])
        return document.source

    # Answering

    def ask(self, question: str, *, principal: Principal | None = None, as_of: date | None = None) -> Answer:
        """A cited answer from the documents that `principal` may read and that are in force on `as_of` (today).

        Where nothing found is near enough to the question, the answer abstains and says why.

        Raises:
            QuestionError: the question is empty or too long.
            FingerprintMismatch: the embedder is not the one that made the index.
            ServiceError: the language model's endpoint failed.
        """
        trace, scope, reader = Trace(), self._scope(principal, as_of), self._store.reader()
        question = _checked(question)
        found = self._search(question, self.settings.retrieval.keep, scope, reader, trace)
        with trace.step("floor", len(found)) as step:
            hits = above_floor(question, found, self.settings.retrieval.floor)
            step.out = len(hits)
        with trace.step("answer", len(hits)) as step:
            draft = answer(
                question,
                hits,
                llm=self._llm,
                embedder=self._embedder,
                settings=self.settings,
                page_of=lambda document_id, offset: _page_of(reader.document(document_id, scope), offset),
            )
            step.out = len(draft.sentences)
        lost = lost_warnings(question, draft, reader.lossy(scope))
        return Answer(
            question=question,
            text=draft.text,
            sentences=draft.sentences,
            citations=draft.citations,
            abstained=draft.abstained,
            reason=draft.reason,
            hits=hits,
            warnings=draft.warnings + lost,
            usage=draft.usage,
            trace=tuple(trace.steps),
        )

    def search(
        self, query: str, *, k: int | None = None, principal: Principal | None = None, as_of: date | None = None
    ) -> tuple[Hit, ...]:
        """The k (setting `keep`) best passages, best first, that `principal` may read and that are in force on `as_of`.

        Raises:
            QuestionError: the query is empty or too long, or k is not positive.
            FingerprintMismatch: the embedder is not the one that made the index.
        """
        k = self.settings.retrieval.keep if k is None else k
        if k < 1:
            raise QuestionError(f"k is {k}.", remedy="Ask for at least one passage.")
        return self._search(_checked(query), k, self._scope(principal, as_of), self._store.reader(), Trace())

    async def aadd(self, *paths: str | Path, on_progress: OnProgress | None = None) -> IndexReport:
        return await asyncio.to_thread(self.add, *paths, on_progress=on_progress)

    async def aask(self, question: str, *, principal: Principal | None = None, as_of: date | None = None) -> Answer:
        return await asyncio.to_thread(self.ask, question, principal=principal, as_of=as_of)

    async def asearch(
        self, query: str, *, k: int | None = None, principal: Principal | None = None, as_of: date | None = None
    ) -> tuple[Hit, ...]:
        return await asyncio.to_thread(self.search, query, k=k, principal=principal, as_of=as_of)

    # Looking

    def documents(self, *, principal: Principal | None = None, as_of: date | None = None) -> tuple[Document, ...]:
        """The documents that `principal` may read and that are in force, by source, without their text."""
        return tuple(self._store.reader().documents(self._scope(principal, as_of)))

    def show(self, name: str, *, principal: Principal | None = None) -> Document | Chunk:
        """A document, by id, source URI or path, or a chunk by id; in force or not.

        Raises:
            UnknownId: there is none, or `principal` may not read it; the two look the same.
        """
        scope = Scope(self._principal(principal).readable)
        document = self._find_document(name, scope)
        if document is not None:
            return document
        chunk = self._store.reader().chunks([name], scope).get(name)
        if chunk is None:
            raise _unknown(name)
        return chunk

    def chunks(self, document_id: str, *, principal: Principal | None = None) -> tuple[Chunk, ...]:
        """A document's chunks in order; () where there is no such document for `principal`."""
        scope = Scope(self._principal(principal).readable)
        return tuple(self._store.reader().document_chunks(document_id, scope))

    def status(self) -> Status:
        """The index in numbers. The owner's call: it counts what single readers may not see."""
        counts, manifest = self._store.reader().counts(OWNER), self._store.manifest
        return Status(
            path=str(self.path),
            documents=counts.documents,
            chunks=counts.chunks,
            entries=counts.entries,
            embedder=manifest.embedder.name,
            analyser=manifest.analyser,
            generation=manifest.generation,
            created=manifest.created,
            bytes_on_disk=sum(file.stat().st_size for file in self.path.rglob("*") if file.is_file()),
        )

    def _search(self, query: str, k: int, scope: Scope, reader: Reader, trace: Trace) -> tuple[Hit, ...]:
        self._require_same_embedder()
        return search(
            query, k, scope, store=reader, embedder=self._embedder, settings=self.settings.retrieval, trace=trace
        )

    def _principal(self, principal: Principal | None) -> Principal:
        return principal or Principal(groups=frozenset(self.settings.security.as_groups))

    def _scope(self, principal: Principal | None, as_of: date | None) -> Scope:
        return Scope(self._principal(principal).readable, as_of or datetime.now(UTC).date())

    def _require_same_embedder(self) -> None:
        if not self._same_space:
            require_same_space(self._embedder, self._store.manifest.canaries, self._store.manifest.embedder)
            self._same_space = True

    def _find_document(self, name: str, scope: Scope) -> Document | None:
        reader = self._store.reader()
        ids = (name, document_id(name), document_id(source_at(name)))
        return next((found for each in ids if (found := reader.document(each, scope)) is not None), None)


def _checked(question: str) -> str:
    # A terminal hands over bytes that are not UTF-8 as lone surrogates, which no model takes.
    text = question.encode("utf-8", "replace").decode().replace("\x00", "").strip()
    if not text:
        raise QuestionError("The question is empty.", remedy="Ask something.")
    if len(text) > MAX_QUESTION_CHARS:
        raise QuestionError(
            f"The question has {len(text):,} characters.",
            remedy=f"Shorten it to {MAX_QUESTION_CHARS:,}; documents are added with `citewell index`.",
        )
    return text


def _page_of(document: Document | None, offset: int) -> tuple[int, str] | None:
    pages = document.pages_of(offset, offset + 1) if document is not None else ()
    return (pages[0].number, pages[0].label) if pages else None


def _unknown(name: str) -> UnknownId:
    return UnknownId(f"There is no document or chunk {name!r}.", remedy="`citewell documents` lists what there is.")
