"""Stored conversations: turns with their citations, the history of a follow-up, and feedback as test-set candidates."""

from citewell.conversations.budget import HISTORY_TOKENS, within
from citewell.conversations.callers import CallersConversations
from citewell.conversations.candidates import Candidates, candidates
from citewell.conversations.rights import Access
from citewell.conversations.shapes import conversation_shape, conversations_shape, turn_shape
from citewell.conversations.store import ConversationStore
from citewell.conversations.turns import Conversation, Feedback, History, StoredTurn, Thumb

__all__ = [
    "HISTORY_TOKENS",
    "Access",
    "CallersConversations",
    "Candidates",
    "Conversation",
    "ConversationStore",
    "Feedback",
    "History",
    "StoredTurn",
    "Thumb",
    "candidates",
    "conversation_shape",
    "conversations_shape",
    "turn_shape",
    "within",
]
