"""Files that have another name now: one that came is one that went, if it holds the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from citewell.stores.store import LedgerLine


@dataclass(slots=True)
class Renames:
    """The documents whose files went, each to be claimed once by a file that came."""

    _by_content: dict[str, list[LedgerLine]] = field(default_factory=dict)

    @classmethod
    def among(cls, gone: Iterable[LedgerLine]) -> Renames:
        renames = cls()
        for line in sorted(gone, key=lambda line: line.source):
            renames._by_content.setdefault(line.content_hash, []).append(line)
        return renames

    def claim(self, content_hash: str, source: str) -> LedgerLine | None:
        """The document that the file at `source` was, None where it was none.

        Of several with one content it is the one with the same name, or else in the same folder, or else the first.
        """
        candidates = self._by_content.get(content_hash)
        if not candidates:
            return None
        folder, _, name = source.rpartition("/")
        chosen = min(
            candidates,
            key=lambda line: (not line.source.endswith("/" + name), line.source.rpartition("/")[0] != folder),
        )
        candidates.remove(chosen)
        return chosen
