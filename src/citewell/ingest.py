"""The steps of indexing after the intake, as a chain of iterators: nothing is read before the step below has room."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from citewell.chunking import Chunked, chunk
from citewell.errors import ServiceError
from citewell.history import History, tokens_of
from citewell.intake import Work
from citewell.journal import Journal
from citewell.models.embedder import Embedded, Embedder
from citewell.models.token_vectors import embed
from citewell.models.waiting import waiting
from citewell.settings import Settings
from citewell.stores.store import IndexedDocument, IndexedEntry, LedgerLine, Store, VersionKey
from citewell.types import Ending, EntryKind, FileReport, FileState, Rights

# A kill loses at most what is not committed, and a commit costs some tenths of a second: this many texts are some ten
# seconds of embedding.
COMMIT_ENTRIES = 256
# Between two reports of progress: small, so that the bar moves. No more than an endpoint takes in one request, or a
# refusal in the middle would lose what was paid for.
EMBED_SLICE = 32


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document cut and analysed, before it has vectors."""

    work: Work
    chunked: Chunked
    entries: tuple[IndexedEntry, ...]


Indexed = tuple[Work, IndexedDocument]
Made = tuple[list[Indexed], ServiceError | None]


@dataclass(slots=True)
class Ingest:
    """One run of indexing. Its steps are methods, to be chained in the order in which they stand here."""

    store: Store
    embedder: Embedder
    settings: Settings
    journal: Journal
    history: History
    _stopping: threading.Event = field(default_factory=threading.Event)

    def prepare(self, works: Iterable[Work]) -> Iterator[Prepared]:
        """Chunks, entries and their analysed tokens."""
        for work in works:
            chunked = chunk(work.document, self.settings.chunking, self.embedder)
            ready = tuple(
                IndexedEntry(entry, tokens_of(entry.text, work.document), _sha256(entry.text))
                for entry in chunked.entries
            )
            yield Prepared(work, chunked, ready)

    def embed(self, prepared: Iterable[Prepared]) -> Iterator[list[Indexed]]:
        """Batches of documents with vectors. A text whose vector is stored is not embedded again.

        While one batch is embedded, the next is read and cut. It is begun only when the one before has been taken, and
        so committed: what they have in common is then known.
        """
        running: Future[Made] | None = None
        with ThreadPoolExecutor(1) as beside:
            try:
                for batch in _batches(prepared):
                    done, running = running, None
                    yield from _taken(done)
                    running = beside.submit(self._with_vectors, batch)
                done, running = running, None
                yield from _taken(done)
            except ServiceError:
                # The chunker's, which may embed sentences: the batch before it is whole all the same.
                yield from _taken(running)
                raise
            finally:
                self._stopping.set()  # by Ctrl-C, say: what is half embedded is not waited for

    def commit(self, batches: Iterable[list[Indexed]]) -> None:
        """Store each batch in one step."""
        for batch in batches:
            # What was taken out of a file goes in the step in which that file is stored, so that no stop lies between.
            gone = [line for work, _ in batch for line in work.taken_out]
            renamed = {work.document.id: work.was.document_id for work, _ in batch if work.was is not None}
            changes = self.history.entered([made for _, made in batch], renamed)
            changes += self.history.removed([line.document_id for line in gone], Ending.DELETED)
            self.store.commit(changes.put, changes.drop)
            for line in gone:
                self.journal.removed(line.source)
        self.journal.tell("")

    def remove(self, lines: Sequence[LedgerLine], ending: Ending) -> None:
        """Take documents out of every leg, and drop what was kept for long enough."""
        changes = self.history.removed([line.document_id for line in lines], ending) + self.history.overdue()
        if changes.put or changes.drop:
            self.store.commit(changes.put, changes.drop)
        for line in lines:
            self.journal.removed(line.source)

    def _with_vectors(self, batch: list[Prepared]) -> Made:
        """The documents of a batch, or those of which all vectors are there, and what stopped the embedder."""
        texts = {item.text_hash: item.entry.text for prepared in batch for item in prepared.entries}
        known = self._kept([key for prepared in batch for key in prepared.work.reuse]) | self.store.embedded(texts)
        missing = [key for key in texts if key not in known]
        codec = self.store.made_with.token_codec
        failure: ServiceError | None = None
        with waiting(lambda: self._tell(batch)):
            for start in range(0, len(missing), EMBED_SLICE):
                keys = missing[start : start + EMBED_SLICE]
                try:
                    made = dict(zip(keys, embed(self.embedder, [texts[key] for key in keys], codec), strict=True))
                except ServiceError as error:
                    failure = error
                    break
                self.store.stash(made)
                known |= made
                self.journal.embedded += len(keys)
                self._tell(batch)
        whole = [each for each in batch if all(item.text_hash in known for item in each.entries)]
        return [(each.work, self._finished(each, known)) for each in whole], failure

    def _tell(self, batch: Sequence[Prepared]) -> None:
        if self._stopping.is_set():
            raise CancelledError
        self.journal.tell(batch[-1].work.document.source)

    def _kept(self, keys: Sequence[VersionKey]) -> dict[str, Embedded]:
        """What was embedded of versions that are in no leg any more."""
        kept = self.store.fetch(keys) if keys else []
        return {
            item.text_hash: Embedded(vector, item.token_vectors)
            for one in kept
            for item, vector in zip(one.entries, one.vectors, strict=False)
        }

    def _finished(self, prepared: Prepared, known: Mapping[str, Embedded]) -> IndexedDocument:
        document = prepared.work.document
        report = _report(prepared)
        failed = self.journal.reports.get(document.source)
        # A file that failed stays reported as failed when its stored version gets new rights.
        self.journal.reports[document.source] = replace(failed, warnings=report.warnings) if failed else report
        nothing = np.empty((0, self.embedder.identity.dimensions), dtype=np.float32)
        bare = IndexedDocument(document, prepared.work.recipe, prepared.chunked.chunks, prepared.entries, nothing)
        return replace(bare.with_vectors(known), set_aside=prepared.work.set_aside)


def _taken(running: Future[Made] | None) -> Iterator[list[Indexed]]:
    """What was embedded, to be committed, before what stopped it is raised."""
    if running is not None:
        made, failure = running.result()
        yield made
        if failure is not None:
            raise failure


def _report(prepared: Prepared) -> FileReport:
    work, document = prepared.work, prepared.work.document
    stored = FileState.UPDATED if work.before is not None else FileState.ADDED
    if work.was is not None:
        return FileReport(document.source, FileState.RENAMED, f"was {work.was.source}")
    before = work.before
    if before and (before.content_hash, before.recipe, before.lost) == (
        document.content_hash,
        work.recipe,
        document.lost,
    ):
        return FileReport(document.source, FileState.UNCHANGED, document.lost)  # but for what was set aside
    state = FileState.PARTLY if document.lost else stored
    pages = Counter(page.state for page in document.pages)
    chunks = sum(item.entry.kind is EntryKind.CHUNK for item in prepared.entries)
    warnings = (*_changed_rights(work), *work.warnings, *prepared.chunked.warnings)
    return FileReport(document.source, state, document.lost, chunks, dict(pages), warnings)


def _same(work: Work, line: LedgerLine) -> bool:
    """Whether nothing is new but that nothing is set aside any more."""
    now = (work.document.content_hash, work.recipe, work.document.lost)
    return now == (line.content_hash, line.recipe, line.lost)


def _changed_rights(work: Work) -> Iterator[str]:
    now, before = work.document.rights, work.before.rights if work.before is not None else None
    if before is not None and before != now:
        yield f"It is now readable by {_readers(now)}; it was by {_readers(before)}."


def _batches(prepared: Iterable[Prepared]) -> Iterator[list[Prepared]]:
    batch: list[Prepared] = []
    for item in prepared:
        batch.append(item)
        if sum(len(waiting.entries) for waiting in batch) >= COMMIT_ENTRIES:
            yield batch
            batch = []
    if batch:
        yield batch


def _readers(rights: Rights) -> str:
    return ", ".join(sorted(rights.groups)) or "nobody"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
