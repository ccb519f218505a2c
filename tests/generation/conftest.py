"""Passages of a small manual, cut by hand, as hits."""

from collections.abc import Callable, Sequence

import pytest

from citewell.models.minilm import MiniLM
from citewell.types import EVERYONE, Chunk, ElementKind, Hit, Rights, Scale, Trust

MakeHit = Callable[..., Hit]


def hit_of(
    text: str,
    *,
    rank: int = 1,
    document: str = "manual-2026",
    title: str = "Fraud Policy Manual 2026",
    source: str = "file:///docs/manual-2026.pdf",
    headings: tuple[str, ...] = ("4 Disputes", "4.2 Time limits"),
    start: int = 1000,
    kind: ElementKind = ElementKind.PARAGRAPH,
    pages: tuple[tuple[int, str], ...] = ((37, "33"),),
) -> Hit:
    """A hit on a chunk that stands at `start` of its document."""
    chunk = Chunk(
        id=f"{document}:{start}",
        document_id=document,
        title=title,
        source=source,
        version="1",
        text=text,
        start=start,
        end=start + len(text),
        heading_path=headings,
        pages=pages,
        kind=kind,
        rights=Rights(frozenset({EVERYONE})),
        trust=Trust.APPROVED,
    )
    return Hit(chunk, f"{chunk.id}:chunk", 0.03, Scale.RRF, rank, {"dense": rank}, 0.7)


def quoted(hit: Hit, start: int, end: int) -> str:
    """What stands at these offsets of the hit's document."""
    return hit.chunk.text[start - hit.chunk.start : end - hit.chunk.start]


TIME_LIMITS = hit_of(
    "4.2 Time limits\n\n"
    "A customer may dispute a card payment within 120 days\nof the transaction date. The day on which the amount was "
    "booked does not count. Where the last day is a Sunday, the limit ends on the next business day.\n\n"
    "Originals are never kept: they are scanned and sent back by post."
)
CODES = hit_of(
    "Code R-17 means suspected fraud: the card is blocked. Code R-71 means that the card has expired. "
    "Section 17 applies to refunds.",
    rank=2,
    headings=("7 Authorisation", "7.1 Decline codes"),
    start=9000,
    pages=((80, "76"),),
)
FEES = hit_of(
    "Chargeback fees\nStage | Debit | Credit | Business\nFirst chargeback | £12.00 | £18.00 | £25.00\n"
    "Second chargeback | £14.50 | £21.00 | £30.00\nArbitration | £310.00 | £310.00 |",
    rank=3,
    headings=("4 Disputes", "4.5 Chargeback fees"),
    start=5000,
    kind=ElementKind.TABLE,
    pages=((41, "37"),),
)
RULES = hit_of(
    'NIGHT_POINTS = 6\n\n\ndef night_points(hour):\n    """Points for a payment at night."""\n'
    "    return NIGHT_POINTS if 1 <= hour < 5 else 0\n\n\n"
    "def country_points(home, abroad):\n    return 28 if home != abroad else 0",
    rank=4,
    document="scoring",
    title="scoring_rules.py",
    source="file:///docs/scoring_rules.py",
    headings=(),
    start=300,
    kind=ElementKind.CODE,
    pages=(),
)
HITS = (TIME_LIMITS, CODES, FEES, RULES)


@pytest.fixture(scope="session")
def embedder() -> MiniLM:
    return MiniLM(threads=1)


@pytest.fixture
def hits() -> Sequence[Hit]:
    return HITS
