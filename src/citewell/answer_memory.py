"""Answers given again to who may read just the same: in memory only, and only of the newest state of the index."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from citewell.models.query_memory import MOST_SETS, Readers
from citewell.retrieval.web import STEP as WEB
from citewell.stores.store import Reader, Scope
from citewell.types import Answer, Floor, Step, Turn, Usage


@dataclass(frozen=True, slots=True)
class Question:
    """All that an answer depends on beside the settings and the state. The scope has the groups of who asks."""

    text: str
    turns: tuple[Turn, ...]
    scope: Scope
    floor: Floor


@dataclass(slots=True)
class AnswerMemory:
    """The last `most` answers to each set of groups over one state of the store; those over another are forgotten when
    it is asked. Safe to share between threads."""

    most: int
    _state: Reader | None = None
    _answers: OrderedDict[Readers, OrderedDict[Question, Answer]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, question: Question, state: Reader, answer: Callable[[], Answer]) -> Answer:
        """What is remembered, with a trace that says so and no usage, or else what `answer` gives."""
        begin = time.perf_counter()
        found = self._find(question, state)
        if found is not None:
            ms = round((time.perf_counter() - begin) * 1000, 3)
            return replace(found, trace=(Step("remembered", ms, 1, 1),), usage=Usage())
        made = answer()
        if all(step.name != WEB for step in made.trace):  # it is of this moment, whatever the index is
            self._keep(question, state, made)
        return made

    def forget(self) -> None:
        """Also what is being answered just now is not kept."""
        with self._lock:
            self._state = None
            self._answers.clear()

    def _find(self, question: Question, state: Reader) -> Answer | None:
        with self._lock:
            if state is not self._state:
                self._state = state
                self._answers.clear()
            own = self._answers.get(question.scope.groups, OrderedDict())
            found = own.get(question)
            if found is not None:
                own.move_to_end(question)
            return found

    def _keep(self, question: Question, state: Reader, made: Answer) -> None:
        with self._lock:
            if state is not self._state or self.most == 0:
                return
            own = self._answers.setdefault(question.scope.groups, OrderedDict())
            own[question] = made
            self._answers.move_to_end(question.scope.groups)
            for memory, most in ((own, self.most), (self._answers, MOST_SETS)):
                while len(memory) > most:
                    memory.popitem(last=False)
