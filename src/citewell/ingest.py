"""The steps of indexing, as a chain of iterators: nothing is read before the step below has room for it."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path

import numpy as np

from citewell.chunking import CHUNKER_VERSION, Chunked, chunk
from citewell.credentials import NO_CREDENTIALS, Credentials
from citewell.errors import EmptyFile, LoadError, NotAFile, UnsupportedFormat
from citewell.loading import (
    AccessRules,
    Discovered,
    Loaded,
    SourceFile,
    described,
    document_id,
    inner_source,
    load,
    ocr_engine,
    read,
)
from citewell.loading.bounds import check_inside
from citewell.loading.parsed import LOADER_VERSION
from citewell.models.embedder import Embedder, Vectors
from citewell.retrieval.analyser import ANALYSER_VERSION, analyse
from citewell.settings import Settings
from citewell.stores.store import OWNER, IndexedDocument, IndexedEntry, LedgerLine, Store
from citewell.types import BETWEEN_SOURCES, Attributes, Document, EntryKind, FileReport, FileState, Progress, Rights

# A kill loses at most what is not committed, and a commit costs some tenths of a second: this many texts are some ten
# seconds of embedding.
COMMIT_ENTRIES = 256
# Between two reports of progress: small, so that the bar moves.
EMBED_SLICE = 32

NOTHING_TO_INDEX = (UnsupportedFormat, EmptyFile, NotAFile)
LOST = (FileState.FAILED, FileState.SKIPPED)

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
    credentials: Credentials = NO_CREDENTIALS
    embedded: int = 0
    warnings: list[str] = field(default_factory=list)
    _total: int = 0
    _reports: dict[str, FileReport] = field(default_factory=dict)
    _ledger: dict[str, LedgerLine] = field(default_factory=dict)
    _inner: dict[str, list[LedgerLine]] = field(default_factory=dict)
    _warned: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _met: set[str] = field(default_factory=set)
    _taken_out: dict[str, list[LedgerLine]] = field(default_factory=dict)
    _within: int = 0
    _stopping: threading.Event = field(default_factory=threading.Event)
    _telling: threading.Lock = field(default_factory=threading.Lock)

    def load(self, found: Discovered, paths: Iterable[Path]) -> Iterator[Work]:
        """The documents that are new or changed. The other files are reported and left out.

        `paths` are those that the caller named; their access rules should match something.
        """
        self._total = len(found.files)
        self._ledger = self.store.ledger()
        for line in self._ledger.values():
            self._inner.setdefault(line.source.partition(BETWEEN_SOURCES)[0], []).append(line)
        rules = AccessRules()
        # All of them before the first file: a wrong access file must stop the run while nothing is indexed yet.
        attributes = [rules.rules_for(file.path) for file in found.files]
        self.warnings = [
            f'{place}: the rule for "{match}" matches no file; what it was meant for has the default rights.'
            for place, match in rules.unmatched([path.resolve() for path in paths])
        ]
        self.warnings += [
            f"{side}: there is no such file beside it; what it was meant for has the default rights."
            for side in found.strays
        ]
        for file, about in zip(found.files, attributes, strict=True):
            yield from self._file(file, about)

    def take(self, documents: Sequence[Document]) -> Iterator[Work]:
        """As `load`, for documents that the caller has made."""
        self._total = len(documents)
        self._ledger = self.store.ledger()
        for document in documents:
            self._tell(document.source)
            said = Attributes(
                groups=document.rights.groups,
                title=document.title,
                version=document.version,
                valid_from=document.valid_from,
                valid_to=document.valid_to,
                trust=document.trust,
                language=document.language,
            )
            recipe = self._recipe(said, document.lost)
            line = self._ledger.get(document.id)
            if line is not None and (line.content_hash, line.recipe) == (document.content_hash, recipe):
                self._reports[document.source] = FileReport(document.source, FileState.UNCHANGED)
            else:
                yield Work(document, recipe)

    def prepare(self, works: Iterable[Work]) -> Iterator[Prepared]:
        """Chunks, entries and their analysed tokens."""
        for work in works:
            chunked = chunk(work.document, self.settings.chunking, self.embedder)
            ready = tuple(
                IndexedEntry(entry, " ".join(analyse(entry.text, work.document.language)), _sha256(entry.text))
                for entry in chunked.entries
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
            # What was taken out of a file goes in the step in which that file is stored, so that no stop lies between.
            gone = [line for done in batch for line in self._taken_out.pop(done.document.id, ())]
            self.store.commit(batch, removed=[line.document_id for line in gone])
            for line in gone:
                self._report_removed(line)
        self._tell("")

    def remove_vanished(self, paths: Iterable[Path]) -> None:
        """Remove the documents below the `paths` named whose file is not there any more, or holds nothing any more."""
        # Also what a file that is now a folder was, or a folder that is now a file.
        named = [path.resolve().as_uri() for path in paths]
        roots = tuple(uri + end for uri in named for end in ("/", BETWEEN_SOURCES))
        skipped = {source for source, file in self._reports.items() if file.state is FileState.SKIPPED}
        # What lies in a folder or a file that could not be read has not vanished.
        unread = tuple(
            source + end
            for source, file in self._reports.items()
            if file.state is FileState.FAILED
            for end in ("/", BETWEEN_SOURCES)
        )
        present = self._reports.keys() - skipped
        gone = [
            line
            for line in self._ledger.values()
            if line.source not in present
            and (line.source in skipped or line.source in named or line.source.startswith(roots))
            and not line.source.startswith(unread)
        ]
        if gone:
            self.store.commit([], removed=[line.document_id for line in gone])
        for line in gone:
            self._report_removed(line)

    def reports(self) -> tuple[FileReport, ...]:
        return tuple(self._reports[source] for source in sorted(self._reports))

    def _file(self, file: SourceFile, about: Attributes) -> Iterator[Work]:
        """A file, after the files inside it."""
        self._tell(file.source)
        self._met.add(file.source)
        if file.depth == 0:
            self._within = 0
        try:
            yield from self._load_one(file, about)
        except LoadError as error:
            state = FileState.SKIPPED if isinstance(error, NOTHING_TO_INDEX) else FileState.FAILED
            if isinstance(error, UnsupportedFormat) and self._stored(file):
                state = FileState.FAILED  # it was a document, and has broken
            self._reports[file.source] = FileReport(file.source, state, str(error))
            if state is FileState.FAILED:
                yield from self._restated(file, about)

    def _load_one(self, file: SourceFile, about: Attributes) -> Iterator[Work]:
        data = read(file, self.settings.loading)
        line = self._ledger.get(document_id(file.source))
        read_before = line is not None and line.content_hash == hashlib.sha256(data).hexdigest()
        if read_before and all(one.recipe.startswith(self._reading(one.lost)) for one in self._stored(file)):
            yield from self._again(file, about)
            return
        loaded = load(
            file,
            self.settings.loading,
            about,
            self.settings.security.default_groups,
            data=data,
            passwords=self.credentials.passwords,
            on_wait=lambda: self._tell(file.source),
        )
        self._total += len(loaded.inside)
        self._within += len(loaded.inside)
        check_inside(self._within, self.settings.loading)
        for inner in loaded.inside:
            yield from self._file(inner, _inherited(about))
        document = replace(loaded.document, lost=self._lost(loaded))
        if not (document.elements or document.lost):
            raise EmptyFile("All its pages are blank.", remedy="Leave it out.")
        self._warned[document.id] = loaded.warnings
        self._taken_out[document.id] = [
            line
            for line in self._stored(file)
            if (line.source not in self._met or self._is_skipped(line)) and not self._is_within_unread(line)
        ]
        yield Work(document, self._recipe(about, document.lost))

    def _again(self, file: SourceFile, about: Attributes) -> Iterator[Work]:
        """The stored versions of a file that has not changed and of the files in it, as far as anything else has."""
        for line in self._stored(file):
            said = about if line.source == file.source else _inherited(about)
            yield from self._as_stored(line, said, self._recipe(said, line.lost))

    def _restated(self, file: SourceFile, about: Attributes) -> Iterator[Work]:
        """As `_again` of a file that cannot be read now: its rights and dates hold at once."""
        for line in self._stored(file):
            said = about if line.source == file.source else _inherited(about)
            reading, _, _ = line.recipe.partition("/")
            yield from self._as_stored(line, said, f"{reading}/{self._sayings(said)}")

    def _stored(self, file: SourceFile) -> list[LedgerLine]:
        """The ledger's lines of a file and of the files in it."""
        lines = self._inner.get(file.source.partition(BETWEEN_SOURCES)[0], ())
        within = inner_source(file.source)
        return [line for line in lines if line.source == file.source or line.source.startswith(within)]

    def _as_stored(self, line: LedgerLine, about: Attributes, recipe: str) -> Iterator[Work]:
        stored = None
        if line.recipe != recipe:
            stored = self.store.reader().document(line.document_id, OWNER)
        if stored is not None:
            yield Work(described(stored, about, self.settings.security.default_groups), recipe)
        else:
            self._reports.setdefault(line.source, FileReport(line.source, FileState.UNCHANGED, line.lost))

    def _report_removed(self, line: LedgerLine) -> None:
        """With the reason where its file is there, and holds nothing any more."""
        skipped = self._reports.get(line.source)
        self._reports[line.source] = FileReport(line.source, FileState.REMOVED, skipped.reason if skipped else "")

    def _is_skipped(self, line: LedgerLine) -> bool:
        report = self._reports.get(line.source)
        return report is not None and report.state is FileState.SKIPPED

    def _is_within_unread(self, line: LedgerLine) -> bool:
        """Whether it lies in a file inside another that could not be read this time."""
        outer = accumulate(line.source.split(BETWEEN_SOURCES), lambda one, other: f"{one}{BETWEEN_SOURCES}{other}")
        reports = (self._reports.get(source) for source in outer)
        return any(report is not None and report.state is FileState.FAILED for report in reports)

    def _lost(self, loaded: Loaded) -> str:
        """What of the document could not be read, the files in it included."""
        reports = [(inner.name, self._reports.get(inner.source)) for inner in loaded.inside]
        failed = [f"{name}: {report.reason}" for name, report in reports if report and report.state in LOST]
        return "; ".join(filter(None, (loaded.document.lost, *failed)))

    def _recipe(self, about: Attributes, lost: str) -> str:
        """What a document's text, chunks and entries depend on beside its content."""
        return f"{self._reading(lost)}/{self._sayings(about)}"

    def _reading(self, lost: str) -> str:
        """What its text depends on. What was lost may be found with another engine, password or limit."""
        loading = self.settings.loading
        means = (ocr_engine(), self.credentials.edition, loading) if lost else ()
        return _sha256(repr((LOADER_VERSION, loading.plugins, *means)))[:16]

    def _sayings(self, about: Attributes) -> str:
        """What is said about it, how it is cut, and how it is analysed."""
        groups = sorted(about.groups if about.groups is not None else self.settings.security.default_groups)
        made_by = (CHUNKER_VERSION, ANALYSER_VERSION, self.settings.chunking)
        return _sha256(repr((made_by, groups, replace(about, groups=None))))

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
        report = self._report(prepared)
        failed = self._reports.get(document.source)
        # A file that failed stays reported as failed when its stored version gets new rights.
        self._reports[document.source] = replace(failed, warnings=report.warnings) if failed else report
        width = self.embedder.identity.dimensions
        rows = [vectors[item.text_hash] for item in prepared.entries]
        matrix: Vectors = np.stack(rows) if rows else np.empty((0, width), dtype=np.float32)
        return IndexedDocument(document, prepared.work.recipe, prepared.chunked.chunks, prepared.entries, matrix)

    def _report(self, prepared: Prepared) -> FileReport:
        document = prepared.work.document
        stored = FileState.UPDATED if document.id in self._ledger else FileState.ADDED
        state = FileState.PARTLY if document.lost else stored
        pages = Counter(page.state for page in document.pages)
        chunks = sum(item.entry.kind is EntryKind.CHUNK for item in prepared.entries)
        warnings = (*self._changed_rights(document), *self._warned.get(document.id, ()), *prepared.chunked.warnings)
        return FileReport(document.source, state, document.lost, chunks, dict(pages), warnings)

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


def _inherited(about: Attributes) -> Attributes:
    """What is said about a file, for the files inside it: who may read, how long, how far trusted."""
    return replace(about, title=None, version=None, author=None)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
