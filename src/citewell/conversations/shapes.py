"""Stored conversations as JSON. docs/conversations.md describes every key."""

from __future__ import annotations

from collections.abc import Iterable

from citewell.conversations.turns import Conversation, Feedback, StoredTurn
from citewell.shapes import VERSION, Shape


def conversations_shape(conversations: Iterable[Conversation]) -> Shape:
    return {"version": VERSION, "conversations": [_conversation(each) for each in conversations]}


def conversation_shape(conversation: Conversation, turns: Iterable[StoredTurn]) -> Shape:
    return {"version": VERSION, **_conversation(conversation), "turns": [turn_shape(turn) for turn in turns]}


def turn_shape(turn: StoredTurn) -> Shape:
    return {
        "turn": turn.id,
        **turn.answer,
        "documents": sorted(turn.documents),
        "groups": list(turn.groups),
        "as_of": turn.as_of.isoformat() if turn.as_of is not None else None,
        "asked_at": turn.asked_at.isoformat(),
        "withheld": turn.withheld,
        "feedback": _feedback(turn.feedback) if turn.feedback is not None else None,
    }


def _conversation(conversation: Conversation) -> Shape:
    return {
        "conversation": conversation.id,
        "caller": conversation.caller,
        "title": conversation.title,
        "turn_count": conversation.turns,
        "created": conversation.created.isoformat(),
        "changed": conversation.changed.isoformat(),
    }


def _feedback(feedback: Feedback) -> Shape:
    return {
        "thumb": feedback.thumb.value if feedback.thumb is not None else None,
        "wrong": list(feedback.wrong),
        "comment": feedback.comment,
    }
