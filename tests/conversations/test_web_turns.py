"""A stored turn whose answer rests on the web: there is no document of it that could be lost, or be evidence."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from citewell.conversations import CallersConversations, ConversationStore, Feedback, Thumb, candidates
from citewell.conversations.candidates import WEB
from citewell.index import Index
from citewell.settings import Settings
from tests.conversations.conftest import DISPUTE, ask, of
from tests.retrieval.scripted_searxng import ScriptedSearXNG, reply, result, serving

PAGE = "https://www.example.org/disputes"
ON_PAGE = "How many days a customer has to dispute a card payment: a customer has 90 days to dispute a card payment."


@pytest.fixture
def server() -> Iterator[ScriptedSearXNG]:
    with serving() as scripted:
        scripted.answer = reply(result(PAGE, "Disputes", ON_PAGE))
        yield scripted


@pytest.fixture
def asking(index: Index, server: ScriptedSearXNG) -> Iterator[Index]:
    """The same index, by settings that let it ask the web."""
    settings = {
        "generation": {"check": "rules", "check_lower": 0.05, "check_upper": 1.0},
        "security": {"web": "allow", "web_url": server.url},
    }
    with Index.open(index.location, settings=Settings.model_validate(settings)) as opened:
        yield opened


@pytest.fixture
def mine(store: ConversationStore, asking: Index) -> CallersConversations:
    return of(store, asking)


def test_it_is_read_again_and_goes_on(mine: CallersConversations, asking: Index) -> None:
    held, kept = ask(mine, asking, DISPUTE)
    assert kept.answer["citations"][0]["link"] == PAGE
    (read,) = mine.read(held)[1]
    assert not read.withheld
    assert read.answer == kept.answer
    assert read.answer["warnings"][0].startswith("From the web")
    assert {shown.source.rpartition("/")[2] for shown in read.shown} <= {"manual.md", "scoring.md"}
    assert [turn.answer for turn in mine.history(held).turns] == [kept.answer["answer"]]


def test_it_is_lost_with_the_documents_that_it_was_found_beside(mine: CallersConversations, asking: Index) -> None:
    held, kept = ask(mine, asking, DISPUTE)
    for shown in kept.shown:
        asking.delete(shown.document)
    assert all(turn.withheld for turn in mine.read(held)[1])


@pytest.mark.parametrize("feedback", [Feedback(Thumb.UP), Feedback(Thumb.DOWN, (1,))])
def test_feedback_on_it_is_a_question_to_be_completed(
    store: ConversationStore, mine: CallersConversations, asking: Index, feedback: Feedback
) -> None:
    _, turn = ask(mine, asking, DISPUTE)
    mine.judge(turn.id, feedback)
    found = candidates(store, asking)
    (line,) = found.lines
    assert (found.to_complete, found.left_out) == (1, 0)
    if feedback.wrong:
        assert line["wrong_sources"] == [{"document": PAGE, "quote": ON_PAGE}]
    else:
        assert line["problems"] == [WEB]
    assert "evidence" not in line
