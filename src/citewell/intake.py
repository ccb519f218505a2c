"""What there is to index: of files and documents, those that are new or changed, or of which more is said now."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import accumulate
from pathlib import Path

from citewell.credentials import NO_CREDENTIALS, Credentials
from citewell.drift import of_documents
from citewell.errors import EmptyFile, Expired, LoadError, NotAFile, SettingsError, UnsupportedFormat
from citewell.journal import Journal
from citewell.known import Known
from citewell.loading import (
    AccessRules,
    Discovered,
    Loaded,
    SourceFile,
    described,
    document_id,
    load,
    read,
    renamed,
)
from citewell.loading.bounds import check_inside
from citewell.loading.discovery import in_state_folder, nothing_to_index
from citewell.loading.metadata import field_values, undeclared
from citewell.recipes import Recipes
from citewell.security.admission import judged
from citewell.settings import Settings
from citewell.sources import path_of
from citewell.stores.store import OWNER, LedgerLine, Store, VersionKey
from citewell.types import BETWEEN_SOURCES, Attributes, Document, FileReport, FileState, Rights, Trust

NOTHING_TO_INDEX = (UnsupportedFormat, EmptyFile, NotAFile, Expired)
UNREAD = "Its file could not be read when last looked at, so this is its text of before:"
"""How it is told that a stored text may be old."""
UNFINISHED = "!"
"""Before the recipe of a file inside which another failed: it is read again in each run, and that one reported."""
NO_FILE = "no file"
"""Set aside in a document that was brought back after its file had gone: that it is not there is no news."""
SET_ASIDE = "An earlier version was brought back; the file is taken in when it changes."
NAMED = 5


@dataclass(frozen=True, slots=True)
class Work:
    """A document to index. `recipe` stands for all that its chunks and entries depend on beside its content.

    `before` is what is stored of it, `taken_out` what is stored of files that are no longer inside it. `was` is the
    document that its file was under another name, `reuse` names versions that hold vectors of its texts.
    For `set_aside` see `IndexedDocument`.
    """

    document: Document
    recipe: str
    before: LedgerLine | None = None
    warnings: tuple[str, ...] = ()
    taken_out: tuple[LedgerLine, ...] = ()
    was: LedgerLine | None = None
    reuse: tuple[VersionKey, ...] = ()
    set_aside: str = ""


@dataclass(slots=True)
class Intake:
    """The first step of a run, on the day `today`. What it does not hand on, it reports."""

    store: Store
    settings: Settings
    journal: Journal
    today: date
    credentials: Credentials = NO_CREDENTIALS
    _known: Known = field(default_factory=Known)
    _met: set[str] = field(default_factory=set)
    _expired: set[str] = field(default_factory=set)
    _moved: set[str] = field(default_factory=set)
    _within: int = 0
    _folders: list[Path] = field(default_factory=list)

    def load(self, found: Discovered, paths: Iterable[Path]) -> Iterator[Work]:
        """The documents that are new or changed. The other files are reported and left out.

        `paths` are those that the caller named; their access rules should match something.
        """
        named = list(paths)
        self.journal.total = len(found.files)
        roots = [path.resolve().as_uri() for path in named]
        self._folders = [path.resolve() for path in named if path.is_dir()]
        self._known = Known.below(roots, {file.source for file in found.files}, self.store)
        if not (found.files or self._known.lines):
            raise nothing_to_index(named)
        rules = AccessRules()
        # All of them before the first file: a wrong access file must stop the run while nothing is indexed yet.
        attributes = [self._said(rules, file) for file in found.files]
        self.journal.warnings = [
            f'{place}: the rule for "{match}" matches no file; what it was meant for has the default rights.'
            for place, match in rules.unmatched([path.resolve() for path in named])
        ]
        self.journal.warnings += [
            f"{side}: there is no such file beside it; what it was meant for has the default rights."
            for side in found.strays
        ]
        self.journal.warnings += [
            f"{one}. They are made anew." for one in of_documents(self._known.lines.values(), self.settings)
        ]
        for file, about in zip(found.files, attributes, strict=True):
            yield from self._file(file, about)

    def take(self, documents: Sequence[Document]) -> Iterator[Work]:
        """As `load`, for documents that the caller has made; of several with one id the last."""
        last = {document.id: document for document in documents}
        self.journal.total = len(last)
        self._known = Known.below([document.source for document in last.values()], (), self.store)
        for given in last.values():
            self.journal.tell(given.source)
            document, warnings = self._admitted(given, given.fields, given.trust)
            said = Attributes(
                groups=document.rights.groups,
                title=document.title,
                version=document.version,
                valid_from=document.valid_from,
                valid_to=document.valid_to,
                trust=document.trust,
                language=document.language,
                expires=document.expires,
                fields=document.fields,
            )
            recipe = self._recipes.of(said, document.lost)
            line = self._known.lines.get(document.id)
            if line is not None and (line.content_hash, line.recipe) == (document.content_hash, recipe):
                self.journal.reports[document.source] = FileReport(document.source, FileState.UNCHANGED)
            else:
                yield Work(_numbered(document, line), recipe, line, warnings)

    def vanished(self) -> list[LedgerLine]:
        """The documents below the paths whose file is not there any more, or holds nothing any more."""
        skipped = {source for source, file in self.journal.reports.items() if file.state is FileState.SKIPPED}
        # What lies in a folder or a file that could not be read has not vanished.
        unread = tuple(
            source + end
            for source, file in self.journal.reports.items()
            if file.state is FileState.FAILED
            for end in ("/", BETWEEN_SOURCES)
        )
        present = self.journal.reports.keys() - skipped
        return [
            line
            for line in self._known.lines.values()
            if line.source not in present
            and line.document_id not in self._moved
            and line.set_aside != NO_FILE
            and not line.source.startswith(unread)
            and not _is_kept(line.source, self._folders)
        ]

    def expired(self, lines: Iterable[LedgerLine]) -> list[LedgerLine]:
        """Those of the documents that a rule of this run let expire."""
        return [line for line in lines if line.source in self._expired]

    def _said(self, rules: AccessRules, file: SourceFile) -> Attributes:
        about = rules.rules_for(file.path)
        unknown = undeclared(about.fields, self.settings.metadata.fields)
        if unknown:
            raise SettingsError(
                f"The access rules for {file.path} give it a value of {unknown[0]!r}, which is no declared field.",
                remedy="Declare it under `fields` of [metadata] in the settings, or take it out of the rule.",
            )
        return about

    def _admitted(
        self, document: Document, said: Mapping[str, object] | None, trust: Trust | None
    ) -> tuple[Document, tuple[str, ...]]:
        """With the values of its declared fields, and with less trust where its text speaks to a language model. Who
        says that it is approved has read it: then that is only told."""
        values, warnings = field_values(self.settings.metadata.fields, said, document.metadata)
        planted = judged(document).warnings
        lowered = Trust.UNTRUSTED if planted and trust is not Trust.APPROVED else document.trust
        return replace(document, fields=values, trust=lowered), (*warnings, *planted)

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
            if isinstance(error, UnsupportedFormat) and self._known.at(file.source):
                state = FileState.FAILED  # it was a document, and has broken
            self.journal.reports[file.source] = FileReport(file.source, state, str(error))
            if isinstance(error, Expired):
                self._expired.update(line.source for line in self._known.at(file.source))
            if state is FileState.FAILED:
                yield from self._restated(file, about, error.message)

    def _load_one(self, file: SourceFile, about: Attributes) -> Iterator[Work]:
        if about.expires is not None and about.expires <= self.today:
            raise Expired(f"By its rules it expired on {about.expires}.", remedy="Take the file out of the folder.")
        data = read(file, self.settings.loading)
        content_hash = hashlib.sha256(data).hexdigest()
        line = self._known.line(file.source)
        if line is not None and line.set_aside == content_hash:
            yield from self._again(file, about, content_hash)
            if self.journal.state(file.source) is FileState.UNCHANGED:
                self.journal.reports[file.source] = FileReport(file.source, FileState.UNCHANGED, SET_ASIDE)
            return
        was = self._known.renames.claim(content_hash, file.source) if line is None else None
        if was is not None and self._recipes.still_reads(was):
            yield from self._moved_here(file, about, was)
            return
        read_before = line is not None and line.content_hash == content_hash
        if read_before and all(map(self._recipes.still_reads, self._known.at(file.source))):
            yield from self._again(file, about, content_hash)
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
        whole = replace(loaded.document, lost=self._lost(loaded))
        document, told = self._admitted(whole, about.fields, about.trust)
        if not (document.elements or document.lost):
            raise EmptyFile("All its pages are blank.", remedy="Leave it out.")
        taken_out = tuple(one for one in self._known.at(file.source) if self._is_taken_out(one))
        recipe = self._recipes.of(about, document.lost)
        if any(self.journal.state(inner.source) is FileState.FAILED for inner in loaded.inside):
            recipe = UNFINISHED + recipe
        same = read_before and line is not None and (line.recipe, line.lost) == (recipe, document.lost)
        if same and not taken_out:
            self.journal.reports[file.source] = FileReport(file.source, FileState.PARTLY, document.lost)
        else:
            warnings, kept = (*loaded.warnings, *told), self._known.kept(document.id)
            yield Work(_numbered(document, line), recipe, line, warnings, taken_out, reuse=kept)

    def _moved_here(self, file: SourceFile, about: Attributes, was: LedgerLine) -> Iterator[Work]:
        """The stored version of a file that had another name, and of the files in it, under their new names."""
        for line in self._known.at(was.source):
            stored = self.store.reader().document(line.document_id, OWNER)
            if stored is None:
                continue
            self._moved.add(line.document_id)
            said = about if line is was else _inherited(about)
            source = file.source + line.source.removeprefix(was.source)
            moved = renamed(stored, source)
            if line is not was:
                moved = replace(moved, parent_id=document_id(source.rpartition(BETWEEN_SOURCES)[0]))
            set_aside = "" if line is was else line.set_aside
            yield self._described(moved, said, self._recipes.of(said, line.lost), was=line, set_aside=set_aside)

    def _again(self, file: SourceFile, about: Attributes, content_hash: str) -> Iterator[Work]:
        """The stored versions of a file that has not changed and of the files in it, as far as anything else has."""
        for line in self._known.at(file.source):
            said = about if line.source == file.source else _inherited(about)
            held = line.content_hash == content_hash
            yield from self._as_stored(line, said, self._recipes.of(said, line.lost), held=held)

    def _restated(self, file: SourceFile, about: Attributes, problem: str) -> Iterator[Work]:
        """As `_again` of a file that cannot be read now: its rights and dates hold at once, and who asks is told."""
        for line in self._known.at(file.source):
            said = about if line.source == file.source else _inherited(about)
            lost = f"{UNREAD} {problem}" if line.source == file.source else line.lost
            yield from self._as_stored(line, said, self._recipes.read_as(line.recipe, said), lost)

    def _described(
        self,
        stored: Document,
        about: Attributes,
        recipe: str,
        *,
        before: LedgerLine | None = None,
        was: LedgerLine | None = None,
        set_aside: str,
    ) -> Work:
        said = described(stored, about, self.settings.security.default_groups)
        document, warnings = self._admitted(said, about.fields, about.trust)
        if set_aside:
            # It was brought back, and the rules are about another text, which its file holds: they only take away.
            document = replace(document, rights=Rights.intersection([stored.rights, document.rights]))
        return Work(document, recipe, before, warnings, was=was, set_aside=set_aside)

    def _as_stored(
        self, line: LedgerLine, about: Attributes, recipe: str, lost: str | None = None, *, held: bool = False
    ) -> Iterator[Work]:
        """The stored version, as far as more is said of it now. Where the file holds just this text (`held`), nothing
        is set aside any more."""
        stored = None
        if line.recipe != recipe or lost not in (None, line.lost) or (held and line.set_aside):
            stored = self.store.reader().document(line.document_id, OWNER)
        if stored is not None:
            told = stored if lost is None else replace(stored, lost=lost)
            set_aside = "" if held else line.set_aside
            yield self._described(told, about, recipe, before=line, set_aside=set_aside)
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

    @property
    def _recipes(self) -> Recipes:
        return Recipes(self.settings, self.credentials)


def emptied(named: Sequence[Path], found: Discovered, gone: Sequence[LedgerLine], keep_days: int) -> Iterator[str]:
    """What to tell of folders that hold nothing to index any more: one on a disk that is not mounted looks the same."""
    for path in named:
        below = path.resolve().as_uri() + "/"
        lost = sum(line.source.startswith(below) for line in gone)
        if lost and not any(file.source.startswith(below) for file in found.files):
            back = (
                f" For {keep_days} days they can be brought back: `citewell history` lists them." if keep_days else ""
            )
            yield (
                f"{path} holds nothing to index any more; documents of it that were removed from the index: {lost:,}."
                f"{back} When its files are there again, index it again."
            )


def _numbered(document: Document, line: LedgerLine | None) -> Document:
    """With the number of its version: another content is another version."""
    if line is None:
        return document
    return replace(document, number=line.number + (line.content_hash != document.content_hash))


def _inherited(about: Attributes) -> Attributes:
    """What is said about a file, for the files inside it: who may read, how long, how far trusted."""
    return replace(about, title=None, version=None, author=None)


def _is_kept(source: str, folders: Sequence[Path]) -> bool:
    """Whether it lies in a state folder of the service that one of these folders holds: a run does not look there."""
    path = path_of(source.partition(BETWEEN_SOURCES)[0])
    return path is not None and any(path.is_relative_to(each) and in_state_folder(path, each) for each in folders)
