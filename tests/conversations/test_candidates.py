"""Feedback as candidates for a test set, that the bench takes once a person has looked at them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from citewell.conversations import Candidates, ConversationStore, Feedback, Thumb, candidates
from citewell.errors import EmptyFile
from citewell.evaluation import references
from citewell.evaluation.testset import Question, read_testset
from citewell.index import Index
from citewell.loading.testsets import refuse_testset
from citewell.types import Principal
from tests.conversations.conftest import CUSTOMER, DISPUTE, TEAM, VELOCITY, ask, of


def judge(store: ConversationStore, index: Index, question: str, feedback: Feedback, who: Principal = TEAM) -> None:
    mine = of(store, index, who)
    _, turn = ask(mine, index, question)
    mine.judge(turn.id, feedback)


def written(found: Candidates, folder: Path) -> Path:
    path = folder / "candidates.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in found.lines), encoding="utf-8")
    return path


def test_a_thumb_up_is_a_question_with_its_answer_and_evidence(
    store: ConversationStore, index: Index, tmp_path: Path
) -> None:
    judge(store, index, VELOCITY, Feedback(Thumb.UP, comment="exactly"))
    found = candidates(store, index)
    assert (found.to_complete, found.left_out) == (0, 0)
    assert found.lines[0]["comments"] == ["exactly"]
    (question,) = read_testset(written(found, tmp_path))
    assert question.expected_answer == "The velocity rule flags a card after nine payments within one hour."
    assert [(each.document, each.quote) for each in question.evidence] == [("scoring.md", question.expected_answer)]
    assert (question.groups, question.reviewed, question.kind) == (("fraud_team",), False, "feedback")
    assert references.check(index, [question]) == ()


@pytest.mark.parametrize("feedback", [Feedback(Thumb.DOWN), Feedback(wrong=(1,)), Feedback(Thumb.UP, (1,))])
def test_a_complaint_is_a_question_to_be_completed(
    store: ConversationStore, index: Index, tmp_path: Path, feedback: Feedback
) -> None:
    judge(store, index, VELOCITY, feedback)
    found = candidates(store, index)
    (line,) = found.lines
    assert found.to_complete == 1
    assert line["answer_given"].startswith("The velocity rule flags a card")
    assert [each["document"] for each in line.get("wrong_sources", ())] == ["scoring.md"] * len(feedback.wrong)
    (question,) = read_testset(written(found, tmp_path))
    assert question == Question(
        id=question.id,
        question=VELOCITY,
        groups=("fraud_team",),
        kind="feedback",
        tags=("to be completed",),
        reviewed=False,
    )
    with pytest.raises(EmptyFile, match="test set"):
        refuse_testset(written(found, tmp_path).read_bytes())


def test_a_praised_abstention_is_a_question_that_is_not_answerable(store: ConversationStore, index: Index) -> None:
    judge(store, index, "Who composed the symphony of a thousand?", Feedback(Thumb.UP))
    (line,) = candidates(store, index).lines
    assert (line["answerable"], line.get("evidence"), line.get("expected_answer")) == (False, None, None)


def test_a_question_comes_once_and_one_complaint_outweighs_praise(store: ConversationStore, index: Index) -> None:
    judge(store, index, DISPUTE, Feedback(Thumb.UP))
    judge(store, index, f"  {DISPUTE.upper()}", Feedback(Thumb.UP))
    assert candidates(store, index).to_complete == 0
    judge(store, index, DISPUTE, Feedback(Thumb.DOWN, comment="since May it is 90"))
    judge(store, index, DISPUTE, Feedback(Thumb.UP))
    judge(store, index, DISPUTE, Feedback(Thumb.UP), CUSTOMER)
    found = candidates(store, index)
    assert [line.get("groups") for line in found.lines] == [["fraud_team"], None]
    assert found.to_complete == 1
    assert found.lines[0]["comments"] == ["since May it is 90"]
    assert len({line["id"] for line in found.lines}) == 2
    assert candidates(store, index) == found


def test_what_documents_do_not_say_any_more_is_to_be_completed(store: ConversationStore, index: Index) -> None:
    judge(store, index, DISPUTE, Feedback(Thumb.UP), CUSTOMER)
    (manual,) = [document for document in index.stored() if document.source.endswith("/manual.md")]
    text = manual.text.replace("120 days", "090 days")
    index.add_documents([replace(manual, text=text, content_hash="changed")])
    (line,) = candidates(store, index).lines
    assert line["tags"] == ["to be completed"]
    assert "120 days" in line["problems"][0]


def test_a_follow_up_does_not_stand_alone(store: ConversationStore, index: Index) -> None:
    mine = of(store, index)
    held, _ = ask(mine, index, DISPUTE)
    for question in ("And how many for that?", "When does the branch in Porto open?"):
        _, turn = ask(mine, index, question, held)
        mine.judge(turn.id, Feedback(Thumb.UP))
    follow, alone = candidates(store, index).lines
    assert (follow["tags"], follow["asked_before"]) == (["to be completed"], [DISPUTE])
    assert "stands alone" in follow["problems"][0]
    assert "tags" not in alone


def test_feedback_on_documents_that_are_gone_is_left_out(store: ConversationStore, index: Index) -> None:
    judge(store, index, VELOCITY, Feedback(Thumb.UP))
    judge(store, index, DISPUTE, Feedback(Thumb.UP), CUSTOMER)
    (scoring,) = [document.id for document in index.stored(texts=False) if document.source.endswith("/scoring.md")]
    index.delete(scoring)
    found = candidates(store, index)
    assert ([line["question"] for line in found.lines], found.left_out) == ([DISPUTE], 1)


def test_without_feedback_there_is_none(store: ConversationStore, index: Index) -> None:
    ask(of(store, index), index, DISPUTE)
    assert candidates(store, index) == Candidates((), 0)
