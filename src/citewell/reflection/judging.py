"""What the model decides about passages and drafts, put together with our rules.

A reply that cannot be read, or that the endpoint refuses to give, decides the careful thing: a passage stays (what is
made of it is checked), a sentence is not vouched for, a draft's use is not known, and nothing more is searched for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from pydantic import BaseModel

from citewell.checking.support import Standing, Support, support
from citewell.checking.verified import by_id
from citewell.errors import PromptRefused
from citewell.generation.answer import Draft
from citewell.generation.compression import Shown
from citewell.generation.planted import in_full, without_planted
from citewell.models.embedder import Embedder
from citewell.models.llm import LLM, Prompt
from citewell.models.structured import Unreadable, complete_as
from citewell.reflection.decisions import By, Decision, Kind
from citewell.reflection.prompts import (
    More,
    Relevant,
    Supported,
    Useful,
    more_prompt,
    relevant_prompt,
    supported_prompt,
    useful_prompt,
)
from citewell.settings import Settings
from citewell.types import Hit, Sentence, Trace

ENOUGH = 4
"""Of use, 1 to 5: from here on a draft that is supported goes out, and the loop ends."""

NOT_READ = "what the language model says of it could not be read"
NOT_FOUND = "the language model does not find it in what it cites"
FOUND_IN_PART = "the language model finds only a part of it in what it cites"

Verdict = Literal["fully", "partially", "no"]

M = TypeVar("M", bound=BaseModel)


@dataclass(slots=True)
class Judge:
    """The decisions of one question, in order. `round` is the one under way."""

    question: str
    llm: LLM
    embedder: Embedder
    settings: Settings
    trace: Trace
    round: int = 1
    decisions: list[Decision] = field(default_factory=list)

    @property
    def is_unread(self) -> bool:
        return any(decision.by is By.NOBODY for decision in self.decisions)

    def relevant(self, hits: Sequence[Hit], first: int) -> list[Hit]:
        """Those of `hits` that help to answer, each judged by itself; the first has the number `first`.

        Raises:
            ServiceError: the language model's endpoint failed.
        """
        with self.trace.step("relevant", len(hits)) as step:
            kept = [hit for number, hit in enumerate(hits, start=first) if self._is_relevant(hit, number)]
            step.out = len(kept)
        return kept

    def _is_relevant(self, hit: Hit, number: int) -> bool:
        shown = self._shown(hit)
        if not shown.hits:
            self._decide(Kind.RELEVANT, "no", By.RULE, number)
            return False
        read = self._read(relevant_prompt(self.question, shown.hits[0], self.settings, shown.strips), Relevant)
        if read is None:
            self._decide(Kind.RELEVANT, "yes", By.NOBODY, number)
            return True
        self._decide(Kind.RELEVANT, "yes" if read.relevant else "no", By.MODEL, number)
        return read.relevant

    def supported(self, draft: Draft, hits: Sequence[Hit]) -> dict[Sentence, Support]:
        """How each sentence of a draft from `hits` stands, by the model's word and by the rule's (`together`).

        Raises:
            ServiceError: the language model's endpoint failed.
        """
        with self.trace.step("supported", len(draft.sentences)) as step:
            cited = _Cited.of(draft, hits, self.settings)
            said = self._verdicts(draft, cited)
            found: dict[Sentence, Support] = {}
            for place, (sentence, verdict) in enumerate(zip(draft.sentences, said, strict=True), start=1):
                rule = support(sentence.text, cited.texts(sentence), self.embedder, self.question)
                found[sentence] = together(rule, verdict)
                by = By.BOTH if verdict is not None else By.NOBODY
                self._decide(Kind.SUPPORTED, found[sentence].standing, by, place)
            step.out = sum(each.standing is Standing.SUPPORTED for each in found.values())
        return found

    def _verdicts(self, draft: Draft, cited: _Cited) -> Sequence[Verdict | None]:
        sentences = [(each.text, cited.places(each)) for each in draft.sentences]
        strips = {id_: units for hit in cited.hits for id_, units in self._shown(hit).strips.items()}
        read = self._read(supported_prompt(self.question, sentences, cited.hits, self.settings, strips), Supported)
        if read is None or len(read.verdicts) != len(sentences):
            return [None] * len(sentences)
        return read.verdicts

    def useful(self, draft: Draft) -> int | None:
        """Of what use a draft is, 1 to 5; None where that cannot be read.

        Raises:
            ServiceError: the language model's endpoint failed.
        """
        with self.trace.step("useful", 1) as step:
            read = self._read(useful_prompt(self.question, [each.text for each in draft.sentences]), Useful)
            step.out = int(read is not None and read.useful >= ENOUGH)
        if read is None:
            self._decide(Kind.USEFUL, "unknown", By.NOBODY)
            return None
        self._decide(Kind.USEFUL, str(read.useful), By.MODEL)
        return read.useful

    def more(self, searched: Sequence[str], why: str) -> str | None:
        """What to search for next; None for nothing, or for what was `searched` before.

        Raises:
            ServiceError: the language model's endpoint failed.
        """
        read = self._read(more_prompt(self.question, searched, why), More)
        query = " ".join(read.query.split()) if read is not None and read.search else ""
        if query.casefold() in {each.casefold() for each in searched}:
            query = ""
        self._decide(Kind.RETRIEVE, "yes" if query else "no", By.NOBODY if read is None else By.MODEL)
        return query or None

    def _shown(self, hit: Hit) -> Shown:
        """What the model may read of a passage; no hit where nothing is left of it."""
        shown = Shown((hit,))
        return without_planted(shown, self.settings) if self.settings.security.untrusted == "cut" else shown

    def _decide(self, kind: Kind, verdict: str, by: By, place: int = 0) -> None:
        self.decisions.append(Decision(self.round, kind, verdict, by, place))

    def _read(self, prompt: Prompt, form: type[M]) -> M | None:
        try:
            read = complete_as(self.llm, prompt, form)
        except PromptRefused:
            return None
        return None if isinstance(read, Unreadable) else read


def together(rule: Support, said: Verdict | None) -> Support:
    """A sentence is supported where both say so. The rule's "unsupported" stands; the model's "no" makes what the rule
    is sure of uncertain, and what it is not sure of unsupported."""
    if rule.standing is Standing.UNSUPPORTED or said == "fully":
        return rule
    if rule.standing is Standing.UNSURE:
        return Support(Standing.UNSUPPORTED, reason=NOT_FOUND) if said == "no" else rule
    return Support(Standing.UNSURE, reason={"no": NOT_FOUND, "partially": FOUND_IN_PART}.get(said or "", NOT_READ))


@dataclass(frozen=True, slots=True)
class _Cited:
    """The passages that a draft cites, in the order of their first use, and its quotes."""

    draft: Draft
    passages: Mapping[str, Hit]
    settings: Settings

    @classmethod
    def of(cls, draft: Draft, hits: Sequence[Hit], settings: Settings) -> _Cited:
        known = by_id(hits)
        return cls(draft, {each.chunk_id: known[each.chunk_id] for each in draft.citations}, settings)

    @property
    def hits(self) -> tuple[Hit, ...]:
        return tuple(self.passages.values())

    def places(self, sentence: Sentence) -> tuple[int, ...]:
        """Those in `hits`, from 1, of the passages that it cites."""
        places = {id_: place for place, id_ in enumerate(self.passages, start=1)}
        return tuple(dict.fromkeys(places[self.draft.citations[n - 1].chunk_id] for n in sentence.citations))

    def texts(self, sentence: Sentence) -> tuple[str, ...]:
        """The quotes, then the passages around them with what stands above these."""
        around = (in_full(self.hits[place - 1].passage, self.settings) for place in self.places(sentence))
        return (*(self.draft.citations[n - 1].quote for n in sentence.citations), *around)
