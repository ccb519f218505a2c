"""What an index holds, whatever its engine: versions, days, fields, and whether questions can be asked of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

from citewell import clock, drift
from citewell.diagnosis.findings import Finding, Mend, error, warning
from citewell.loading import READ_AS
from citewell.models.embedder import Embedder
from citewell.models.encoding import Encoders
from citewell.models.fingerprint import require_same_space
from citewell.retrieval.analyser import ANALYSER_VERSION
from citewell.settings import Settings
from citewell.stores.beside.beside import VectorsBeside
from citewell.stores.store import OWNER, Store, VersionKey
from citewell.types import Version

NAMED = 3
AGAIN = drift.INDEX_AGAIN


def versions(store: Store) -> Iterator[Finding]:
    """No document has two current versions, and the counts are those of the versions."""
    known = store.versions()
    twice = doubled(known)
    if twice:
        yield error(
            f"{len(twice):,} documents have more than one current version: {some(twice)}",
            "--fix makes the newest the current one; the others can be brought back with `citewell rollback`.",
            Mend.VERSIONS,
        )
    current, counted = sum(version.current for version in known), store.reader().counts(OWNER)
    if counted.documents != current:
        yield error(
            f"{counted.documents:,} documents are found, and {current:,} versions are current",
            "--fix builds the indexes anew.",
            Mend.TABLES,
        )
    elif not twice:
        yield Finding(
            f"{counted.documents:,} documents, {counted.chunks:,} chunks, {counted.entries:,} entries; "
            f"{len(known) - current:,} past versions"
        )


def doubled(known: list[Version]) -> list[str]:
    """The sources of documents with more than one current version."""
    times = Counter(version.document_id for version in known if version.current)
    return sorted({version.source for version in known if times[version.document_id] > 1})


def superfluous(known: list[Version]) -> list[VersionKey]:
    """The current versions that are not the newest current one of their document."""
    keys = [VersionKey(version.document_id, version.number) for version in known if version.current]
    newest = {key.document_id: key for key in sorted(keys)}
    return [key for key in keys if newest[key.document_id] != key]


def days(store: Store, settings: Settings) -> Iterator[Finding]:
    """What has expired, or was kept for long enough, is gone."""
    expired = store.expired(clock.today())
    if expired:
        names = some([line.source for line in expired.values()])
        yield warning(f"{len(expired):,} documents have expired and are withheld, not removed: {names}", AGAIN)
    kept = settings.storage.keep_deleted_days
    overdue = store.ended_before(clock.now() - timedelta(days=kept))
    if overdue:
        yield warning(f"{len(overdue):,} versions are kept for longer than the {kept} days of the settings", AGAIN)
    if not (expired or overdue):
        yield Finding("nothing is kept beyond its day")


def fields(store: Store, settings: Settings) -> Iterator[Finding]:
    """The metadata fields of the index are those that the settings declare."""
    there, declared = dict(store.reader().fields), settings.metadata.fields
    if there != declared:
        differing = sorted(name for name in there.keys() | declared.keys() if there.get(name) != declared.get(name))
        yield warning(f"declared otherwise in the settings than in the index: {', '.join(differing)}", AGAIN)
    else:
        yield Finding(f"declared fields: {', '.join(sorted(declared)) or 'none'}")


def loaded(store: Store) -> Iterator[Finding]:
    """Each document was read as what its name says that it is."""
    documents = store.reader().documents(OWNER)
    odd = [document for document in documents if READ_AS in document.metadata]
    for document in odd[:NAMED]:
        yield warning(
            f"{document.source}: {document.metadata[READ_AS]}", "Mend or rename the file, and index it again."
        )
    if len(odd) > NAMED:
        remedy = "`citewell show` tells it of each, as its metadata."
        yield warning(f"so were {len(odd) - NAMED:,} more documents", remedy)
    if not odd:
        yield Finding(f"{len(documents):,} documents were read as what their names say")


def applied(store: Store, settings: Settings) -> Iterator[Finding]:
    """The documents are as the settings say that documents are to be made. The fields have a check of their own."""
    lines = list(store.ledger().values())
    drifts = [one for one in drift.of_documents(lines, settings) if one.setting != "metadata.fields"]
    for one in drifts:
        yield warning(str(one), one.remedy)
    older = drift.unnoted(lines)
    if older:
        yield warning(f"of {older:,} documents it is not known by which settings they were made", AGAIN)
    if not (drifts or older):
        yield Finding(f"{len(lines):,} documents were made by the settings of now")


def made_with(store: Store, settings: Settings, encoders: Encoders) -> Iterator[Finding]:
    """The same of the index as a whole. The models have a check of their own, which compares what they make."""
    documents = store.reader().counts(OWNER).documents
    for one in drift.of_index(store.made_with, settings, encoders, documents):
        if one.setting.startswith("storage."):
            yield warning(str(one), one.remedy)


def fingerprint(store: Store, embedder: Embedder) -> Iterator[Finding]:
    """The embedder makes the vectors that it made when the index was built."""
    made_with = store.made_with
    require_same_space(embedder, made_with.canaries, made_with.embedder)
    yield Finding(f"made with {made_with.embedder.name}, and its vectors are the same here")


def sparse_fingerprint(store: Store, encoders: Encoders) -> Iterator[Finding]:
    """The sparse encoder is the one that the index was built with. Says nothing where there is none in either place."""
    encoders.require_same_sparse(store.made_with.sparse)
    if encoders.sparse is not None:
        yield Finding(f"its sparse vectors were made with {encoders.sparse_identity}, which the settings name")


def analyser(store: Store) -> Iterator[Finding]:
    """The keyword leg cuts questions as it cut the passages."""
    recorded = store.made_with.analyser
    if recorded != ANALYSER_VERSION:
        yield warning(
            f"passages were cut into words by version {recorded}, questions are by version {ANALYSER_VERSION}",
            "The next run of `citewell index` cuts all passages anew.",
        )
    else:
        yield Finding(f"version {recorded}")


def engine(store: Store) -> Iterator[Finding]:
    """A vector engine beside the store has followed it."""
    if not isinstance(store, VectorsBeside):
        yield Finding("built-in")
    elif store.stale:
        yield warning(
            "the vector engine has not followed the index: searches are right, and slower",
            "--fix builds it anew, and so does the next run of `citewell index`.",
            Mend.VECTORS,
        )
    else:
        yield Finding("it has followed the index")


def some(names: list[str]) -> str:
    shown = ", ".join(names[:NAMED])
    return f"{shown} and {len(names) - NAMED:,} more" if len(names) > NAMED else shown
