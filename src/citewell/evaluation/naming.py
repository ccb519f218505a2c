"""How evidence names its document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from urllib.parse import unquote


def short_names(sources: Sequence[str]) -> dict[str, str]:
    """For each source URI the shortest end of its path that no other source ends in."""
    ends = {source: _ends(source) for source in sources}
    counts = Counter(end for each in ends.values() for end in each)
    return {source: next((end for end in each if counts[end] == 1), each[-1]) for source, each in ends.items()}


def _ends(source: str) -> list[str]:
    parts = unquote(source).split("/")
    return ["/".join(parts[at:]) for at in range(len(parts) - 1, -1, -1) if parts[at]]
