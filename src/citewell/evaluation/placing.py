"""Where in a ranking the evidence of a question stands."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from urllib.parse import unquote

from citewell.evaluation.testset import Evidence, Question
from citewell.types import SECTION_SEPARATOR, Chunk, Hit

Held = tuple[frozenset[int], ...]
"""For each hit, best first, the numbers (0-based) of the question's evidence that its passage holds."""


def held(question: Question, hits: Sequence[Hit]) -> Held:
    """What each hit holds of the evidence."""
    return tuple(
        frozenset(at for at, evidence in enumerate(question.evidence) if holds(hit.passage, evidence)) for hit in hits
    )


def holds(chunk: Chunk, evidence: Evidence) -> bool:
    """Whether a chunk has the quote in it; or, where only a section is given, lies in that section."""
    if not is_of(chunk.source, evidence.document):
        return False
    if evidence.quote.strip():
        return plain(evidence.quote) in plain(chunk.text)
    return in_section(chunk.heading_path, evidence.section)


def is_of(source: str, document: str) -> bool:
    """Whether a source URI is that of the document, named by the end of its path."""
    return f"/{unquote(source)}".endswith(f"/{document}")


def in_section(heading_path: Sequence[str], section: str) -> bool:
    """Whether the headings of a section, or its last one alone, are among those that a chunk stands under."""
    stands = [plain(heading) for heading in heading_path]
    parts = [plain(part) for part in section.split(SECTION_SEPARATOR.strip())]
    # Whole first: a heading may hold the sign that stands between headings.
    return plain(section) in stands or any(stands[at : at + len(parts)] == parts for at in range(len(stands)))


def plain(text: str) -> str:
    """Without the bars between cells, white space, capitals and the forms of one sign."""
    return " ".join(unicodedata.normalize("NFKC", text).replace("|", " ").split()).casefold()


def judged(question: Question, found: Held) -> tuple[list[str], dict[str, int]]:
    """A ranking of ids with their grades, as the metrics take them: evidence as it first comes, other hits between.

    Evidence found by one hit together takes places one after the other, the best first, and a hit with nothing new
    none: a passage that repeats the one before it is no mistake of the ranking.
    """
    grades = {f"evidence-{at}": item.grade for at, item in enumerate(question.evidence)}
    ranking: list[str] = []
    for rank, numbers in enumerate(found, start=1):
        best_first = sorted(numbers, key=lambda at: (-question.evidence[at].grade, at))
        new = [name for at in best_first if (name := f"evidence-{at}") not in ranking]
        ranking += new if numbers else [f"other-{rank}"]
    return ranking, grades
