"""What is stored below the paths of a run, as it was when the run began."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from citewell.loading import document_id, inner_source
from citewell.renames import Renames
from citewell.stores.store import LedgerLine, Store, VersionKey
from citewell.types import BETWEEN_SOURCES

FEW = 20
"""Roots that an engine is asked about one by one; with more it is quicker to look through all that is stored."""


@dataclass(frozen=True, slots=True)
class Known:
    """`lines` are the current versions by document id, `renames` those of them whose file is not there any more."""

    lines: dict[str, LedgerLine] = field(default_factory=dict)
    renames: Renames = field(default_factory=Renames)
    _by_file: dict[str, list[LedgerLine]] = field(default_factory=dict)
    _kept: dict[str, list[VersionKey]] = field(default_factory=dict)

    @classmethod
    def below(cls, roots: Sequence[str], files: Collection[str], store: Store) -> Known:
        """What lies below source URIs, where these files are now."""
        lines = _ledger(roots, store)
        gone = (line for line in lines.values() if line.source not in files and outermost(line.source) not in files)
        known = cls(lines, Renames.among(gone))
        for line in lines.values():
            known._by_file.setdefault(outermost(line.source), []).append(line)
        new = {document_id(source) for source in files} - lines.keys()
        for version in store.versions(new) if new else ():
            known._kept.setdefault(version.document_id, []).append(VersionKey(version.document_id, version.number))
        return known

    def line(self, source: str) -> LedgerLine | None:
        return self.lines.get(document_id(source))

    def at(self, source: str) -> list[LedgerLine]:
        """The lines of a file and of the files in it."""
        lines = self._by_file.get(outermost(source), ())
        return [line for line in lines if line.source == source or line.source.startswith(inner_source(source))]

    def kept(self, document: str) -> tuple[VersionKey, ...]:
        """What was kept of a document that was deleted and is there again."""
        return tuple(self._kept.get(document, ()))


def _ledger(roots: Sequence[str], store: Store) -> dict[str, LedgerLine]:
    if len(roots) <= FEW:
        return store.ledger(roots)
    wanted, below = set(roots), tuple(root + end for root in roots for end in ("/", BETWEEN_SOURCES))
    return {
        document: line
        for document, line in store.ledger().items()
        if line.source in wanted or line.source.startswith(below)
    }


def outermost(source: str) -> str:
    """The source of the file in a folder that it is or lies in."""
    return source.partition(BETWEEN_SOURCES)[0]
