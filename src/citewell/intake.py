"""What there is to index: of files and documents, those that are new or changed, or of which more is said now."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path

from citewell.chunking import CHUNKER_VERSION
from citewell.credentials import NO_CREDENTIALS, Credentials
from citewell.errors import EmptyFile, LoadError, NotAFile, UnsupportedFormat
from citewell.journal import Journal
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
from citewell.retrieval.analyser import ANALYSER_VERSION
from citewell.settings import Settings
from citewell.stores.store import OWNER, LedgerLine, Store
from citewell.types import BETWEEN_SOURCES, Attributes, Document, FileReport, FileState

NOTHING_TO_INDEX = (UnsupportedFormat, EmptyFile, NotAFile)
UNFINISHED = "!"
"""Before the recipe of a file inside which another failed: it is read again in each run, and that one reported."""
NAMED = 5


@dataclass(frozen=True, slots=True)
class Work:
    """A document to index. `recipe` stands for all that its chunks and entries depend on beside its content.

    `before` is what is stored of it, `taken_out` what is stored of files that are no longer inside it.
    """

    document: Document
    recipe: str
    before: LedgerLine | None = None
    warnings: tuple[str, ...] = ()
    taken_out: tuple[LedgerLine, ...] = ()


@dataclass(slots=True)
class Intake:
    """The first step of a run. What it does not hand on, it reports."""

    store: Store
    settings: Settings
    journal: Journal
    credentials: Credentials = NO_CREDENTIALS
    _ledger: dict[str, LedgerLine] = field(default_factory=dict)
    _inner: dict[str, list[LedgerLine]] = field(default_factory=dict)
    _met: set[str] = field(default_factory=set)
    _within: int = 0

    def load(self, found: Discovered, paths: Iterable[Path]) -> Iterator[Work]:
        """The documents that are new or changed. The other files are reported and left out.

        `paths` are those that the caller named; their access rules should match something.
        """
        self.journal.total = len(found.files)
        self._ledger = self.store.ledger()
        for line in self._ledger.values():
            self._inner.setdefault(line.source.partition(BETWEEN_SOURCES)[0], []).append(line)
        rules = AccessRules()
        # All of them before the first file: a wrong access file must stop the run while nothing is indexed yet.
        attributes = [rules.rules_for(file.path) for file in found.files]
        self.journal.warnings = [
            f'{place}: the rule for "{match}" matches no file; what it was meant for has the default rights.'
            for place, match in rules.unmatched([path.resolve() for path in paths])
        ]
        self.journal.warnings += [
            f"{side}: there is no such file beside it; what it was meant for has the default rights."
            for side in found.strays
        ]
        for file, about in zip(found.files, attributes, strict=True):
            yield from self._file(file, about)

    def take(self, documents: Sequence[Document]) -> Iterator[Work]:
        """As `load`, for documents that the caller has made."""
        self.journal.total = len(documents)
        self._ledger = self.store.ledger()
        for document in documents:
            self.journal.tell(document.source)
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
                self.journal.reports[document.source] = FileReport(document.source, FileState.UNCHANGED)
            else:
                yield Work(document, recipe, line)

    def remove_vanished(self, paths: Iterable[Path]) -> None:
        """Remove the documents below the `paths` named whose file is not there any more, or holds nothing any more."""
        # Also what a file that is now a folder was, or a folder that is now a file.
        named = [path.resolve().as_uri() for path in paths]
        roots = tuple(uri + end for uri in named for end in ("/", BETWEEN_SOURCES))
        skipped = {source for source, file in self.journal.reports.items() if file.state is FileState.SKIPPED}
        # What lies in a folder or a file that could not be read has not vanished.
        unread = tuple(
            source + end
            for source, file in self.journal.reports.items()
            if file.state is FileState.FAILED
            for end in ("/", BETWEEN_SOURCES)
        )
        present = self.journal.reports.keys() - skipped
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
            self.journal.removed(line.source)

    def _file(self, file: SourceFile, about: Attributes) -> Iterator[Work]:
        """A file, after the files inside it."""
        self.journal.tell(file.source)
        self._met.add(file.source)
        if file.depth == 0:
            self._within = 0
        try:
            yield from self._load_one(file, about)
        except LoadError as error:
            state = FileState.SKIPPED if isinstance(error, NOTHING_TO_INDEX) else FileState.FAILED
            if isinstance(error, UnsupportedFormat) and self._stored(file):
                state = FileState.FAILED  # it was a document, and has broken
            self.journal.reports[file.source] = FileReport(file.source, state, str(error))
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
            on_wait=lambda: self.journal.tell(file.source),
        )
        self.journal.total += len(loaded.inside)
        self._within += len(loaded.inside)
        check_inside(self._within, self.settings.loading)
        for inner in loaded.inside:
            yield from self._file(inner, _inherited(about))
        document = replace(loaded.document, lost=self._lost(loaded))
        if not (document.elements or document.lost):
            raise EmptyFile("All its pages are blank.", remedy="Leave it out.")
        taken_out = tuple(one for one in self._stored(file) if self._is_taken_out(one))
        recipe = self._recipe(about, document.lost)
        if any(self.journal.state(inner.source) is FileState.FAILED for inner in loaded.inside):
            recipe = UNFINISHED + recipe
        if read_before and line is not None and line.recipe == recipe and not taken_out:
            self.journal.reports[file.source] = FileReport(file.source, FileState.PARTLY, document.lost)
        else:
            yield Work(document, recipe, line, loaded.warnings, taken_out)

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
            yield Work(described(stored, about, self.settings.security.default_groups), recipe, line)
        else:
            self.journal.reports.setdefault(line.source, FileReport(line.source, FileState.UNCHANGED, line.lost))

    def _is_taken_out(self, line: LedgerLine) -> bool:
        """Whether it is in its file no more, and did not lie in a part of it that could not be read this time."""
        if line.source in self._met and self.journal.state(line.source) is not FileState.SKIPPED:
            return False
        outer = accumulate(line.source.split(BETWEEN_SOURCES), lambda one, other: f"{one}{BETWEEN_SOURCES}{other}")
        return all(self.journal.state(source) is not FileState.FAILED for source in outer)

    def _lost(self, loaded: Loaded) -> str:
        """What of the document could not be read, the files in it included."""
        reports = [(inner.name, self.journal.reports.get(inner.source)) for inner in loaded.inside]
        failed = [f"{name}: {report.reason}" for name, report in reports if report and report.state is FileState.FAILED]
        more = [f"and {len(failed) - NAMED} more files in it"] if len(failed) > NAMED else []
        return "; ".join(filter(None, (loaded.document.lost, *failed[:NAMED], *more)))

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


def _inherited(about: Attributes) -> Attributes:
    """What is said about a file, for the files inside it: who may read, how long, how far trusted."""
    return replace(about, title=None, version=None, author=None)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
