"""Where evidence is in what is stored, before any search: loaded, allowed, in force, in one chunk."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from citewell.evaluation.placing import holds, in_section, is_of, plain
from citewell.evaluation.stages import Kind, Lost
from citewell.evaluation.testset import Evidence
from citewell.index import Index
from citewell.types import Chunk, Document, Principal, Version


def lost_before_search(
    index: Index, stored: Sequence[Document], evidence: Evidence, reader: Principal, day: date
) -> Lost | None:
    """The stage before the search that keeps the evidence from this reader on this day; None where it can be found.

    `stored` is what `Index.stored` lists. Where several documents have the name, the one that comes furthest counts.
    """
    named = [document for document in stored if is_of(document.source, evidence.document)]
    if not named:
        return Lost(Kind.NOT_LOADED, _missing(index, evidence))
    versions = [version for each in named for version in index.history(each.id) if version.searchable]
    having = [version for version in versions if _has(index, version, evidence, day)]
    if not having:
        return Lost(Kind.NOT_LOADED, _not_in_text(named, evidence))
    allowed = [version for version in having if version.rights.allows(reader)]
    if not allowed:
        groups = frozenset().union(*(version.rights.groups for version in having))
        readers = f"is for {_names(groups) or 'nobody'}; asked as {_names(reader.readable)}"
        return Lost(Kind.NOT_ALLOWED, f"{evidence.document} {readers}")
    in_force = [version for version in allowed if _is_in_force(version, day)]
    if not in_force:
        return Lost(Kind.NOT_IN_FORCE, f"{evidence.document} is in force {_period(allowed[-1])}; asked about {day}")
    chunks = [
        chunk for each in in_force for chunk in index.chunks(each.document_id, principal=_owner_of(each), as_of=day)
    ]
    if not any(holds(chunk, evidence) for chunk in chunks):
        return Lost(Kind.CUT, _cut(chunks, evidence))
    return None


def _has(index: Index, version: Version, evidence: Evidence, day: date) -> bool:
    """Whether the version's text has the quote, or the section where only that is given."""
    if not version.rights.groups:
        return True  # nobody may read it, and so its rights are what keeps it
    on = day if _is_in_force(version, day) else version.in_force_from or version.in_force_to
    document = index.show(version.document_id, principal=_owner_of(version), as_of=on)
    if not isinstance(document, Document):
        return False
    if evidence.quote.strip():
        return plain(evidence.quote) in plain(document.text)
    return any(in_section(element.heading_path, evidence.section) for element in document.elements)


def _owner_of(version: Version) -> Principal:
    return Principal(groups=version.rights.groups)


def _is_in_force(version: Version, day: date) -> bool:
    return (version.in_force_from or day) <= day <= (version.in_force_to or day)


def _missing(index: Index, evidence: Evidence) -> str:
    gone = next((version for version in index.deleted() if is_of(version.source, evidence.document)), None)
    if gone is not None and gone.ended_at is not None:
        return f"{evidence.document} was removed from the index on {gone.ended_at.date()}"
    return f"no document of the index is named {evidence.document}"


def _not_in_text(named: Sequence[Document], evidence: Evidence) -> str:
    what = "the quote" if evidence.quote.strip() else f"the section {evidence.section}"
    lost = next((document.lost for document in named if document.lost), "")
    if lost:
        return f"{what} is not in the text of {evidence.document}, of which something could not be read: {lost}"
    return f"{what} is not in the text of {evidence.document}, which was read whole"


def _cut(chunks: Sequence[Chunk], evidence: Evidence) -> str:
    """How much of the quote the chunk that has most of its beginning holds."""
    words = plain(evidence.quote).split()
    texts = [plain(chunk.text) for chunk in chunks]
    whole = next((n for n in range(len(words), 0, -1) if any(" ".join(words[:n]) in text for text in texts)), 0)
    return (
        f"the longest beginning of the quote that a chunk of {evidence.document} holds is {whole} of {len(words)} words"
    )


def _names(groups: frozenset[str]) -> str:
    return ", ".join(sorted(groups))


def _period(version: Version) -> str:
    start = f"from {version.in_force_from}" if version.in_force_from is not None else ""
    end = f"until {version.in_force_to}" if version.in_force_to is not None else ""
    return " ".join(filter(None, (start, end)))
