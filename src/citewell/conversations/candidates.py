"""Feedback as candidates for a test set (docs/testsets.md), for a person to review.

An answer that was called good gives its question, itself as the right answer and its quotes as evidence. One that was
called bad, or cites a wrong source, gives a question that a person has to answer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from citewell.conversations.store import ConversationStore
from citewell.conversations.turns import Judged, StoredTurn, Thumb
from citewell.evaluation.naming import short_names
from citewell.evaluation.references import References
from citewell.evaluation.testset import Evidence, Question
from citewell.index import Index
from citewell.queries.rewrite import needs_rewriting
from citewell.types import EVERYONE, OF_WEB

Names = Mapping[str, str]
"""How evidence names each document, by its id."""
Line = dict[str, Any]

KIND = "feedback"
TO_COMPLETE = "to be completed"
"""The tag of a candidate of which a person has to say what the right answer is, and where it stands."""

WEB = "Its answer rests on the web: say what the documents answer, or that they do not."
LEANS = "It leans on what was asked before it: write it so that it stands alone."


@dataclass(frozen=True, slots=True)
class Candidates:
    """`lines` are objects of a test set, with keys of their own for the reviewer; each question once, by the groups and
    the day that it was asked with. `left_out` counts the judged turns whose documents are gone."""

    lines: tuple[Line, ...]
    left_out: int

    @property
    def to_complete(self) -> int:
        return sum("tags" in line for line in self.lines)


def candidates(store: ConversationStore, index: Index) -> Candidates:
    """What all feedback gives that is about documents which the index still has. The owner's call: it reads all."""
    sources = {document.id: document.source for document in index.stored(texts=False)}
    named = short_names(list(sources.values()))
    names = {document: named[source] for document, source in sources.items()}
    judged = store.judged()
    same: dict[str, list[Judged]] = {}
    for each in judged:
        if each.turn.documents <= names.keys():
            same.setdefault(_id(each), []).append(each)
    left_out = len(judged) - sum(map(len, same.values()))
    if not same:
        return Candidates((), left_out)
    references = References(index)
    return Candidates(tuple(_line(name, every, names, references) for name, every in same.items()), left_out)


def _line(name: str, judged: Sequence[Judged], names: Names, references: References) -> Line:
    """One question, of all the turns that asked it, oldest first. One complaint outweighs all praise."""
    newest = judged[-1].turn
    complaints = [each for each in judged if each.feedback.thumb is not Thumb.UP or each.feedback.wrong]
    asked = Question(
        id=name, question=newest.question, groups=_groups(newest), as_of=newest.as_of, kind=KIND, reviewed=False
    )
    praised = asked.model_copy(update=_praised(newest, names))
    before, comments = _leaned_on(judged[-1]), [each.feedback.comment for each in judged if each.feedback.comment]
    gone = [] if complaints else [finding.problem for finding in references.findings(praised)]
    gone += [WEB] if not complaints and _of_web(newest) else []
    told: dict[str, list[Any]] = {
        "problems": [LEANS, *gone] if before else gone,
        "asked_before": before,
        "wrong_sources": [_cited(citation, names) for each in complaints for citation in _wrong(each)],
        "comments": comments,
    }
    is_right = not complaints and not gone
    question = praised if is_right else asked
    if before or not is_right:
        question = question.model_copy(update={"tags": (TO_COMPLETE,)})
    given = {} if is_right else {"answer_given": newest.answer["answer"]}
    return _record(question) | given | {name: value for name, value in told.items() if value}


def _leaned_on(judged: Judged) -> list[str]:
    """The questions before one that does not stand alone; [] where it does."""
    return [turn.question for turn in judged.before] if needs_rewriting(judged.turn.question, judged.before) else []


def _praised(turn: StoredTurn, names: Names) -> dict[str, Any]:
    """What a right answer says of its question."""
    answer = turn.answer
    if answer["abstained"]:
        return {"answerable": False}
    evidence = [
        Evidence(**_cited(citation, names), page=citation["page"] or None)
        for citation in answer["citations"]
        if citation["quote"].strip() and citation["document"] in names
    ]
    # Where two sentences quote one place, it is told once.
    return {
        "expected_answer": " ".join(sentence["text"] for sentence in answer["sentences"]),
        "evidence": tuple(dict.fromkeys(evidence)),
    }


def _record(question: Question) -> Line:
    # It is said of each whether it can be answered: by that a test set is told from what is to be indexed.
    return {**question.model_dump(mode="json", exclude_defaults=True), "answerable": question.answerable}


def _of_web(turn: StoredTurn) -> bool:
    return any(citation["document"].startswith(OF_WEB) for citation in turn.answer["citations"])


def _cited(citation: Mapping[str, Any], names: Names) -> dict[str, str]:
    """A page of the web is named by its address."""
    return {"document": names.get(citation["document"], citation["source"]), "quote": citation["quote"]}


def _wrong(judged: Judged) -> list[Mapping[str, Any]]:
    return [citation for citation in judged.turn.answer["citations"] if citation["n"] in judged.feedback.wrong]


def _groups(turn: StoredTurn) -> tuple[str, ...]:
    return tuple(group for group in turn.groups if group != EVERYONE)


def _id(judged: Judged) -> str:
    """The same for one question, whoever asked it, in whatever capitals."""
    turn = judged.turn
    asked = [" ".join(turn.question.casefold().split()), _groups(turn), str(turn.as_of), _leaned_on(judged)]
    return f"{KIND}-{hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:12]}"
