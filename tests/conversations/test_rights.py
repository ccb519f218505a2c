"""What may not be read any more is read in no conversation; what is purged is in no file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from citewell.conversations import Access, ConversationStore, Feedback, StoredTurn, Thumb, turn_shape
from citewell.errors import UsageError
from citewell.index import Index
from citewell.types import Principal, Rights
from tests.conversations.conftest import CUSTOMER, DISPUTE, TEAM, VELOCITY, ask, files_hold, of

TOLD = "after nine payments within one hour"


def scoring(index: Index) -> str:
    (found,) = [document.id for document in index.stored(texts=False) if document.source.endswith("/scoring.md")]
    return found


def scoring_deleted(index: Index) -> str:
    (version,) = index.deleted()
    return version.document_id


def narrow(index: Index, *groups: str) -> None:
    (document,) = [each for each in index.stored() if each.source.endswith("/scoring.md")]
    index.add_documents([replace(document, rights=Rights(frozenset(groups)))])


def delete(index: Index) -> None:
    index.delete(scoring(index))


def purge(index: Index) -> None:
    index.purge(scoring_deleted(index))


def given(turn: StoredTurn) -> dict[str, object]:
    shape = turn_shape(turn)
    return {key: shape[key] for key in shape.keys() - {"turn", "asked_at"}}


def test_narrowed_deleted_and_purged_look_the_same(store: ConversationStore, index: Index) -> None:
    mine = of(store, index)
    held, whole = ask(mine, index, VELOCITY)
    mine.judge(whole.id, Feedback(Thumb.UP, (1,), "nine, good"))
    assert TOLD in whole.answer["answer"]
    looks = []
    actions: tuple[Callable[[Index], None], ...] = (lambda index: narrow(index, "hr"), delete, purge)
    for take_away in actions:
        take_away(index)
        (turn,) = mine.read(held)[1]
        looks.append(given(turn))
        assert mine.history(held).turns == ()
    assert (
        looks
        == [
            {
                "question": VELOCITY,
                "answer": "",
                "abstained": False,
                "reason": "",
                "sentences": [],
                "citations": [],
                "warnings": [],
                "documents": [],
                "groups": ["fraud_team"],
                "as_of": None,
                "withheld": True,
                "feedback": None,
            }
        ]
        * 3
    )


def test_it_is_given_again_when_it_may_be_read_again(store: ConversationStore, index: Index) -> None:
    mine = of(store, index)
    held, turn = ask(mine, index, VELOCITY)
    delete(index)
    assert mine.read(held)[1][0].withheld
    index.rollback(scoring_deleted(index))
    assert mine.read(held)[1] == (turn,)


def test_a_request_that_narrows_its_groups_sees_less(store: ConversationStore, index: Index) -> None:
    held, _ = ask(of(store, index), index, VELOCITY)
    (turn,) = store.of("key:anna", Access.to(index, CUSTOMER)).read(held)[1]
    assert turn.withheld


def test_a_past_version_is_for_who_could_read_it(store: ConversationStore, index: Index) -> None:
    """A document that was opened to everybody, perhaps without its secret: what it said before stays where it was."""
    mine = of(store, index)
    held, turn = ask(mine, index, VELOCITY)
    narrow(index, "everyone")
    assert scoring(index) in {document.id for document in index.documents(principal=CUSTOMER)}
    assert store.of("key:anna", Access.to(index, CUSTOMER)).read(held)[1][0].withheld
    assert mine.read(held)[1] == (turn,)


def test_an_answer_is_as_secret_as_the_turns_it_leans_on(store: ConversationStore, index: Index) -> None:
    mine = of(store, index)
    held, _ = ask(mine, index, VELOCITY)
    history = mine.history(held)
    only_manual = tuple(hit for hit in index.ask(DISPUTE, principal=CUSTOMER).hits)
    follow = replace(index.ask(DISPUTE, principal=CUSTOMER), hits=only_manual)
    mine.add(held, follow, history=history)
    alone = mine.start().id
    mine.add(alone, follow)
    delete(index)
    assert [turn.withheld for turn in mine.read(held)[1]] == [True, True]
    assert [turn.withheld for turn in mine.read(alone)[1]] == [False]


def test_what_may_not_be_read_any_more_is_not_kept(store: ConversationStore, index: Index, folder: Path) -> None:
    """It was purged while the question ran: its turn comes after the purge has erased what there was."""
    mine = of(store, index)
    held = mine.start().id
    answer = index.ask(VELOCITY, principal=TEAM)
    index.purge(gone := scoring(index))
    store.forget([gone])
    assert mine.add(held, answer) is None
    assert mine.read(held)[1] == ()
    store.forget([gone])
    assert not files_hold(folder, TOLD)


def test_a_name_is_withheld_with_what_it_may_tell(store: ConversationStore, index: Index) -> None:
    mine = of(store, index)
    held, _ = ask(mine, index, VELOCITY)
    mine.rename(held, "Nine payments")
    delete(index)
    assert mine.read(held)[0].title == mine.listed()[0].title == VELOCITY


def test_feedback_on_what_is_withheld_tells_nothing_of_it(store: ConversationStore, index: Index) -> None:
    mine = of(store, index)
    _, turn = ask(mine, index, VELOCITY)
    delete(index)
    messages = []
    for number in (1, 99):
        with pytest.raises(UsageError) as caught:
            mine.judge(turn.id, Feedback(wrong=(number,)))
        messages.append(caught.value.message.replace(str(number), "N"))
    assert messages[0] == messages[1]
    assert given(mine.judge(turn.id, Feedback(Thumb.DOWN)))["answer"] == ""


def test_no_byte_stays_of_what_is_forgotten(store: ConversationStore, index: Index, folder: Path) -> None:
    mine = store.of("key:anna", Access(TEAM, lambda documents: documents))
    answer = index.ask(VELOCITY, principal=TEAM)
    other = index.ask("When does the branch in Porto open?", principal=CUSTOMER)
    assert other.citations
    for number in range(20):
        long = replace(answer, text=f"{answer.text} " * (number % 7 + 1) * (1 if number % 3 else 20))
        held = mine.start().id
        mine.add(held, other)
        turn = mine.add(held, long)
        assert turn is not None
        mine.judge(turn.id, Feedback(Thumb.DOWN, comment=f"{TOLD} {number}"))
        mine.rename(held, f"{TOLD} {number}")
        if number % 5 == 0:
            mine.delete(mine.listed()[-1].id)
    assert files_hold(folder, TOLD)
    gone = scoring(index)
    left = len(mine.listed(limit=-1))
    index.purge(gone)
    assert store.forget([gone]) == left
    assert not files_hold(folder, TOLD)
    assert not files_hold(folder, gone)
    assert not files_hold(folder, VELOCITY)
    for each in mine.listed(limit=-1):
        assert [turn.question for turn in mine.read(each.id)[1]] == [other.question]
        assert each.title == other.question
    assert store.forget([gone]) == 0


def test_a_conversation_of_nothing_else_is_forgotten_whole(store: ConversationStore, index: Index) -> None:
    mine = of(store, index)
    ask(mine, index, VELOCITY)
    empty = mine.start().id
    store.forget([scoring(index)])
    assert [each.id for each in mine.listed()] == [empty]


def test_what_is_shown_is_found_by_its_name(store: ConversationStore, index: Index, manuals: Path) -> None:
    ask(of(store, index), index, VELOCITY)
    names = {document.source: document.id for document in index.stored(texts=False)}
    (scoring_uri,) = [source for source in names if source.endswith("/scoring.md")]
    one = {names[scoring_uri]}
    assert store.named(str(manuals / "scoring.md")) == store.named(scoring_uri) == one
    assert store.named(scoring(index)) == one
    assert store.named(str(manuals)) == set(names.values())
    assert store.named(str(manuals / "scor")) == store.named("elsewhere") == set()


def test_the_principal_of_the_settings_reads_where_none_is_given(store: ConversationStore, index: Index) -> None:
    held, _ = ask(of(store, index), index, VELOCITY)
    assert Access.to(index).principal == Principal()
    assert store.of("key:anna", Access.to(index)).read(held)[1][0].withheld
