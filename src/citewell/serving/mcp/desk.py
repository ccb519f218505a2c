"""Where tools are called: who calls, what runs them, what is noted of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from citewell.index import Index
from citewell.serving.asked import AskBody
from citewell.serving.caller import Caller
from citewell.serving.narrowing import condition
from citewell.shapes import Shape
from citewell.types import Answer, Principal, Turn


class Desk(Protocol):
    """One call of a tool."""

    @property
    def index(self) -> Index: ...

    @property
    def caller(self) -> Caller: ...

    async def reading(self, work: Callable[[], Shape]) -> Shape:
        """What `work` returns, in a thread for short reads."""
        ...

    async def asking(self, work: Callable[[], Shape]) -> Shape:
        """What `work` returns, in a thread for answers."""
        ...

    def answer(self, body: AskBody, principal: Principal, turns: Sequence[Turn]) -> Answer:
        """An answer, noted. Called in `asking`."""
        ...

    def note(self, action: str, asked: str, documents: Iterable[str]) -> None:
        """What else was asked, and which documents were shown."""
        ...


@dataclass(frozen=True, slots=True)
class OwnDesk:
    """For one who started the program and could read the index without it: nothing is noted."""

    index: Index
    caller: Caller

    async def reading(self, work: Callable[[], Shape]) -> Shape:
        return await asyncio.to_thread(work)

    async def asking(self, work: Callable[[], Shape]) -> Shape:
        return await asyncio.to_thread(work)

    def answer(self, body: AskBody, principal: Principal, turns: Sequence[Turn]) -> Answer:
        where = condition(body.where, self.index.fields)
        return self.index.ask(body.question, turns=turns, principal=principal, as_of=body.as_of, where=where)

    def note(self, action: str, asked: str, documents: Iterable[str]) -> None:
        pass
