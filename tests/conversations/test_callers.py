"""A caller's conversations: kept with their citations, and seen by nobody else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from citewell.conversations import ConversationStore, Feedback, Thumb, callers, conversation_shape
from citewell.errors import UnknownId, UsageError
from citewell.generation.answer import Draft
from citewell.generation.lost import lost_warnings
from citewell.index import Index
from citewell.shapes import ask_shape
from citewell.types import Turn
from tests.conversations.conftest import CUSTOMER, DISPUTE, TEAM, VELOCITY, ask, of


def test_a_turn_is_kept_as_it_was_given(store: ConversationStore, index: Index) -> None:
    mine = of(store, index)
    held = mine.start().id
    answer = index.ask(DISPUTE, principal=TEAM, as_of=date(2026, 5, 1))
    added = mine.add(held, answer, groups=TEAM.groups, as_of=date(2026, 5, 1))
    conversation, (turn,) = mine.read(held)
    assert turn == added
    whole = ask_shape(answer)
    assert turn.answer == {key: whole[key] for key in turn.answer}
    assert turn.answer["answer"] == "A customer has 120 days from the transaction date to dispute a card payment. [1]"
    assert turn.documents == {hit.chunk.document_id for hit in answer.hits}
    assert (turn.groups, turn.as_of, turn.feedback) == (("fraud_team",), date(2026, 5, 1), None)
    assert (conversation.title, conversation.turns, conversation.caller) == (DISPUTE, 1, "key:anna")
    assert conversation.changed == turn.asked_at > conversation.created


def test_an_abstention_is_kept_as_one(store: ConversationStore, index: Index) -> None:
    _, turn = ask(of(store, index), index, "Who composed the symphony of a thousand?")
    assert (turn.answer["abstained"], turn.answer["citations"]) == (True, [])
    assert turn.answer["reason"]


def test_another_callers_looks_like_none(store: ConversationStore, index: Index) -> None:
    held, turn = ask(of(store, index), index, DISPUTE)
    theirs = of(store, index, CUSTOMER)
    assert theirs.listed() == ()
    answer = index.ask(DISPUTE)
    for name in (held, "0" * 32):
        calls = (
            lambda name=name: theirs.read(name),
            lambda name=name: theirs.history(name),
            lambda name=name: theirs.rename(name, "mine"),
            lambda name=name: theirs.delete(name),
            lambda name=name: theirs.add(name, answer),
        )
        for call in calls:
            with pytest.raises(UnknownId, match=f"There is no conversation '{name}'."):
                call()
    for name in (turn.id, "0" * 32):
        with pytest.raises(UnknownId, match=f"There is no turn '{name}'."):
            theirs.judge(name, Feedback(Thumb.UP))
    assert of(store, index).read(held)[1] == (turn,)


def test_the_last_changed_comes_first_page_by_page(store: ConversationStore, index: Index) -> None:
    mine = of(store, index)
    first, second, third = (mine.start().id for _ in range(3))
    ask(mine, index, DISPUTE, first)
    assert [each.id for each in mine.listed()] == [first, third, second]
    assert [each.id for each in mine.listed(limit=1, offset=1)] == [third]


def test_a_name_given_stays_until_it_is_taken_back(store: ConversationStore, index: Index) -> None:
    mine = of(store, index)
    held, _ = ask(mine, index, DISPUTE)
    assert mine.rename(held, "  Disputes,\n2026 ").title == "Disputes, 2026"
    assert mine.listed()[0].title == "Disputes, 2026"
    assert mine.rename(held, "").title == DISPUTE
    with pytest.raises(UsageError, match="too long"):
        mine.rename(held, "x" * 201)


def test_a_long_question_is_a_short_title(store: ConversationStore, index: Index) -> None:
    mine = of(store, index)
    held, _ = ask(mine, index, f"{DISPUTE} " * 5)
    assert len(mine.read(held)[0].title) <= 80


def test_a_deleted_conversation_is_gone_with_all_of_it(store: ConversationStore, index: Index) -> None:
    mine = of(store, index)
    held, turn = ask(mine, index, DISPUTE)
    mine.judge(turn.id, Feedback(Thumb.UP))
    mine.delete(held)
    assert mine.listed() == ()
    with store.state.reading() as database:
        for count in ("FROM conversations", "FROM turns", "FROM shown", "FROM feedback"):
            assert database.execute("SELECT count(*) " + count).fetchone()[0] == 0


def test_a_follow_up_is_asked_with_the_turns_before(store: ConversationStore, index: Index) -> None:
    mine = of(store, index)
    held, first = ask(mine, index, DISPUTE)
    history = mine.history(held)
    assert history.turns == (Turn(DISPUTE, first.answer["answer"]),)
    assert history.shown == first.shown
    assert mine.history(held, tokens=20).turns == (Turn(DISPUTE, ""),)
    assert mine.history(held, tokens=5) == type(history)()


def test_the_time_of_a_conversation_ends(store: ConversationStore, index: Index) -> None:
    folder = store.state.path.parent
    mine = of(store, index)
    old, new = mine.start().id, mine.start().id
    ask(mine, index, DISPUTE, new)
    with store.state.writing() as database:
        long_ago = datetime(2020, 1, 1, tzinfo=UTC).isoformat()
        database.execute("UPDATE conversations SET changed = ? WHERE id = ?", (long_ago, old))
    assert ConversationStore.at(folder, days=0).expire() == 0, "0 keeps them"
    assert {each.id for each in mine.listed()} == {old, new}
    ConversationStore.at(folder, days=90)
    assert {each.id for each in mine.listed()} == {new}


def test_limits(store: ConversationStore, index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callers, "MAX_TURNS", 1)
    monkeypatch.setattr(callers, "MAX_CONVERSATIONS", 1)
    mine = of(store, index)
    held, _ = ask(mine, index, DISPUTE)
    with pytest.raises(UsageError, match="Start a new one"):
        mine.add(held, index.ask(DISPUTE))
    with pytest.raises(UsageError, match="Delete old ones"):
        mine.start()
    with pytest.raises(UsageError, match="name"):
        store.of(" ", mine.access)


def test_feedback_takes_the_place_of_the_one_before(store: ConversationStore, index: Index) -> None:
    mine = of(store, index)
    held, turn = ask(mine, index, DISPUTE)
    for _ in range(2):
        given = mine.judge(turn.id, Feedback(Thumb.UP, comment=" right "))
    assert given.feedback == Feedback(Thumb.UP, comment="right")
    mine.judge(turn.id, Feedback(None, (1, 1), "another page"))
    (read,) = mine.read(held)[1]
    assert read.feedback == Feedback(None, (1,), "another page")
    assert len(store.judged()) == 1
    assert mine.judge(turn.id, Feedback()).feedback is None
    assert store.judged() == ()


def test_feedback_of_what_is_not_there(store: ConversationStore, index: Index) -> None:
    mine = of(store, index)
    _, turn = ask(mine, index, DISPUTE)
    with pytest.raises(UsageError, match="no citation 7"):
        mine.judge(turn.id, Feedback(wrong=(1, 7)))
    with pytest.raises(UsageError, match="too long"):
        mine.judge(turn.id, Feedback(comment="x" * 2_001))
    assert store.judged() == ()


def test_hostile_text_is_only_text(store: ConversationStore, index: Index) -> None:
    mine = of(store, index)
    name = "'); DROP TABLE turns; --"
    held, turn = ask(mine, index, f"{name} \x1b[31m {VELOCITY}")
    mine.rename(held, name)
    mine.judge(turn.id, Feedback(comment=f"{name} \ud800 \x00"))
    conversation, (read,) = mine.read(held)
    assert conversation.title == name
    assert read.feedback == Feedback(comment=f"{name} ?")
    with pytest.raises(UnknownId):
        mine.read("' OR 1=1 --")


def test_warnings_of_documents_that_are_not_shown_are_not_kept(store: ConversationStore, index: Index) -> None:
    lossy = [replace(document, title=f"Secret {n}", lost="page 3") for n in range(9) for document in index.stored()[:1]]
    nothing = Draft("", (), (), abstained=True, reason="nothing")
    warnings = lost_warnings(DISPUTE, nothing, lossy)
    assert len(warnings) > 1
    mine = of(store, index)
    answer = replace(index.ask(DISPUTE, principal=TEAM), warnings=(*warnings, "Two documents differ."))
    turn = mine.add(mine.start().id, answer)
    assert turn is not None
    assert turn.answer["warnings"] == ["Two documents differ."]


def test_its_json(store: ConversationStore, index: Index) -> None:
    mine = of(store, index)
    held, turn = ask(mine, index, DISPUTE)
    mine.judge(turn.id, Feedback(Thumb.DOWN, (1,), "old"))
    shape = conversation_shape(*mine.read(held))
    assert list(shape) == ["version", "conversation", "caller", "title", "turn_count", "created", "changed", "turns"]
    (given,) = shape["turns"]
    assert given["feedback"] == {"thumb": "down", "wrong": [1], "comment": "old"}
    assert (given["turn"], given["withheld"], given["groups"]) == (turn.id, False, ["fraud_team"])
    assert given["citations"][0]["quote"].startswith("A customer has 120 days")
