"""The steps of indexing after the intake, as a chain of iterators: nothing is read before the step below has room."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from citewell.chunking import Chunked, chunk
from citewell.enrichment import CONTEXT_TOKENS, Enricher
from citewell.errors import ServiceError
from citewell.history import History, tokens_of
from citewell.intake import Work
from citewell.journal import Journal
from citewell.models.embedder import SPECIAL_TOKENS, Embedded
from citewell.models.encoding import Encoders
from citewell.models.waiting import waiting
from citewell.recipes import finished, unfinished
from citewell.settings import Chunking, Settings
from citewell.stores.store import IndexedDocument, IndexedEntry, LedgerLine, Store, VersionKey
from citewell.types import Ending, EntryKind, FileReport, FileState, Rights

# A kill loses at most what is not committed, and a commit costs some tenths of a second: this many texts are some ten
# seconds of embedding.
COMMIT_ENTRIES = 256
# Between two reports of progress: small, so that the bar moves. No more than an endpoint takes in one request, or a
# refusal in the middle would lose what was paid for.
EMBED_SLICE = 32
NAMED = 5
LEAST_SIZE = 16


@dataclass(frozen=True, slots=True)
class Cut:
    """A document in chunks, and what is to be searched of it. For `replies` see `IndexedDocument`; `unwritten` names
    what the language model should have written and did not."""

    work: Work
    chunked: Chunked
    replies: Mapping[str, str] = field(default_factory=dict)
    unwritten: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document cut, enriched and analysed, before it has vectors."""

    cut: Cut
    entries: tuple[IndexedEntry, ...]

    @property
    def work(self) -> Work:
        return self.cut.work


Indexed = tuple[Work, IndexedDocument]
Made = tuple[list[Indexed], ServiceError | None]


@dataclass(slots=True)
class Ingest:
    """One run of indexing. Its steps are methods, to be chained in the order in which they stand here."""

    store: Store
    encoders: Encoders
    enricher: Enricher | None
    settings: Settings
    journal: Journal
    history: History
    _stopping: threading.Event = field(default_factory=threading.Event)

    def chunk(self, works: Iterable[Work]) -> Iterator[Cut]:
        """Chunks and their entries."""
        settings = self._with_room() if self.settings.enrichment.context else self.settings.chunking
        for work in works:
            yield Cut(work, chunk(work.document, settings, self.encoders.embedder))

    def enrich(self, cuts: Iterable[Cut]) -> Iterator[Cut]:
        """With what a language model writes of the chunks, where one is to. No question is put to it twice: each reply
        is kept at once, and stored with the document."""
        for cut in cuts:
            document = cut.work.document
            if self.enricher is None and cut.work.before is None and cut.work.was is None:
                yield cut  # nothing was ever written of it
                continue
            known = self.store.replies({document.id} | ({cut.work.was.document_id} if cut.work.was else set()))
            kept = self._of_the_same_text(cut.work) if known else {}
            if self.enricher is None:
                yield replace(cut, replies=kept)
                continue
            with waiting(partial(self.journal.tell, document.source)):
                made = self.enricher.enrich(document, cut.chunked, known, self.store.stash_replies)
            yield replace(
                cut,
                chunked=replace(cut.chunked, entries=made.entries),
                replies={**kept, **made.replies},
                unwritten=made.unwritten,
            )

    def analyse(self, cuts: Iterable[Cut]) -> Iterator[Prepared]:
        """With the tokens of the entries."""
        for cut in cuts:
            document = cut.work.document
            yield Prepared(
                cut,
                tuple(
                    IndexedEntry(entry, tokens_of(entry.text, document), _sha256(entry.text))
                    for entry in cut.chunked.entries
                ),
            )

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

    def _of_the_same_text(self, work: Work) -> Mapping[str, str]:
        """The replies stored with this very text, also those that the settings have no use for now."""
        line = work.before or work.was
        if line is None or line.content_hash != work.document.content_hash:
            return {}
        stored = self.store.fetch([VersionKey(line.document_id, line.number)])
        return {asked: reply for one in stored for asked, reply in one.replies.items()}

    def _with_room(self) -> Chunking:
        """How to cut where each chunk must leave room for what is written before it."""
        chunking, most = self.settings.chunking, self.encoders.embedder.identity.max_tokens - SPECIAL_TOKENS
        size = max(min(chunking.size, most) - CONTEXT_TOKENS, LEAST_SIZE)
        return chunking.model_copy(update={"size": size, "overlap": min(chunking.overlap, size // 2)})

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
                    made = dict(zip(keys, self.encoders.encode([texts[key] for key in keys], codec), strict=True))
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
            item.text_hash: Embedded(vector, item.token_vectors, item.sparse)
            for one in kept
            for item, vector in zip(one.entries, one.vectors, strict=False)
        }

    def _finished(self, prepared: Prepared, known: Mapping[str, Embedded]) -> IndexedDocument:
        cut, document = prepared.cut, prepared.work.document
        report = _report(prepared)
        failed = self.journal.reports.get(document.source)
        # A file that failed stays reported as failed when its stored version gets new rights.
        self.journal.reports[document.source] = replace(failed, warnings=report.warnings) if failed else report
        nothing = np.empty((0, self.encoders.embedder.identity.dimensions), dtype=np.float32)
        recipe = unfinished(cut.work.recipe, cut.replies) if cut.unwritten else cut.work.recipe
        bare = IndexedDocument(
            document,
            recipe,
            cut.chunked.chunks,
            prepared.entries,
            nothing,
            set_aside=cut.work.set_aside,
            replies=cut.replies,
        )
        return bare.with_vectors(known)


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
    unwritten = _unwritten(prepared.cut.unwritten)
    if work.was is not None:
        return FileReport(document.source, FileState.RENAMED, f"was {work.was.source}", warnings=unwritten)
    if work.before is not None and _same(work, work.before):
        # But for what was set aside, or was asked of the language model once more.
        return FileReport(document.source, FileState.UNCHANGED, document.lost, warnings=unwritten)
    state = FileState.PARTLY if document.lost else stored
    pages = Counter(page.state for page in document.pages)
    chunks = sum(item.entry.kind in (EntryKind.CHUNK, EntryKind.CONTEXT) for item in prepared.entries)
    warnings = (*_changed_rights(work), *work.warnings, *prepared.cut.chunked.warnings, *unwritten)
    return FileReport(document.source, state, document.lost, chunks, dict(pages), warnings)


def _same(work: Work, line: LedgerLine) -> bool:
    """Whether the document is stored as it is."""
    now = (work.document.content_hash, work.recipe, work.document.lost)
    return now == (line.content_hash, finished(line.recipe), line.lost)


def _unwritten(names: Sequence[str]) -> tuple[str, ...]:
    """One warning at most."""
    if not names:
        return ()
    shown = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED:,} more" if len(names) > NAMED else "")
    return (f"The language model wrote nothing of use for {shown}; the next run asks again.",)


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
