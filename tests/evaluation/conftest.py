"""A small index with rights, for the rooms of evaluation that need a real one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from citewell.index import Index
from citewell.loading.given import from_text

DISPUTES = "https://bank.example/manual/disputes.md"
TEXTS = {
    DISPUTES: (
        "A customer may dispute a card payment within 120 days of the transaction date.\n\n"
        "Cash withdrawals cannot be disputed after 30 days."
    ),
    "https://bank.example/manual/fees.md": "The chargeback fee for a business card is EUR 45 for each case.",
    "https://bank.example/branches.md": "The branch at Harbour Street opens at nine and closes at five.",
}
LIMITS = "https://bank.example/team/limits.md"


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Three documents for everyone and one for the fraud team alone."""
    with Index.create(tmp_path_factory.mktemp("small") / "index") as index:
        documents = [from_text(text, source=source) for source, text in TEXTS.items()]
        limits = "Alerts above a score of 85 are declined with code R-17 at once."
        index.add_documents([*documents, from_text(limits, source=LIMITS, groups=["fraud_team"])])
        yield index
