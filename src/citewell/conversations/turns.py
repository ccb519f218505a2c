"""What is stored: conversations, their turns, and what their caller thought of an answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import StrEnum
from textwrap import shorten

from citewell.shapes import Shape, ask_shape
from citewell.types import Answer, Rights, Turn

TITLE_CHARS = 80

_KEPT = ("question", "answer", "abstained", "reason", "sentences", "citations", "warnings")
"""Of what `ask --json` prints. Passages are not kept: their documents have them."""
_OF_THE_WHOLE_INDEX = ("What could not be read of ", " more documents could not be read whole.")


class Thumb(StrEnum):
    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Feedback:
    """What the caller thought of an answer; `wrong` are the numbers of citations that do not say what they should."""

    thumb: Thumb | None = None
    wrong: tuple[int, ...] = ()
    comment: str = ""

    @property
    def says_nothing(self) -> bool:
        return self == Feedback()


@dataclass(frozen=True, slots=True)
class Conversation:
    """One caller's conversation; `name` is what they called it, "" where they did not. Each turn changes it."""

    id: str
    caller: str
    name: str
    first_question: str
    turns: int
    created: datetime
    changed: datetime

    @property
    def title(self) -> str:
        """Its name, else the beginning of its first question."""
        return self.name or shorten(" ".join(self.first_question.split()), TITLE_CHARS, placeholder=" …")


@dataclass(frozen=True, slots=True)
class Shown:
    """A document that a turn has something of, and who might read the version that it had it of."""

    document: str
    source: str
    rights: Rights


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """One question with its answer, `answer` in the keys of docs/json.md.

    `shown` are the documents that it has something of, those of the turns that it was asked with among them; `groups`
    and `as_of` are what it was asked with. One that is `withheld` has something that its reader may not read any more,
    and is given without it.
    """

    id: str
    question: str
    answer: Shape
    shown: frozenset[Shown]
    groups: tuple[str, ...]
    as_of: date | None
    asked_at: datetime
    feedback: Feedback | None = None
    withheld: bool = False

    @property
    def documents(self) -> frozenset[str]:
        return frozenset(shown.document for shown in self.shown)

    @property
    def turn(self) -> Turn:
        return Turn(self.question, str(self.answer["answer"]))

    def without_answer(self) -> StoredTurn:
        """As it is given to who may not read it, whatever the reason is."""
        empty = {"answer": "", "abstained": False, "reason": "", "sentences": [], "citations": [], "warnings": []}
        nothing: Shape = {"question": self.question, **empty}
        return replace(self, answer=nothing, shown=frozenset(), feedback=None, withheld=True)


@dataclass(frozen=True, slots=True)
class Judged:
    """A turn with feedback, whole, and the turns of its conversation before it, oldest first."""

    turn: StoredTurn
    before: tuple[Turn, ...]
    feedback: Feedback


@dataclass(frozen=True, slots=True)
class History:
    """What a follow-up is asked with: turns, oldest first, and the documents that they have something of."""

    turns: tuple[Turn, ...] = ()
    shown: frozenset[Shown] = frozenset()


def kept_of(answer: Answer) -> Shape:
    """What is kept of an answer, in the keys of docs/json.md.

    Warnings about what could not be read name documents that are not among those shown, so they are not kept.
    """
    whole = ask_shape(answer)
    first, last = _OF_THE_WHOLE_INDEX
    warnings = [text for text in answer.warnings if not (text.startswith(first) or text.endswith(last))]
    return {key: whole[key] for key in _KEPT} | {"warnings": warnings}


def shown_in(answer: Answer) -> frozenset[Shown]:
    """The documents that an answer, or its list of passages, has something of. A page of the web is none: everyone may
    read it."""
    chunks = [chunk for hit in answer.hits for chunk in (hit.chunk, hit.passage, *hit.alike) if not chunk.of_web]
    found = {Shown(chunk.document_id, chunk.source, chunk.rights) for chunk in chunks}
    known = {shown.document for shown in found}
    # None is cited that was not found; if one were, nobody would be known to be allowed to read it.
    unknown = {each for each in answer.citations if each.document_id not in known and not each.of_web}
    return frozenset(found | {Shown(each.document_id, each.source, Rights(frozenset())) for each in unknown})
