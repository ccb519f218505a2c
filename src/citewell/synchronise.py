"""Make one store hold exactly what another holds, searched by vectors of its own embedder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from citewell.journal import OnProgress
from citewell.models.embedder import SPECIAL_TOKENS, Embedded
from citewell.models.encoding import Encoders
from citewell.stores.store import OWNER, IndexedDocument, LedgerLine, Store, VersionKey
from citewell.types import Document, Progress, Version

COMMIT_ENTRIES = 256
"""As in `citewell.ingest`: what a kill may cost, some ten seconds of embedding."""
EMBED_SLICE = 32
"""Texts between two reports of progress."""
FETCHED = 16
"""Documents read at once; each may be large."""


@dataclass(frozen=True, slots=True)
class Synchronised:
    """How many versions were put and dropped, and how many texts embedded, of which `too_long` are longer than the
    embedder reads."""

    put: int = 0
    dropped: int = 0
    embedded: int = 0
    too_long: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """What a document needs, in one commit: its versions depend on each other, since one of them only is current."""

    source: str
    put: tuple[VersionKey, ...]
    drop: tuple[VersionKey, ...]


def changes(source: Store, target: Store) -> list[Change]:
    """What `target` needs to hold what `source` holds, document by document."""
    wanted, stored = _seen(source), _seen(target)
    # A field that is declared anew has no values in the target until its documents are put again.
    again = source.reader().fields != target.reader().fields
    put = {key for key, one in wanted.items() if again or stored.get(key) != one}
    drop = stored.keys() - wanted.keys()
    found = []
    for _, group in groupby(sorted(put | drop), key=lambda key: key.document_id):
        keys = list(group)
        name = (wanted.get(keys[0]) or stored[keys[0]]).version.source
        found.append(Change(name, tuple(key for key in keys if key in put), tuple(key for key in keys if key in drop)))

    def place(change: Change) -> tuple[bool, bool, str]:
        # What is searched comes first and what goes comes last: a text that moved from here to there is not embedded.
        searched = any(wanted[key].version.searchable for key in change.put)
        return not searched, not change.put, change.source

    return sorted(found, key=place)


def synchronise(
    source: Store, target: Store, encoders: Encoders, on_progress: OnProgress | None = None
) -> Synchronised:
    """Put into `target` the versions of `source` that it lacks or holds otherwise, and drop what `source` lacks.

    `encoders` are the target's. A text whose vector is there already is not embedded; a version that is only kept is
    carried without vectors. Replies of a language model that wait in `source` for their documents wait in `target` too.
    What is committed stays, whatever happens later, and another call goes on from there.

    To be called where nothing is written to `source` meanwhile.

    Raises:
        IndexLocked: another process is writing to `target`.
        ServiceError: the embedder's endpoint failed.
    """
    with target.writing():
        needed = changes(source, target)
        if waiting := source.replies([]):  # first: the documents that have them take them out
            target.stash_replies(waiting)
        target.declare(source.reader().fields)
        run = _Run(target, encoders, len(needed), on_progress)
        for batch in _batches(source, needed):
            run.commit(batch)
    return run.done


_Fetched = tuple[Change, list[IndexedDocument]]


@dataclass(slots=True)
class _Run:
    """The batches of one call, and what became of them."""

    target: Store
    encoders: Encoders
    total: int
    on_progress: OnProgress | None
    done: Synchronised = Synchronised()
    finished: int = 0

    def commit(self, batch: Sequence[_Fetched]) -> None:
        """One batch, in one step."""
        documents = [document for _, fetched in batch for document in fetched]
        gone = [key for change, _ in batch for key in change.drop]
        known = self._embedded(documents, batch[-1][0].source)
        self.target.commit([self._with_vectors(document, known) for document in documents], gone)
        self.finished += len(batch)
        self.done = replace(self.done, put=self.done.put + len(documents), dropped=self.done.dropped + len(gone))
        self._tell(batch[-1][0].source)

    def _embedded(self, documents: Sequence[IndexedDocument], source: str) -> dict[str, Embedded]:
        """What the embedder makes of all that is searched, by text hash."""
        texts = {
            item.text_hash: item.entry.text
            for document in documents
            if document.standing.searchable
            for item in document.entries
        }
        known = self.target.embedded(texts) if texts else {}
        missing = [key for key in texts if key not in known]
        for start in range(0, len(missing), EMBED_SLICE):
            keys = missing[start : start + EMBED_SLICE]
            some = [texts[key] for key in keys]
            made = dict(zip(keys, self.encoders.encode(some, self.target.made_with.token_codec), strict=True))
            if len(missing) > COMMIT_ENTRIES:  # of one long document; the commit of the others is near
                self.target.stash(made)
            known |= made
            self.done = replace(
                self.done,
                embedded=self.done.embedded + len(keys),
                too_long=self.done.too_long + sum(map(self._is_too_long, some)),
            )
            self._tell(source)
        return known

    def _with_vectors(self, document: IndexedDocument, known: Mapping[str, Embedded]) -> IndexedDocument:
        bare = document.without_vectors(self.encoders.embedder.identity.dimensions)
        return bare.with_vectors(known) if document.standing.searchable else bare

    def _is_too_long(self, text: str) -> bool:
        embedder = self.encoders.embedder
        most = embedder.identity.max_tokens - SPECIAL_TOKENS
        return len(text) > most and len(embedder.token_spans(text)) > most  # a token has a character at least

    def _tell(self, source: str) -> None:
        if self.on_progress is not None:
            self.on_progress(Progress(self.finished, self.total, self.done.embedded, source))


@dataclass(frozen=True, slots=True)
class _Seen:
    """What tells one state of a version from another, without its text: the content's hash stands for that.

    Of a past version more is not needed: what it does not show (its recipe, its fields) does not change while its
    rights and its days stay.
    """

    version: Version
    line: LedgerLine | None
    summary: Document | None


def _seen(store: Store) -> dict[VersionKey, _Seen]:
    lines = store.ledger()
    summaries = {document.id: document for document in store.reader().documents(OWNER)}
    return {
        VersionKey(version.document_id, version.number): _Seen(
            version,
            lines[version.document_id] if version.current else None,
            summaries[version.document_id] if version.current else None,
        )
        for version in store.versions()
    }


def _batches(source: Store, needed: Sequence[Change]) -> Iterator[list[_Fetched]]:
    """Documents, read as they are needed, in batches of some `COMMIT_ENTRIES`."""
    batch: list[_Fetched] = []
    weight = 0
    for change, documents in _fetched(source, needed):
        batch.append((change, documents))
        weight += 1 + sum(len(document.entries) for document in documents)
        if weight >= COMMIT_ENTRIES:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch


def _fetched(source: Store, needed: Sequence[Change]) -> Iterator[_Fetched]:
    for start in range(0, len(needed), FETCHED):
        some = needed[start : start + FETCHED]
        found = {one.key: one for one in source.fetch([key for change in some for key in change.put])}
        for change in some:
            yield change, [found[key] for key in change.put]
