"""A caller's stored conversations: looking at them, and asking the next question in one."""

from __future__ import annotations

from dataclasses import replace

from citewell.conversations import Access, CallersConversations
from citewell.serving import audited
from citewell.serving.answering import Question, Tell
from citewell.serving.caller import Caller
from citewell.serving.service import Service
from citewell.shapes import Shape, ask_shape
from citewell.types import Principal


def conversations_of(service: Service, caller: Caller, principal: Principal) -> CallersConversations:
    """Those of the caller, as `principal` may read them: the caller's, or what a request narrows it to."""
    return service.conversations.of(caller.name, Access.to(service.index, principal))


def answered(service: Service, caller: Caller, request_id: str, question: Question, tell: Tell) -> Shape:
    """The answer in JSON; where the question names a conversation, as its next turn.

    Raises:
        UnknownId: the caller has no such conversation; and as `Index.ask`.
    """
    named = question.body.conversation
    if named is None:
        return ask_shape(audited.ask(service, caller, request_id, question, tell))
    own = conversations_of(service, caller, question.principal)
    history = own.history(named)
    answer = audited.ask(service, caller, request_id, replace(question, turns=history.turns), tell)
    kept = own.add(named, answer, groups=question.principal.groups, as_of=question.body.as_of, history=history)
    # It is not kept where the caller has lost the right to it meanwhile.
    return {**ask_shape(answer), "conversation": named, "turn": kept.id if kept is not None else None}
