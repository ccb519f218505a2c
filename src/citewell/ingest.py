"""The steps of indexing, as a chain of iterators: nothing is read before the step below has room for it."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from citewell.chunking import Chunked, chunk, entries
from citewell.errors import LoadError
from citewell.loading import AccessRules, Attributes, SourceFile, described, document_id, load, read
from citewell.loading.parsed import LOADER_VERSION
from citewell.models.embedder import Embedder, Vectors
from citewell.retrieval.analyser import ANALYSER_VERSION, analyse
from citewell.settings import Settings
from citewell.stores.store import OWNER, IndexedDocument, IndexedEntry, LedgerLine, Store
from citewell.types import Document, FileReport, FileState, PageState, Progress, Rights

# A kill loses at most what is not committed, and a commit costs some tenths of a second: this many texts are some ten
# seconds of embedding.
COMMIT_ENTRIES = 256
# Between two reports of progress: small, so that the bar moves.
EMBED_SLICE = 32

OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Work:
    """A document to index. `recipe` stands for all that its chunks and entries depend on beside its content."""

    document: Document
    recipe: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document cut and analysed, before it has vectors."""

    work: Work
    chunked: Chunked
    entries: tuple[IndexedEntry, ...]


@dataclass(slots=True)
class Ingest:
    """One run of indexing. Its steps are methods, to be chained in the order in which they stand here."""

    store: Store
    embedder: Embedder
    settings: Settings
    on_progress: OnProgress | None = None
    embedded: int = 0
    warnings: list[str] = field(default_factory=list)
    _total: int = 0
    _reports: dict[str, FileReport] = field(default_factory=dict)
    _ledger: dict[str, LedgerLine] = field(default_factory=dict)
    _stopping: threading.Event = field(default_factory=threading.Event)
    _telling: threading.Lock = field(default_factory=threading.Lock)

    def load(self, files: Sequence[SourceFile], paths: Iterable[Path]) -> Iterator[Work]:
        """The documents that are new or changed. Failed and unchanged files are reported and left out.

        `paths` are those that the caller named; their access rules should match something.
        """
        self._total = len(files)
        self._ledger = self.store.ledger()
        rules = AccessRules()
        # All of them before the first file: a wrong access file must stop the run while nothing is indexed yet.
        attributes = [rules.rules_for(file.path) for file in files]
        self.warnings = [
            f'{place}: the rule for "{match}" matches no file; what it was meant for has the default rights.'
            for place, match in rules.unmatched([path.resolve() for path in paths])
        ]
        for file, about in zip(files, attributes, strict=True):
            self._tell(file.source)
            try:
                yield from self._load_one(file, about)
            except LoadError as error:
                self._reports[file.source] = FileReport(file.source, FileState.FAILED, str(error))
                yield from self._restated(file, about)

    def take(self, documents: Sequence[Document]) -> Iterator[Work]:
        """As `load`, for documents that the caller has made."""
        self._total = len(documents)
        self._ledger = self.store.ledger()
        for document in documents:
            self._tell(document.source)
            recipe = self._recipe(
                Attributes(
                    document.rights.groups,
                    document.title,
                    document.version,
                    document.valid_from,
                    document.valid_to,
                    document.trust,
                )
            )
            if not self._unchanged(document.source, document.id, document.content_hash, recipe):
                yield Work(document, recipe)

    def prepare(self, works: Iterable[Work]) -> Iterator[Prepared]:
        """Chunks, entries and their analysed tokens."""
        sizes = self.settings.chunking
        for work in works:
            chunked = chunk(
                work.document,
                self.embedder.token_spans,
                size=sizes.size,
                overlap=sizes.overlap,
                max_tokens=self.embedder.identity.max_tokens,
            )
            ready = tuple(
                IndexedEntry(entry, " ".join(analyse(entry.text, work.document.language)), _sha256(entry.text))
                for entry in entries(work.document, chunked)
            )
            yield Prepared(work, chunked, ready)

    def embed(self, prepared: Iterable[Prepared]) -> Iterator[list[IndexedDocument]]:
        """Batches of documents with vectors. A text whose vector is stored is not embedded again.

        While one batch is embedded, the next is read and cut. It is begun only when the one before has been taken, and
        so committed: what they have in common is then known.
        """
        with ThreadPoolExecutor(1) as beside:
            running: Future[list[IndexedDocument]] | None = None
            try:
                for batch in _batches(prepared):
                    if running is not None:
                        yield running.result()
                    running = beside.submit(self._with_vectors, batch)
                if running is not None:
                    yield running.result()
            finally:
                self._stopping.set()  # by Ctrl-C, say: what is half embedded is not waited for

    def commit(self, batches: Iterable[list[IndexedDocument]]) -> None:
        """Store each batch in one step."""
        for batch in batches:
            self.store.commit(batch)
        self._tell("")

    def remove_vanished(self, files: Sequence[SourceFile], paths: Iterable[Path]) -> None:
        """Remove the documents below the folders among `paths` whose file is not there any more."""
        roots = tuple(path.resolve().as_uri() + "/" for path in paths if path.is_dir())
        present = {file.source for file in files}
        # What lies in a folder that could not be read has not vanished.
        unread = tuple(file.source + "/" for file in files if file.problem is not None)
        gone = [
            line
            for line in self._ledger.values()
            if line.source.startswith(roots) and line.source not in present and not line.source.startswith(unread)
        ]
        if gone:
            self.store.commit([], removed=[line.document_id for line in gone])
        for line in gone:
            self._reports[line.source] = FileReport(line.source, FileState.REMOVED)

    def reports(self) -> tuple[FileReport, ...]:
        return tuple(self._reports[source] for source in sorted(self._reports))

    def _load_one(self, file: SourceFile, about: Attributes) -> Iterator[Work]:
        data = read(file, self.settings.loading)
        recipe = self._recipe(about)
        if self._unchanged(file.source, document_id(file.source), hashlib.sha256(data).hexdigest(), recipe):
            return
        document = load(file, self.settings.loading, about, self.settings.security.default_groups, data)
        if document.elements:
            yield Work(document, recipe)
        else:
            pages = Counter(page.state for page in document.pages)
            reason = f"There is no text in it: {_lost_pages(document) or 'all its pages are blank'}."
            self._reports[file.source] = FileReport(file.source, FileState.FAILED, reason, pages=dict(pages))

    def _restated(self, file: SourceFile, about: Attributes) -> Iterator[Work]:
        """The stored version of a file that cannot be read now, if its rights or dates changed: these hold at once."""
        recipe = self._recipe(about)
        line = self._ledger.get(document_id(file.source))
        stored = self.store.reader().document(line.document_id, OWNER) if line and line.recipe != recipe else None
        if stored is not None:
            yield Work(described(stored, about, self.settings.security.default_groups), recipe)

    def _recipe(self, about: Attributes) -> str:
        groups = sorted(about.groups if about.groups is not None else self.settings.security.default_groups)
        made_by = (LOADER_VERSION, ANALYSER_VERSION, self.settings.chunking)
        return _sha256(repr((made_by, groups, replace(about, groups=None))))

    def _unchanged(self, source: str, document_id: str, content_hash: str, recipe: str) -> bool:
        line = self._ledger.get(document_id)
        if line is None or (line.content_hash, line.recipe) != (content_hash, recipe):
            return False
        self._reports[source] = FileReport(source, FileState.UNCHANGED)
        return True

    def _with_vectors(self, batch: list[Prepared]) -> list[IndexedDocument]:
        texts = {item.text_hash: item.entry.text for prepared in batch for item in prepared.entries}
        vectors = self.store.known_vectors(texts)
        missing = [key for key in texts if key not in vectors]
        for start in range(0, len(missing), EMBED_SLICE):
            if self._stopping.is_set():
                raise CancelledError
            keys = missing[start : start + EMBED_SLICE]
            made = self.embedder.embed_passages([texts[key] for key in keys])
            vectors |= dict(zip(keys, made, strict=True))
            self.embedded += len(keys)
            self._tell(batch[-1].work.document.source)
        return [self._finished(prepared, vectors) for prepared in batch]

    def _finished(self, prepared: Prepared, vectors: dict[str, Vectors]) -> IndexedDocument:
        document = prepared.work.document
        # A file that failed stays reported as failed when its stored version gets new rights.
        self._reports.setdefault(document.source, self._report(prepared))
        width = self.embedder.identity.dimensions
        rows = [vectors[item.text_hash] for item in prepared.entries]
        matrix: Vectors = np.stack(rows) if rows else np.empty((0, width), dtype=np.float32)
        return IndexedDocument(document, prepared.work.recipe, prepared.chunked.chunks, prepared.entries, matrix)

    def _report(self, prepared: Prepared) -> FileReport:
        document = prepared.work.document
        lost = _lost_pages(document)
        stored = FileState.UPDATED if document.id in self._ledger else FileState.ADDED
        state = FileState.PARTLY if lost else stored
        pages = Counter(page.state for page in document.pages)
        chunked = prepared.chunked
        warnings = (*self._changed_rights(document), *chunked.warnings)
        return FileReport(document.source, state, lost, len(chunked.chunks), dict(pages), warnings)

    def _changed_rights(self, document: Document) -> Iterator[str]:
        line = self._ledger.get(document.id)
        if line is not None and line.rights != document.rights:
            yield f"It is now readable by {_readers(document.rights)}; it was by {_readers(line.rights)}."

    def _tell(self, source: str) -> None:
        if self.on_progress is None:
            return
        with self._telling:  # reading and embedding both tell
            self.on_progress(Progress(len(self._reports), self._total, self.embedded, source))


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


def _lost_pages(document: Document) -> str:
    """The pages whose text is not in the document, and why; "" where there is none."""
    lost = [page for page in document.pages if page.state in (PageState.NEEDS_OCR, PageState.FAILED)]
    named = "; ".join(f"page {page.label}: {page.reason or page.state}" for page in lost[:5])
    return f"{named}; and {len(lost) - 5} more pages" if len(lost) > 5 else named


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
