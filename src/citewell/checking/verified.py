"""An answer that a language model wrote, checked against what it cites before it goes out.

Each sentence - is it supported? - if not, written once more by the model with the cited text, and cited anew - checked
again - and what fails is flagged, or struck.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from citewell.checking.narrowing import narrowed
from citewell.checking.parts import Part, joined, parts_of, without_unsupported
from citewell.checking.repair import Cited, repair_prompt, repaired
from citewell.checking.support import Standing, support
from citewell.generation.answer import ABSTENTION, Draft
from citewell.generation.citations import Citations, PageOf
from citewell.generation.planted import in_full
from citewell.generation.prompt import body
from citewell.generation.reply import supporting_unit
from citewell.generation.units import Unit
from citewell.models.embedder import Embedder
from citewell.models.llm import LLM
from citewell.settings import Settings
from citewell.types import ElementKind, Hit, Trace, Trust

NOTHING_SUPPORTED = "nothing that the language model wrote is supported by what it cites"


def verified(
    question: str,
    draft: Draft,
    hits: Sequence[Hit],
    settings: Settings,
    *,
    llm: LLM,
    embedder: Embedder,
    page_of: PageOf,
    trace: Trace,
) -> Draft:
    """The draft with its unsupported sentences repaired, or else flagged by a warning or struck, as
    `generation.verify` says.

    A sentence of which it is not sure is flagged in any case. `hits` are the passages that it could cite; `page_of` is
    asked for what a repaired sentence cites.

    Raises:
        ServiceError: the language model's endpoint failed.
    """
    if draft.abstained:
        return draft
    with trace.step("verify", len(draft.sentences)) as step:
        cited = _Cited(by_id(hits), Citations(page_of, draft.citations), settings)
        parts = parts_of(
            draft, lambda sentence: support(sentence.text, cited.texts(sentence.citations), embedder, question)
        )
        parts = [cited.in_whole(part) for part in _mended(question, parts, cited, llm, embedder)]
        step.out = sum(part.support.standing is Standing.SUPPORTED for part in parts)
    warnings = draft.warnings
    if settings.generation.verify == "strike":
        warnings += tuple(f"A sentence was struck: {part.why}." for part in parts if part.is_unsupported)
        parts = without_unsupported(parts)
    if not parts:
        return Draft(ABSTENTION, abstained=True, reason=NOTHING_SUPPORTED, warnings=warnings)
    return joined(parts, cited.citations.made, warnings)


def by_id(hits: Sequence[Hit]) -> dict[str, Hit]:
    """By what is read of them: a parent too large for the prompt gave way to the chunk that was found."""
    return {hit.chunk.id: replace(hit, parent=None) for hit in hits} | {hit.passage.id: hit for hit in hits}


@dataclass(frozen=True, slots=True)
class _Cited:
    """The hits by the id of their passage, and the citations of the answer."""

    hits: Mapping[str, Hit]
    citations: Citations
    settings: Settings

    def texts(self, numbers: Sequence[int]) -> tuple[str, ...]:
        """What these citations cite: their quotes, then the passages around them with what stands above these."""
        return tuple(text for text, _ in self.with_trust(numbers))

    def with_trust(self, numbers: Sequence[int]) -> tuple[Cited, ...]:
        """The same texts, each with the trust of its document."""
        made = [self.citations.made[n - 1] for n in numbers]
        quotes = ((each.quote, self._trust_of(each.chunk_id)) for each in made)
        around = ((in_full(hit.passage, self.settings), hit.passage.trust) for hit in self._around(numbers))
        return (*quotes, *around)

    def anew(self, text: str, numbers: Sequence[int]) -> tuple[int, ...]:
        """The numbers under which `text` cites those of the passages that say something of it.

        A title is not enough: that a passage says nothing is supported by any, and answers nothing.
        """
        bearing = [hit for hit in self._around(numbers) if narrowed(text, body(hit.passage))]
        return tuple(self.citations.cite(hit, supporting_unit(text, hit)) for hit in bearing)

    def in_whole(self, part: Part) -> Part:
        """Where what a sentence says stands in two sentences of a passage, it cites both."""
        if part.leads or part.is_unsupported:
            return part
        text, numbers = part.sentence.text, part.sentence.citations
        return part.citing(tuple(dict.fromkeys(self._run_of(text, n) for n in numbers)))

    def _run_of(self, text: str, n: int) -> int:
        """The number of the run of sentences around a citation that `text` rests on; `n` where it is that alone."""
        cited = self.citations.made[n - 1]
        hit = self.hits.get(cited.chunk_id)
        if hit is None or hit.passage.kind is ElementKind.CODE:
            return n
        start, end = (hit.passage.start + at for at in narrowed(text, hit.passage.text) or (0, 0))
        holds = start <= cited.start and cited.end <= end
        return self.citations.cite(hit, Unit(start, end, text, "")) if holds else n

    def _trust_of(self, passage: str) -> Trust:
        """Of one that is not among the hits, the least."""
        hit = self.hits.get(passage)
        return hit.passage.trust if hit is not None else Trust.UNTRUSTED

    def _around(self, numbers: Sequence[int]) -> list[Hit]:
        ids = dict.fromkeys(self.citations.made[n - 1].chunk_id for n in numbers)
        return [self.hits[each] for each in ids if each in self.hits]


def _mended(question: str, parts: Sequence[Part], cited: _Cited, llm: LLM, embedder: Embedder) -> list[Part]:
    """With what the model makes of the unsupported ones, where that is supported; one call for all of them."""
    wrong = [part for part in parts if part.is_unsupported]
    if not wrong:
        return list(parts)
    asked = repair_prompt(
        question,
        [part.sentence.text for part in wrong],
        [cited.with_trust(part.sentence.citations) for part in wrong],
        [part.support.reason for part in wrong],
        cited.settings.security.untrusted,
    )
    reply = asked.meant(llm.complete(asked.prompt).text)
    better: dict[int, Part] = {}
    for part, text in zip(wrong, repaired(reply, len(wrong)), strict=True):
        numbers = cited.anew(text, part.sentence.citations) if text is not None else ()
        if text is None or not numbers:
            continue
        found = support(text, cited.texts(numbers), embedder, question)
        if found.standing is Standing.SUPPORTED:
            better[id(part)] = part.mended(text, numbers, found)
    return [better.get(id(part), part) for part in parts]
