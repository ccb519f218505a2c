"""A small bank's folder, indexed, and a service's state folder beside it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from citewell.conversations import Access, CallersConversations, ConversationStore, StoredTurn
from citewell.index import Index
from citewell.types import Principal

TEAM = Principal("anna", frozenset({"fraud_team"}))
CUSTOMER = Principal("carl")

MANUAL = """\
# Dispute manual

A customer has 120 days from the transaction date to dispute a card payment.

The branch in Porto opens at nine on weekdays.
"""
SCORING = """\
# Scoring thresholds

The velocity rule flags a card after nine payments within one hour.
"""
ACCESS = '[[rule]]\nmatch = "scoring.md"\ngroups = ["fraud_team"]\n'

DISPUTE = "How many days does a customer have to dispute a card payment?"
VELOCITY = "After how many payments does the velocity rule flag a card?"


@pytest.fixture(scope="session")
def manuals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bank") / "manuals"
    folder.mkdir()
    for name, text in {"manual.md": MANUAL, "scoring.md": SCORING, "citewell-access.toml": ACCESS}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def indexed(manuals: Path) -> Path:
    place = manuals.parent / "index"
    with Index.create(place) as index:
        index.add(manuals)
    return place


@pytest.fixture
def index(indexed: Path, tmp_path: Path) -> Iterator[Index]:
    """A copy of its own, so that a test may delete and change rights."""
    shutil.copytree(indexed, tmp_path / "index")
    with Index.open(tmp_path / "index") as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def store(folder: Path) -> ConversationStore:
    return ConversationStore.at(folder)


def of(store: ConversationStore, index: Index, principal: Principal = TEAM) -> CallersConversations:
    return store.of(f"key:{principal.user}", Access.to(index, principal))


def ask(
    conversations: CallersConversations, index: Index, question: str, conversation: str | None = None
) -> tuple[str, StoredTurn]:
    """Ask in a conversation (a new one), as the service does; its id and the turn."""
    held = conversation or conversations.start().id
    principal = conversations.access.principal
    history = conversations.history(held)
    answer = index.ask(question, turns=history.turns, principal=principal)
    turn = conversations.add(held, answer, groups=principal.groups, history=history)
    assert turn is not None
    return held, turn


def files_hold(folder: Path, text: str) -> bool:
    """Whether these bytes lie in any file of a folder."""
    return any(text.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())
